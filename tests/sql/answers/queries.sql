-- Each line is a whole query.
select * from t order by id
select id, i32 from t where i32 > 1 order by id
select id from t where ok order by id
select id from t where d10 > 3 and s like 'a%' order by id
select distinct ok from t order by ok
select ok, count(*) as n from t group by ok order by ok
select ok, sum(i32) as n from t group by 1 order by 1
select ok as o, sum(i32) as n from t group by o having n > 1 order by o
select ok, i8, sum(i32) as n from t group by rollup(ok, i8) order by ok, i8, n
select ok, i8, sum(i32) as n from t group by cube(ok, i8) order by ok, i8, n
select ok, i8, sum(i32) as n from t group by grouping sets ((ok), (i8)) order by ok, i8, n
select ok, count(*) as n from t group by all order by ok
select length(s), i32 / 2, d10 / 3 from t order by id
select i32 as a, a + 1 as b from t order by id
select t.id, u.name from t join u on t.id = u.id order by t.id, u.name
select t.id, u.name from t left join u on t.id = u.id order by t.id, u.name
select u.id, t.s from t right join u on t.id = u.id order by u.id, t.s
select t.id as a, u.id as b from t full outer join u on t.id = u.id order by a, b
select id, name from t join u using (id) order by id, name
select id, name, s from t full join u using (id) order by id, name
select * from t join u using (id) order by id, name
select t.id from t left semi join u on t.id = u.id order by t.id
select t.id from t left anti join u on t.id = u.id order by t.id
select count(*) as n from t cross join u
select count(*) as n from t, u where t.id = u.id
select t.id, u.name from t join u on t.i32 = u.weight order by t.id, u.name
select t.id from t natural join u order by t.id
select a.i32, b.d10 from (select id, i32 from t) a join (select id, d10 from t) b on a.id = b.id order by a.id
select i32 from t union all select i64 from t order by 1
select i32 as v from t union all select d10 from t order by v
select i8 as v from t union all select f32 from t order by v
select f32 as v from t union all select d10 from t order by v
select d5 as v from t union all select d18 from t order by v
select day as v from t union all select at from t order by v
select 1 as v union all select 2.5 order by v
select 1 as v union all select null order by v
select i32 as v from t union select i32 from t order by v
select i32 as v from t intersect select i64 from t order by v
select i32 as v from t except select 1 order by v
select i32 as v from t minus select 1 order by v
select i32 as v from t except all select 1 order by v
select i64 as v from t union all select s from t where false
select s as v from t where s = 'abc' union all select 'x' order by v
with a as (select id, d10 / 3 as third from t) select third * 3 as whole from a order by id
with a as (select length(s) as n from t), b as (select n + 1 as m from a) select sum(m) as total, max(m) as top from b
with a as (select ok, avg(d10) as m from t group by ok) select t.id, t.d10 - a.m as delta from t join a on t.ok = a.ok order by t.id
select x, y from (values (1, 'a'), (2, null)) v(x, y) order by x
select x from (values (1), (2.5), (null)) v(x) order by x
values (1, 'a'), (2, 'b')
values (1, 1.5), (2, 22.75)
select * from values (1, 2), (3, 4) as v(a, b) order by a
select id, tag from t lateral view explode(tags) x as tag order by id, tag
select id, tag from t lateral view outer explode(tags) x as tag order by id, tag
select id, n, v from t lateral view posexplode(nums) x as n, v order by id, n
select id, k, v from t lateral view explode(prices) x as k, v order by id, k
select explode(nums) as n from t order by n
select id, explode(tags) as tag from t order by id, tag
select id, explode(nums) + 1 as n from t order by id, n
select explode(sequence(1, 3)) as n
select id from range(3)
select * from range(1, 4)
select id * 2 as twice from range(3) order by id
select id from t order by i32
select id from t order by i32 desc
select id from t order by i32 nulls last, id
select id from t order by d10 desc nulls first, id
select id from t order by s, id
select id from t order by 1 desc limit 2
select id from t order by id limit 2 offset 1
select id, row_number() over (partition by ok order by d10 desc, id) as r from t order by id
select id from (select id, row_number() over (partition by ok order by id) as r from t) where r = 1 order by id
select sum(n) as total from (select count(*) as n from t group by ok)
select id, sum(d10) over w as a, avg(i32) over w as b from t window w as (partition by ok order by id) order by id
select id, i32 from t where i32 = (select max(i32) from t)
select id from t where exists (select 1 from u where u.id = t.id and u.weight > 1) order by id
select id from t where id not in (select id from u) order by id
select place.city, count(*) as n from t group by place.city order by 1
select place.* from t order by t.id
select t.* from t join u on t.id = u.id order by t.id
select u.*, t.i32 from t join u on t.id = u.id order by u.id, u.name
select * except (raw, tags, nums, place, prices) from t order by id
select max(day) as m, min(day) as n, datediff(max(day), min(day)) as span from t
select year(day) as y, count(*) as n from t group by year(day) order by y
select date_trunc('month', day) as m, sum(d10) as total from t group by date_trunc('month', day) order by m
select case when d10 > 5 then 'dear' else 'cheap' end as k, count(*) as n, avg(d10) as a from t group by case when d10 > 5 then 'dear' else 'cheap' end order by k
select * from (select ok, i32 from t) pivot (sum(i32) for ok in (true as yes, false as no))
select * from t tablesample (50 percent) where false
select t.id, x.n from t, lateral (select count(*) as n from u where u.id = t.id) x order by t.id
select id, i32 from t sort by id
select rand() as r from t where false
select current_user() as u
select monotonically_increasing_id() as m from t where false
select input_file_name() as f from t where false
select count(*) from t
select SUM(d10), Max(day) from t
select i32 AS `two words` from t order by id
select T.I32 as x from T order by T.ID
select I32, S from t order by id
select i32 from t group by i32 having count(*) > 0 order by i32
select sum(i32) as a from t having sum(i32) > 0
select id from t where i32 > '1' order by id
select id from t where digits > 10 order by id
select id, coalesce(u.weight, 0) as w from t left join u using (id) order by id, w
select count(distinct ok) as a, count(distinct i32) as b, sum(distinct d10) as c from t
select id, s from t where s is not null and length(s) > 2 order by id
with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select n from r order by n
from t select id order by id
select /*+ broadcast(u) */ t.id from t join u on t.id = u.id order by t.id
select d10 / 3 as d10 from t order by d10
select i32 + 1 as i32 from t where i32 > 1 order by i32
select i32 as s from t order by s
select -i32 x from t order by x
select distinct d10 / 3 as third from t order by third
select id from t order by length(s), id
select length(s) as n, count(*) as c from t group by length(s) order by n
select length(s) + 1 as n, count(*) as c from t group by length(s) order by n
select id from t order by case when ok then 0 else 1 end, id
select i32 / 2 as h from (select i32 from t order by id limit 2) order by h
select count(*) as n from t having count(*) > 100
select ok, sum(d10) as total from t group by ok having sum(d10) / count(*) > 1 order by ok
select x.n from (select length(s) as n from t) as x where x.n > 2 order by n
select n from (select length(s) as n, id from t) where n > 2 order by id
select a from (select i32 as a from t union all select i64 from t) order by a
select v from (select d5 as v from t union all select d10 from t union all select 1) order by v
select i8 as v from t union select i16 from t union select i32 from t order by v
(select i32 as v from t) union all (select d10 from t order by id limit 1) order by v
select x, y from (values (1, 'a'), (2.5, null), (null, 'c')) v(x, y) order by y
select id, (select sum(weight) from u where u.id = t.id) as w from t order by id
select id from t where (select sum(weight) from u where u.id = t.id) > 1 order by id
select id from t where i64 in (select id from u) order by id
select id from t where i64 not in (select weight from u where weight is not null) order by id
select id from t where exists (select 1 from u where u.id = t.id and u.weight * 2 > 4) order by id
select t.id, u.weight / 3 as w from t join u on t.id = u.id and u.weight / 2 > 1 order by t.id, w
select t.id, u.id as other from t join u on t.i8 = u.weight order by t.id, other
select t.place.city from t order by t.id
select place.city as c, count(*) as n from t group by place.city order by c
select id, tag, n from t lateral view explode(tags) a as tag lateral view explode(nums) b as n order by id, tag, n
select tag, count(*) as n from t lateral view explode(tags) x as tag group by tag order by tag
select id, upper(tag) as tag from t lateral view explode(array(s, digits)) x as tag order by id, tag
with a as (select i32 / 2 as h from t), b as (select h * 2 as w from a union all select i32 from t) select w from b order by w
with t as (select 1 as id, 2.5 as d10) select d10 * 2 as x from t
select a.n + b.n as n from (select count(*) as n from t) a cross join (select count(*) as n from u) b
select id, ntile(2) over (order by id) as n, lag(d10) over (order by id) / 2 as half from t order by id
select ok, rank() over (order by sum(d10)) as r from t group by ok order by ok
select ok, sum(sum(i32)) over (order by ok) as running from t group by ok order by ok
select * from (select id, dense_rank() over (partition by ok order by d10) as r from t) where r <= 1 order by id
select T.*, U.NAME from T join U on T.ID = U.ID order by T.ID, U.NAME
select id, case when i32 > 1 then 'big' end as size from t where not (i32 > 5) order by id
select count(*) as n from t where s like '%\_%'
select id from t where s <=> null
select max(id) as m from t where d10 between '1' and '100'
select year(day) as y, month(day) as m, sum(d10) as total from t group by year(day), month(day) order by y, m
select year(day) as y, sum(d10) as total from t group by y order by y
select id % 2 as odd, count(*) as n, avg(f64) as a from t group by id % 2 order by odd
select coalesce(t.id, u.id) as id, weight from t full outer join u on t.id = u.id order by id, weight
select sum(weight) as w from t left join u on t.id = u.id
select * from (select length(s) from t)
select i32, count(*) over (partition by i32 % 2) as n from t order by i32
select distinct ok, i8 > 1 as b from t order by ok, b
select i32 % i8 as m, count(*) as n from t group by i32 % i8 order by m
select d10 / d5 as q, count(*) as n from t group by d10 / d5 order by q
select cast(digits as int) as k, count(*) as n from t group by cast(digits as int) order by k
select cast(digits as int) + 1 as k, count(*) as n from t group by cast(digits as int) having count(*) > 0 order by k
select i32, count(*) over (partition by i32 % i8) as n from t order by i32
select n, count(*) over (partition by m) as c from (select id as n, i32 % i8 as m from t) order by n
select id from t where i64 in (select id from u) or id = 3 order by id
select id from t where not (i64 in (select id from u)) order by id
select id from t where i64 not in (select id from u) and id > 1 order by id
select id from t where coalesce(i64 in (select id from u), true) order by id
select id from t where not (id = 1 or i64 in (select id from u)) order by id
-- zeros with a sign, and NaN, in groups
select f, count(*) as n from odd group by f order by f
select odd.f, count(*) as n from odd group by f order by 1
select f as k, count(*) as n from odd group by k order by k
select f * -1 as k, count(*) as n from odd group by f * -1 order by k
select cast(f as string) as t, count(*) as n from odd group by 1 order by t
select cast(f as string) as t, count(*) as n from odd group by f order by t
select f, sum(id) as n from odd group by f having f = 0
select f, count(*) as n from odd group by rollup(f) order by f, n
select f from odd group by all order by f
select a.f, b.g, count(*) as n from odd as a join odd as b on a.f = b.g group by a.f, b.g order by 1, 2
select distinct f from odd order by f
select distinct f32 from odd order by f32
select distinct * from (select f, g from odd) order by f, g
select distinct st from odd order by st
select distinct li from odd order by li
select f as x from odd union select g from odd order by x
select f from odd intersect select g from odd order by 1
select f from odd except select 7.0D order by 1
select st, count(*) as n from odd group by st order by st
select li, count(*) as n from odd group by li order by n, li
select id, array_distinct(li) as a, array_union(li, li) as b, array_except(li, array(7.0D)) as c from odd order by id
select id, sign(f) as x from odd order by id
select collect_set(f) as x from odd where f = 1.5
-- nulls inside of lists and structs, in order
select id, li from odd order by li, id
select id, li from odd order by li desc, id
select id, st from odd order by st, id
select id, st from odd order by st desc nulls first, id
select id, rank() over (order by st) as a, rank() over (order by li desc) as b from odd order by id
select id, st < named_struct('x', 1L, 'f', 0.5D) as a, li >= array(0.0D) as b, li between array(0.0D) and array(1.0D) as c from odd order by id
select id, sort_array(array(st, named_struct('x', 1L, 'f', 0.5D))) as x from odd order by id
-- regular expressions beside line ends
select id, s rlike 'a.b' as a, s rlike '(?s)a.b' as b, s rlike '[.]' as c, s rlike 'a\\.b' as d, s rlike '^a' as e from odd order by id
select id, regexp_replace(s, '.', '-') as a, regexp_replace(s, '\\s', '_') as b, regexp_replace(s, '[\\s]', '_') as c, regexp_replace(s, '\\S', 'x') as d from odd order by id
select id, s rlike 'b$' as a, regexp_replace(s, 'b$', 'B') as b from odd order by id
select 'a\n' rlike 'a$' as x
select 'É' rlike '(?i)é' as x
select 'b' rlike '[a-c&&[^b]]' as x
select 'a\nb' rlike '(?m)^b$' as x
-- trimming
select rtrim('abc', 'c') as a, ltrim('abc', 'a') as b, ltrim('a', 'abc') as c, rtrim('c', 'abc') as d, trim('x', 'xax') as e, btrim('xax', 'x') as f
select initcap('hELLO wORLD') as a, initcap('straße élan') as b
select initcap('ßa') as x
-- patterns and escapes
select id, s rlike s as x from t order by id
select id, regexp_replace(s, substr(s, 1, 1), '-') as x from t order by id
select id, s like s as a, s like concat(s, '%') as b, 'a%c' like 'a\\%c' as c, 'a/c' like 'a//c' escape '/' as d from t order by id
select 'a\\c' like 'a\\\\c' as a, 'a^b' like 'a^^b' escape '^' as b, 'a\\b' like 'a\\b' escape '/' as c
select 'ac' like 'a\\c' as x
select 'ac' ilike 'A\\c' as x
select 'ac' like any ('a\\c', 'b') as x
select 'a' like 'a\\' as x
select 'a' like 'a' escape 'ab' as x
select id from t where s like concat(s, '\\x') order by id
-- the smallest floating points as text
select cast(4.9e-324 as string) as a, cast(-5e-323 as string) as b, cast(cast(1e-45 as float) as string) as c, cast(cast(4.2e-45 as float) as string) as d, cast(1e-45 as string) as e
-- subqueries that refer to their query
select id, (select max(u.weight) from u where u.id = t.id) as x from t order by id
select ok, sum((select max(u.weight) from u where u.id = t.id)) as x from t group by ok order by ok
select id, (select count(*) from u) as x from t group by id order by id
select id, (select max(u.weight) from u where u.id = t.id) as x from t group by id order by id
select id, 1 + (select max(u.weight) from u where u.id = t.id) as x from t group by id order by id
select id from t order by (select max(u.weight) from u where u.id = t.id)
select id, (select count(*) from u where u.weight > (select min(v.weight) from u as v where v.id = t.id)) as x from t order by id
select t.id from t group by t.id having count(*) < (select max(u.id) from u where u.id = t.id) order by id
select x.id from t
select 0x1F as x
select 'a.b' rlike '\\Qa.b\\E' as a, regexp_replace('a.b', '\\Q.\\E', '-') as b, 'a.b' rlike '\\Q$' as c, 'a$b' rlike '\\Q$' as d
select 'a\nb' rlike '(?is)A.B' as a, 'a\nb' rlike '(?i)A.B' as b
select 'a\nb' rlike '(?s:a.)b' as x
select 'a\nb' rlike '(?s)a(?-s:.)b' as x
select 'A' rlike '\\0101' as x
select 'a\nb' rlike 'a\\vb' as x
select 'a' rlike '[\\S]' as x
-- numbers that stand in the statement, and casts
select 4Y + 1.5 as a, 4S + 1.5 as b, -4S + 1.5 as c, -(4) + 1.5 as d, cast(4 as int) + 1.5 as e, int(4) + 1.5 as f, try_cast(4 as int) + 1.5 as g, 4L * 1.5 as h
select -2147483648 as a, -2147483649 as b, -9223372036854775808 as c, -9223372036854775809 as d, -32768S as e, -128Y as f, -0.0d as g, -(5S) as h
select floor(double('NaN')) as a, ceil(1e300D) as b, floor(-1e300D) as c, ceil(float('Infinity')) as d, floor('2.5') as e
select cast(double('NaN') as decimal(10, 2)) as a, cast(float('-Infinity') as decimal(5, 1)) as b
-- how operators bind, what a name is in its place
select 1 | 4 & 2 as a, 1 ^ 3 & 2 as b, 1 | 2 ^ 3 as c, i32 | 4 & i8 as d from t order by id
select 1 << 2 + 1 as a, 8 >> 1 << 2 as b, 1 | 1 << 2 as c, 6 & 1 << 1 as d
select 1 || 9 + 4 as a, '1' || 2 - 1 as b, 9 - 1 || 2 as c, '4' || '2' || 1 + 1 || 'x' as d
select ok = ok < ok as a, ok < ok = ok as b, ok = ok in (true) as c, id < 3 between false and true as d, id = 1 like 't%' as e from t order by id
select s not like any ('abc', 'b') as a, s not like all ('abc', 'b') as b, s not ilike any ('ABC', 'b') as c from t order by id
select transform(nums, f64 -> -f64) as a, filter(nums, s -> s > 1) as b, transform(nums, day -> day + 1) as c from t order by id
select ok, i8, count(*) as n from t group by ok, i8 grouping sets ((ok), (i8), ()) order by ok, i8, n
select id from t sort by id desc limit 2
with a as (with b as (select 1 as x) select x + 1 as x from b) select x from a
with t as (select 5 as id) select id from t union all select id from (with t as (select 6 as id) select id from t) order by id
with a as (select id from t), t as (select 99 as id) select id from a order by id
select id from t where id in (with z as (select 2 as q) select q from z)
