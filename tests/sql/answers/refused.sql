select id, shiftleft(i32, 2) as x from t order by id
select id, shiftright(i32, 1) as x from t order by id
select id, pmod(d10, d5) as x from t order by id
select id, bround(2.5) as x from t order by id
select id, e() as x from t order by id
select id, factorial(5) as x from t order by id
select id, bin(5) as x from t order by id
select id, conv('ff', 16, 10) as x from t order by id
select id, width_bucket(5, 0, 10, 5) as x from t order by id
select id, decode(i32, 1, 'one', 5, 'five', 'other') as x from t order by id
select id, try_add(i32, 2147483647) as x from t order by id
select id, try_subtract(i32, 1) as x from t order by id
select id, try_multiply(i32, 2) as x from t order by id
select id, cast(tags as string) as x from t order by id
select id, cast(place as string) as x from t order by id
select id, octet_length(s) as x from t order by id
select id, bit_length(s) as x from t order by id
select id, space(3) as x from t order by id
select id, split('a,b,c', ',', 2) as x from t order by id
select id, regexp_instr('a1b22', '[0-9]+') as x from t order by id
select id, crc32(s) as x from t order by id
select id, hash(s) as x from t order by id
select id, xxhash64(s) as x from t order by id
select id, unhex('4A4B') as x from t order by id
select id, encode('abc', 'utf-8') as x from t order by id
select id, decode(X'616263', 'utf-8') as x from t order by id
select id, soundex('Robert') as x from t order by id
select id, format_number(1234567.891, 2) as x from t order by id
select id, format_string('%d-%s', 1, 'a') as x from t order by id
select id, overlay('Spark SQL' placing '_' from 6) as x from t order by id
select id, find_in_set('b', 'a,b,c') as x from t order by id
select id, to_number('12', '99') as x from t order by id
select id, to_char(12, '99') as x from t order by id
select id, uuid() is not null as x from t order by id
select id, months_between(date '2026-03-31', date '2026-02-28') as x from t order by id
select id, next_day(day, 'MON') as x from t order by id
select id, date_format(seen, 'EEEE') as x from t order by id
select id, unix_timestamp('2026-01-01 00:00:00') as x from t order by id
select id, unix_timestamp('2026-01-01', 'yyyy-MM-dd') as x from t order by id
select id, to_unix_timestamp('2026-01-01 00:00:00') as x from t order by id
select id, make_timestamp(2026, 2, 3, 4, 5, 6.5) as x from t order by id
select id, at + interval '1 02:03:04' day to second as x from t order by id
select id, day - date '2026-01-01' as x from t order by id
select id, at - at as x from t order by id
select id, interval 1 day as x from t order by id
select id, timestampadd(hour, 1, at) as x from t order by id
select id, timestampdiff(day, date '2026-01-01', day) as x from t order by id
select id, timestampdiff(month, at, at) as x from t order by id
select id, to_utc_timestamp('2026-01-01 00:00:00', 'Europe/Berlin') as x from t order by id
select id, from_utc_timestamp(seen, 'Europe/Berlin') as x from t order by id
select id, convert_timezone('UTC', 'Europe/Berlin', at) as x from t order by id
select id, sequence(date '2026-01-01', date '2026-01-03') as x from t order by id
select id, exists(nums, x -> x > 1) as x from t order by id
select id, forall(nums, x -> x > 1) as x from t order by id
select id, aggregate(nums, 0, (a, x) -> a + x) as x from t order by id
select id, str_to_map('a:1,b:2') as x from t order by id
select id, to_json(place) as x from t order by id
select id, get_json_object('{"a":1}', '$.a') as x from t order by id
select id, from_json('{"a":1}', 'a int') as x from t order by id
select id, typeof(i32) as x from t order by id
select id, i32 in (select i64 from t) as x from t order by id
select id, i32 in (select d10 from t) as x from t order by id
select id, upper('straße ŉ') as x from t order by id
select id, transform(nums, (x, i) -> x + i) as x from t order by id
select id, upper('ﬁn ǰ') as x from t order by id
select ok, max(place) as x from t group by ok order by ok
select ok, max(tags) as x from t group by ok order by ok
select ok, skewness(i32) as x from t group by ok order by ok
select ok, kurtosis(i32) as x from t group by ok order by ok
select ok, percentile_disc(0.5) within group (order by i32) as x from t group by ok order by ok
select ok, percentile_approx(i32, 0.5) as x from t group by ok order by ok
select ok, approx_percentile(i32, 0.5) as x from t group by ok order by ok
select ok, approx_count_distinct(i32) as x from t group by ok order by ok
select ok, mode(ok) as x from t group by ok order by ok
select ok, regr_count(i32, f64) as x from t group by ok order by ok
select ok, regr_slope(i32, f64) as x from t group by ok order by ok
select ok, try_sum(i32) as x from t group by ok order by ok
select ok, try_avg(i32) as x from t group by ok order by ok
select count(*) as n, max(place) as x from t
select count(*) as n, max(tags) as x from t
select count(*) as n, skewness(i32) as x from t
select count(*) as n, kurtosis(i32) as x from t
select count(*) as n, percentile_disc(0.5) within group (order by i32) as x from t
select count(*) as n, percentile_approx(i32, 0.5) as x from t
select count(*) as n, approx_percentile(i32, 0.5) as x from t
select count(*) as n, approx_count_distinct(i32) as x from t
select count(*) as n, mode(ok) as x from t
select count(*) as n, regr_count(i32, f64) as x from t
select count(*) as n, regr_slope(i32, f64) as x from t
select count(*) as n, try_sum(i32) as x from t
select count(*) as n, try_avg(i32) as x from t
select count(*) as n, max(place) as x from t where id > 100
select count(*) as n, max(tags) as x from t where id > 100
select count(*) as n, skewness(i32) as x from t where id > 100
select count(*) as n, kurtosis(i32) as x from t where id > 100
select count(*) as n, percentile_disc(0.5) within group (order by i32) as x from t where id > 100
select count(*) as n, percentile_approx(i32, 0.5) as x from t where id > 100
select count(*) as n, approx_percentile(i32, 0.5) as x from t where id > 100
select count(*) as n, approx_count_distinct(i32) as x from t where id > 100
select count(*) as n, mode(ok) as x from t where id > 100
select count(*) as n, regr_count(i32, f64) as x from t where id > 100
select count(*) as n, regr_slope(i32, f64) as x from t where id > 100
select count(*) as n, try_sum(i32) as x from t where id > 100
select count(*) as n, try_avg(i32) as x from t where id > 100
select * from (select ok, i32 from t) pivot (sum(i32) for ok in (true as yes, false as no))
select * from t tablesample (50 percent) where false
select rand() as r from t where false
select monotonically_increasing_id() as m from t where false
with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select n from r order by n
select id from t where i64 not in (select weight from u where weight is not null) order by id
select * from (select length(s) from t)
select i32, count(*) over (partition by i32 % i8) as n from t order by i32
select id from t where coalesce(i64 in (select id from u), true) order by id
select collect_set(f) as x from odd where f = 1.5
select id, sort_array(array(st, named_struct('x', 1L, 'f', 0.5D))) as x from odd order by id
select 'a\n' rlike 'a$' as x
select 'É' rlike '(?i)é' as x
select 'b' rlike '[a-c&&[^b]]' as x
select 'a\nb' rlike '(?m)^b$' as x
select initcap('ßa') as x
select id, s rlike s as x from t order by id
select id, regexp_replace(s, substr(s, 1, 1), '-') as x from t order by id
select 'a\nb' rlike '(?s:a.)b' as x
select 'a\nb' rlike '(?s)a(?-s:.)b' as x
select 'A' rlike '\\0101' as x
select 'a\nb' rlike 'a\\vb' as x
select 'a' rlike '[\\S]' as x
select 1 << 2 + 1 as a, 8 >> 1 << 2 as b, 1 | 1 << 2 as c, 6 & 1 << 1 as d
select id from t where id in (with z as (select 2 as q) select q from z)
