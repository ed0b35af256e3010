-- Each line is an expression over one row of the table t; lines are asked together, many in one query.
-- columns
i8
i16
i32
i64
f32
f64
d5
d10
d18
d38
s
digits
day
at
seen
ok
raw
tags
nums
place
prices
-- literals
1
127
2147483647
2147483648
-5
1.5
0.001
123456789012345678901234567890
1e3
1.5e0
1.5d
2L
3S
4Y
4::smallint + 1.5
4S + 1.5
-4::smallint + 1.5
-4S + 1.5
4::bigint + 1.5
-128::tinyint
-128Y
-1::string
-cast(1 as string)
-(1)::string
-9223372036854775808::bigint
- -4::smallint::int + 1.5
1.5 / 2::smallint
1.25BD
'text'
"text"
'it''s'
'a\tb'
true
null
date '2026-02-03'
timestamp '2026-02-03 04:05:06'
timestamp_ntz '2026-02-03 04:05:06.5'
X'00ff'
-- arithmetic of integers
i8 + i8
i8 + i16
i8 + 1
i16 * i32
i16 - i8
i32 + i32
i32 + 1
i32 * 2
i32 + i64
i64 - 1
i64 * i32
-i8
-i32
-i64
+i32
i32 / 2
i32 / i8
i64 / i32
i8 / i8
i32 % 3
i32 % -3
i64 % i8
i8 % i8
-i32 % 3
mod(i32, 4)
pmod(-i32, 3)
pmod(i64, 3)
i32 div 2
-i32 div 2
i64 div i32
i8 div i8
i32 & 3
i32 | 8
i32 ^ 5
~i32
i8 & i16
shiftleft(i32, 2)
shiftright(i32, 1)
-- arithmetic of floating points
f32 + f32
f32 + 1
f32 * i32
f32 + f64
f64 + 1
f64 * 2.5
f64 - d10
f32 * d10
f64 / 2
f32 / 2
f32 / f32
f64 / i32
f64 / d10
f64 % 2
f32 % 2
-f64
f64 div 2
-- arithmetic of decimals
d5 + d5
d5 + d10
d10 + d18
d18 + d38
d38 + d38
d10 - d5
d38 - d10
d5 * d5
d5 * d10
d10 * d10
d10 * d18
d18 * d18
d38 * d5
d38 * d38
d5 / d5
d5 / d10
d10 / d5
d10 / d10
d10 / d18
d18 / d18
d18 / d10
d38 / d5
d38 / d38
d5 % d5
d10 % d5
d18 % d10
d10 + 1
d10 + i8
d10 + i32
d10 + i64
d10 * 2
d10 * i32
d10 * i64
d10 / 2
d10 / 3
2 / d10
d10 / i8
d10 / i32
d10 / i64
i64 / d10
i32 * 1.5
i32 + 0.1
i64 * 1.05
i32 / 2.5
1.5 / 2.5
1 / 3.0
1.0 / 3
10 / 4
1 / 3
d10 * 1.19
d10 * 0.333333
d10 / 1.19
d10 % 3
-d10
-d5
d10 div 2
d10 div d5
i32 div 2.5
(d10 + d5) * 2
(d10 - 1) / (d5 + 1)
d10 * (1 - d5)
d10 + f64
abs(d10)
round(d10)
round(d10, 1)
round(d18, 3)
round(d18)
round(d10, -1)
round(d10, 4)
ceil(d10)
floor(d10)
ceil(d18)
floor(-d18)
sign(d10)
sqrt(d10)
pmod(d10, d5)
-- functions of numbers
abs(i32)
abs(i8)
abs(f64)
abs(-i64)
round(f64)
round(f64, 1)
round(f32, 1)
round(i32)
round(i32, -1)
round(2.5)
round(-2.5)
round(0.125, 2)
round(1.005d, 2)
bround(2.5)
ceil(f64)
ceil(i32)
ceiling(f64)
floor(f64)
floor(i32)
floor(-f64)
ceil(f32)
sqrt(i32 + 10)
sqrt(f64 * f64)
cbrt(27)
exp(1)
exp(i8)
ln(i32 + 20)
log(10)
log(2, 8)
log10(100)
log2(8)
power(2, 3)
pow(f64, 2)
sign(f64)
sign(i32)
signum(i32)
sin(1)
cos(i8)
tan(1)
atan2(1, 2)
degrees(1)
radians(180)
pi()
e()
greatest(i32, 3)
greatest(i32, i64, 2)
least(i8, i16)
least(i32, f64)
greatest(d5, d10)
least(s, 'm')
greatest(day, date '2026-01-02')
factorial(5)
hex(i32)
bin(5)
conv('ff', 16, 10)
width_bucket(5, 0, 10, 5)
-- comparisons
i32 = 1
i32 <> 1
i32 != i8
i32 < i64
i32 <= d10
d10 > 3
d5 >= d10
f64 > d10
f32 = 0.5
f32 = 0.1
f64 = 0.1
s = 'abc'
s > 'B'
s = 1
digits = 12
digits > 5
digits = i32
digits = 12.0
digits < d10
day = '2026-01-01'
day > '2025-06-01'
day < at
day = at
at > seen
at = '2026-01-01 10:20:30.25'
seen > '2026-01-01'
seen = timestamp '2026-01-01 09:20:30'
ok = true
ok
not ok
ok and i32 > 0
ok or null
i32 is null
i32 is not null
ok is true
ok is not false
i32 <=> null
i32 <=> 1
i32 between 1 and 5
i32 not between 1 and 5
d10 between 1 and 10
day between '2026-01-01' and '2026-12-31'
i32 in (1, 2, 3)
i32 not in (1, 2)
i32 in (1, null)
s in ('abc', 'x')
d10 in (10.5, 3)
digits in (12, 7)
day in ('2026-01-01')
s like 'a%'
s like '_b%'
s like '%\\_%'
s like '%!_%' escape '!'
s not like 'a%'
s ilike 'A%'
s rlike '^[a-c]+$'
s regexp 'b'
s rlike '(?i)ABC'
s like any ('a%', 'Z%')
raw = X'00ff'
isnull(i32)
isnotnull(s)
isnan(f64)
-- conditions
case when ok then 1 else 0 end
case when ok then 1 end
case when ok then i8 else i64 end
case when ok then i32 else d10 end
case when ok then d5 else d10 end
case when ok then i32 else f64 end
case when ok then 1.5 else 2 end
case when ok then null else 1 end
case when ok then day else at end
case i32 when 1 then 'one' when 5 then 'five' else 'other' end
case i32 when 1.0 then 'one' else 'more' end
if(ok, 1, 2)
if(ok, i32, d10)
if(i32 > 1, s, 'small')
coalesce(i32, 0)
coalesce(i8, i64)
coalesce(d5, d10)
coalesce(d10, 0)
coalesce(f32, 0)
coalesce(f32, d10)
coalesce(s, 'none')
coalesce(day, date '2000-01-01')
coalesce(null, i32)
nvl(i32, 1)
nvl(d10, 1.5)
ifnull(s, '-')
nvl2(i32, 'yes', 'no')
nvl2(i32, 1, 2.5)
nullif(i32, 1)
nullif(s, 'abc')
nullif(d10, 3)
zeroifnull(i32)
nullifzero(i32)
decode(i32, 1, 'one', 5, 'five', 'other')
-- casts to numbers
cast(i64 as int)
cast(i32 as bigint)
cast(i32 as smallint)
cast(i8 as double)
cast(f64 as int)
cast(-1.5 as int)
cast(2.5 as int)
cast(2.5d as int)
cast(-2.7d as bigint)
cast(d10 as int)
cast(d10 as bigint)
cast(d10 as double)
cast(d10 as float)
cast(d18 as decimal(10,2))
cast(d10 as decimal(12,1))
cast(f64 as decimal(10,2))
cast(1.005d as decimal(10,2))
cast(f64 as float)
cast(f32 as double)
cast(digits as int)
cast(digits as bigint)
cast(digits as double)
cast(digits as decimal(10,2))
cast(' 12 ' as int)
cast('1.5' as double)
cast('1e2' as double)
cast('1.235' as decimal(4,2))
cast(ok as int)
cast(ok as double)
cast(ok as decimal(3,1))
cast(i32 as boolean)
cast('true' as boolean)
cast('no' as boolean)
cast('1' as boolean)
cast(i32 as decimal(20,2))
cast(seen as bigint)
cast(null as int)
cast(null as decimal(5,1))
int(digits)
bigint(i32)
double(d10)
string(i32)
date('2026-01-05')
i32::bigint
d10::string
try_cast(s as int)
try_cast('12' as int)
try_cast('1.7' as int)
try_cast(s as date)
try_cast('2026-13-01' as date)
try_cast(300 as tinyint)
try_cast(s as double)
try_add(i32, 2147483647)
try_subtract(i32, 1)
try_divide(i32, 0)
try_divide(d10, 3)
try_multiply(i32, 2)
-- casts to text
cast(i32 as string)
cast(i8 as string)
cast(d10 as string)
cast(d38 as string)
cast(f64 as string)
cast(f32 as string)
cast(1e10 as string)
cast(1e-5 as string)
cast(0.1d as string)
cast(100d as string)
cast(12345678.9d as string)
cast(1.0E7d as string)
cast(ok as string)
cast(day as string)
cast(at as string)
cast(seen as string)
cast(raw as string)
cast(s as binary)
cast(s as varchar(2))
cast(tags as string)
cast(place as string)
cast('2026-01-01' as string)
-- casts to dates and moments
cast('2026-01-05' as date)
cast('2026-1-5' as date)
cast('2026-01' as date)
cast('2026-01-05 10:00:00' as date)
cast('2026-01-05 10:00:00' as timestamp)
cast('2026-01-05T10:00:00Z' as timestamp)
cast('2026-01-05 10:00:00+02:00' as timestamp)
cast('2026-01-05 10:00:00.123456' as timestamp_ntz)
cast('2026-01-05' as timestamp)
cast(day as timestamp)
cast(day as timestamp_ntz)
cast(at as date)
cast(seen as date)
cast(at as timestamp)
cast(seen as timestamp_ntz)
cast(1700000000 as timestamp)
to_date('2026-01-05')
to_date(at)
to_date('05/01/2026', 'dd/MM/yyyy')
to_timestamp('2026-01-05 10:00:00')
to_timestamp('2026-01-05')
to_timestamp('05.01.2026 10:11', 'dd.MM.yyyy HH:mm')
-- functions of texts
length(s)
char_length(s)
character_length('abc')
len(s)
length(raw)
octet_length(s)
bit_length(s)
length(i32)
upper(s)
lower(s)
ucase(s)
lcase('ABC')
initcap(s)
initcap('hello wORLD-x y')
trim(s)
ltrim('  a ')
rtrim('  a ')
trim('x' from 'xxaxx')
trim(leading 'x' from 'xxaxx')
trim(both from '  a ')
btrim('  a ')
btrim('xxaxx', 'x')
substr(s, 2)
substr(s, 2, 2)
substring(s, 1, 2)
substring(s from 2 for 1)
substr(s, 0, 2)
substr(s, -2)
substr(s, -2, 1)
substr('abc', -5, 4)
substr('abc', 2, -1)
substr(digits, 1, 1)
left(s, 2)
right(s, 2)
left(s, -1)
right(s, 0)
instr(s, 'b')
instr(s, '')
locate('b', s)
locate('c', 'abcabc', 4)
position('b' in s)
position('b', s)
charindex('b', s)
concat(s, '!')
concat(s, i32)
concat(s, null)
concat('a', 1, true)
s || '-' || digits
s || i32
concat_ws(',', s, digits)
concat_ws('-', 'a', null, 'b')
concat_ws(',', tags)
replace(s, 'b', 'X')
replace(s, 'b')
translate(s, 'ab', 'xy')
lpad(s, 5, '*')
rpad(s, 5, '*')
lpad(s, 2)
rpad('a', 3)
lpad('abc', 5, '')
repeat(s, 2)
repeat('ab', 0)
space(3)
reverse(s)
split(s, 'b')
split('a,b,,', ',')
split('a1b22c', '[0-9]+')
split('a,b,c', ',', 2)
split_part('a,b,c', ',', 2)
split_part('a,b,c', ',', 9)
split_part('a,b,c', ',', -1)
substring_index('a.b.c', '.', 2)
substring_index('a.b.c', '.', -1)
regexp_replace(s, '[ab]', '-')
regexp_replace('a1b2', '([0-9])', '<$1>')
regexp_extract('a1b22', '([a-z])([0-9]+)', 2)
regexp_extract('a1b22', '([0-9]+)')
regexp_extract('abc', '([0-9]+)', 1)
regexp_extract('a1b22', '([0-9]+)', 0)
regexp_extract_all('a1b22', '([0-9]+)')
regexp_like(s, 'b')
regexp_count('abab', 'a')
regexp_substr('a1b22', '[0-9]+')
regexp_instr('a1b22', '[0-9]+')
startswith(s, 'a')
endswith(s, 'c')
contains(s, 'b')
ascii(s)
ascii('')
chr(65)
char(97)
md5(s)
sha1(s)
sha(s)
sha2(s, 256)
crc32(s)
hash(s)
xxhash64(s)
hex(s)
hex(raw)
unhex('4A4B')
base64(raw)
unbase64('AP8=')
encode('abc', 'utf-8')
decode(X'616263', 'utf-8')
soundex('Robert')
levenshtein('kitten', 'sitting')
format_number(1234567.891, 2)
format_string('%d-%s', 1, 'a')
overlay('Spark SQL' placing '_' from 6)
find_in_set('b', 'a,b,c')
to_number('12', '99')
to_char(12, '99')
uuid() is not null
-- functions of dates and moments
year(day)
year(at)
year(seen)
year('2026-05-06')
month(day)
day(day)
dayofmonth(day)
dayofweek(day)
weekday(day)
dayofyear(day)
weekofyear(day)
quarter(day)
hour(at)
minute(at)
second(at)
hour(seen)
hour('2026-01-01 10:00:00')
extract(year from day)
extract(month from at)
extract(day from at)
extract(hour from at)
extract(minute from seen)
extract(second from at)
extract(week from day)
extract(dow from day)
extract(doy from day)
extract(quarter from day)
date_part('year', day)
date_part('second', at)
datediff(day, date '2026-01-01')
datediff('2026-03-01', '2026-02-01')
datediff(at, day)
datediff(seen, day)
date_diff(day, date '2025-01-01')
date_add(day, 1)
date_add('2026-01-31', 1)
date_add(at, 1)
date_sub(day, 1)
dateadd(day, 1)
day + 1
day - 1
add_months(day, 1)
add_months(date '2026-01-31', 1)
add_months(day, -1)
months_between(date '2026-03-31', date '2026-02-28')
last_day(day)
last_day('2026-02-03')
next_day(day, 'MON')
trunc(day, 'MM')
trunc(day, 'year')
trunc(day, 'week')
date_trunc('month', day)
date_trunc('month', at)
date_trunc('day', seen)
date_trunc('hour', at)
date_trunc('WEEK', at)
date_trunc('quarter', seen)
date_format(day, 'yyyy-MM')
date_format(at, 'dd.MM.yyyy HH:mm:ss')
date_format(seen, 'EEEE')
unix_timestamp(seen)
unix_timestamp(at)
unix_timestamp(day)
unix_timestamp('2026-01-01 00:00:00')
unix_timestamp('2026-01-01', 'yyyy-MM-dd')
from_unixtime(0)
from_unixtime(1700000000, 'yyyy-MM-dd')
timestamp_seconds(1)
timestamp_millis(1)
timestamp_micros(1)
unix_date(day)
unix_seconds(seen)
unix_millis(seen)
unix_micros(seen)
date_from_unix_date(1)
to_unix_timestamp('2026-01-01 00:00:00')
make_date(2026, 2, 3)
make_timestamp(2026, 2, 3, 4, 5, 6.5)
day + interval 1 day
day + interval 1 month
day - interval '1' year
day + interval 2 hours
at + interval 2 hours
at - interval 1 day
seen + interval 30 minutes
seen + interval 1 month
at + interval '1 02:03:04' day to second
day - date '2026-01-01'
at - at
interval 1 day
timestampadd(hour, 1, at)
timestampdiff(day, date '2026-01-01', day)
timestampdiff(month, at, at)
to_utc_timestamp('2026-01-01 00:00:00', 'Europe/Berlin')
from_utc_timestamp(seen, 'Europe/Berlin')
convert_timezone('UTC', 'Europe/Berlin', at)
current_date() = current_date()
current_timestamp() is not null
now() is not null
dayname(day)
monthname(day)
-- lists, structs and maps
array(1, 2)
array(1, 2.5)
array(i32, i64)
array('a', null)
array()
struct(1, 'a')
struct(i32, s)
named_struct('a', i32, 'b', s)
map('a', 1, 'b', 2)
map()
size(tags)
size(prices)
cardinality(nums)
array_size(nums)
size(null)
tags[0]
nums[0]
try_element_at(nums, 9)
element_at(tags, 1)
try_element_at(tags, 1)
element_at(prices, 'a')
try_element_at(prices, 'a')
prices['a']
prices['zz']
place.city
place.zip
place.zip + 1
array_contains(nums, 2)
array_contains(tags, 'a')
array_position(nums, 2)
array_min(nums)
array_max(nums)
array_distinct(nums)
array_union(nums, array(9))
array_intersect(nums, array(1, 2))
array_except(nums, array(1))
array_remove(nums, 1)
array_append(nums, 7)
array_prepend(nums, 7)
array_compact(nums)
array_join(tags, ',')
array_join(tags, ',', '-')
array_repeat('a', 2)
array_sort(nums)
sort_array(nums)
sort_array(nums, false)
reverse(nums)
slice(nums, 1, 2)
concat(nums, array(5))
flatten(array(nums, nums))
sequence(1, 3)
sequence(date '2026-01-01', date '2026-01-03')
arrays_zip(nums, nums)
map_keys(prices)
map_values(prices)
map_entries(prices)
map_contains_key(prices, 'a')
map_from_arrays(array('a'), array(1))
transform(nums, x -> x + 1)
filter(nums, x -> x > 1)
exists(nums, x -> x > 1)
forall(nums, x -> x > 1)
aggregate(nums, 0, (a, x) -> a + x)
nums = array(1, 2)
get(nums, 0)
get(nums, 9)
str_to_map('a:1,b:2')
to_json(place)
get_json_object('{"a":1}', '$.a')
from_json('{"a":1}', 'a int')
typeof(i32)
-- windows
row_number() over (order by id)
row_number() over (partition by ok order by id desc)
rank() over (order by ok)
dense_rank() over (order by ok)
percent_rank() over (order by id)
cume_dist() over (order by id)
ntile(2) over (order by id)
lag(i32) over (order by id)
lag(i32, 1, 0) over (order by id)
lead(s) over (order by id)
lead(d10, 2) over (order by id)
lag(d10, 1, 0) over (order by id)
first_value(i32) over (order by id)
first(s) over (order by id)
last_value(s) over (order by id)
nth_value(i32, 2) over (order by id)
sum(i32) over (order by id)
sum(i32) over (partition by ok)
sum(d10) over (order by id)
sum(f64) over (order by id rows between 1 preceding and current row)
avg(i32) over (order by id)
avg(d10) over (order by id)
count(*) over ()
count(i32) over (order by id)
max(d10) over (order by id)
min(s) over (partition by ok)
sum(i32) over (order by id range between 1 preceding and current row)
collect_list(i32) over (order by id)
stddev(i32) over (order by id)
i32 - lag(i32) over (order by id)
d10 / sum(d10) over ()
100 * d10 / sum(d10) over ()
i32 * 100.0 / sum(i32) over ()
-- subqueries
(select max(i32) from t)
(select sum(d10) from t)
(select avg(d10) from t) + 1
i32 = (select min(i32) from t)
i32 in (select i64 from t)
i32 in (select d10 from t)
exists (select 1 from u where u.id = t.id)
(select count(*) from u where u.id = t.id)
-- edges of texts
upper('straße ŉ')
lower('ÀÉİ')
initcap('o''neil ab  c')
reverse('e\u0301x')
length('🙂é')
split('abc', '')
split(s, ' ')
split('a.b', '\\.')
regexp_extract('a12', '\\d+', 0)
regexp_replace('a.b', '\\.', '-')
regexp_replace('aXbX', 'X', '')
'a%b' like 'a\\%b'
'a\\b' rlike '\\\\'
'a' 'b'
concat(d10, '-', day, '-', at, '-', f64)
concat(seen, '')
lpad(i32, 5, '0')
substr(s, i32)
substr(s, 2147483647, 5)
instr('abcabc', 'c')
replace(s, ' ', '')
trim('\t a ')
repeat(s, -1)
ascii('é')
chr(300)
upper(i32)
s || null
translate('abc', 'abc', 'x')
rpad('abc', -1, 'x')
-- edges of casts
cast('+5' as int)
cast('\t5\n' as int)
cast('5d' as double)
try_cast('12f' as double)
try_cast('1_000' as int)
try_cast(' 7 ' as smallint)
try_cast('99999999999' as int)
try_cast('yes' as boolean)
try_cast('2026-02-30' as date)
try_cast('2026-2-3 x' as date)
cast('1e3' as decimal(10,2))
cast('.5' as double)
cast('5.' as double)
cast('inf' as double)
cast('-Infinity' as double)
cast('NaN' as float)
cast(1e20 as string)
cast(-1.5e-7 as string)
cast(123456789.125d as string)
cast(0.00012d as string)
cast(cast(1e10 as float) as string)
cast(cast(0.1 as float) as double)
cast(f32 as decimal(10,5))
cast(0.1d + 0.2d as string)
cast(-0.0d as string)
cast(1e7 as string)
cast(9999999.5d as string)
cast(0.001d as string)
cast(1.5e300 as string)
cast(double('inf') as string)
cast(cast(1e-7 as decimal(20,10)) as string)
cast(true as string)
cast(-7.9 as bigint)
cast(-7.9d as bigint)
cast(999.995 as decimal(6,2))
cast(-0.005 as decimal(3,2))
cast('2026' as date)
cast(' 2026-01-05 ' as date)
cast('2026-01-05T' as date)
cast(date '2026-01-05' as string)
cast(timestamp '2026-01-05 10:00:00.120' as string)
cast('2026-01-05 10:00' as timestamp)
cast(-1 as timestamp)
cast(nums as array<bigint>)
cast(i32 as decimal(3,1))
-- edges of numbers
d5 * d5 * d5 * d5
d10 / d10 / d10
d10 * d10 / d5
(d18 + d18) * d18
0.5 * 0.5
0.10 / 0.3
-0.25 / 3
1.0 / 7.0
-1.0 / 3.0
2.00 / 3
d10 * -2
d10 + -5
-5 / d10
d10 + (1 + 1)
d10 * (-3)
i8 + 1.5
i64 * 1.5
i64 / 3
i64 % 7
-7 % 3
7 % -3
-7.5 % 2
mod(-7, 3)
5 % 0.3
5d % 0.3d
1 / 0.1d
-7 div 2
7 div -2
round(-1.5d)
round(1234.5678d, -2)
round(2.675d, 2)
round(f32, 3)
round(1e16, 2)
round(i8, -1)
round(-0.5)
round(0.5d)
round(d38, 4)
round(999.99, 1)
round(d10 / 3, 2)
floor(-1.5)
ceil(-0.5d)
floor(d38)
ceil(i64)
abs(-2.50)
sqrt(-1)
ln(0)
ln(-1)
log10(0)
power(0, 0)
exp(710)
sign(-d10)
double('NaN') = double('NaN')
double('NaN') > 1
greatest(double('NaN'), 1d)
0.0d = -0.0d
'10' < '9'
10 < '9'
'a' < 'B'
date '2026-01-01' = '2026-1-1'
ok = 'true'
i32 = '5'
i32 in ('5', '1')
d10 = '10.5'
f64 between 0 and d10
null = 1
null + 1
null and false
not null
nullif(1, 1.0)
coalesce(i32, i64, d10, f32)
coalesce(null, null)
if(null, 1, 2)
case when null then 1 when i32 > 1 then 2.5 end
case ok when true then d5 when false then d18 end
least(1, 2.5, i8)
greatest(day, at)
i32 & i64
-(-i32)
- - 1
-- edges of dates
weekofyear(date '2021-01-03')
dayofweek(date '2021-01-03')
year(date '0001-01-01')
date '1582-10-10'
date_add(date '2024-02-28', 1)
date_add(day, i32)
date_sub(day, -1)
last_day(date '2024-02-01')
add_months(date '2024-02-29', 12)
add_months('2026-03-31', -1)
add_months(day, i32)
trunc(day, 'quarter')
date_trunc('day', day)
date_trunc('minute', seen)
date_trunc('month', '2026-05-06')
to_date('2026')
to_date(' 2026-01-05 ')
to_date('20260105', 'yyyyMMdd')
to_timestamp('2026-01-05 10:00')
to_timestamp('2026/01/05', 'yyyy/MM/dd')
date_format(at, 'yyyy')
date_format('2026-05-06', 'dd/MM')
date_format(day, 'yyyy-MM-dd HH:mm:ss')
from_unixtime(1700000000)
from_unixtime(i32)
make_date(2024, 2, 29)
date '2026-01-31' + interval 1 month
at + interval -1 day
at + interval '-2' hours
seen - interval 2 weeks
day + interval '3' days
timestamp '2026-01-01 00:00:00' + interval 90 seconds
datediff(date '2024-03-01', date '2024-02-28')
second(timestamp '2026-01-01 00:00:59.999')
extract(second from timestamp '2026-01-01 00:00:59.999')
extract(minute from at)
hour(day)
unix_timestamp(date '1969-12-31')
unix_millis(timestamp '1969-12-31 23:59:59.9995')
day > at
day = date(seen)
cast(at as date) = day
min(day) over ()
-- edges of lists
array(1, null)
array(array(1), array(2.5))
struct(1 as a, 'x' as b).a
named_struct('a', d10, 'b', named_struct('c', 1)).b.c
map('a', d10)['a']
map(1, 'x')[1]
array(1, 2)[0]
element_at(array(1, 2, 3), -1)
try_element_at(nums, -1)
get(nums, -1)
slice(nums, -1, 1)
slice(nums, 2, 5)
array_contains(array(1, 2), 1)
array_contains(nums, i8)
array_join(array('a', null, 'c'), '-', '?')
sort_array(array('b', null, 'a'))
sort_array(array('b', null, 'a'), false)
array_sort(array(3, null, 1))
array_max(array(1.5, 2))
array_min(array(null, 1))
flatten(array(array(1), array(2, 3)))
sequence(5, 1)
sequence(0, 0)
sequence(i8, i32)
transform(tags, x -> upper(x))
transform(nums, x -> x / 2)
transform(nums, x -> x * d10)
transform(nums, (x, i) -> x + i)
filter(nums, x -> x % 2 = 1)
filter(tags, x -> x is not null)
size(filter(nums, x -> x > 1))
array_distinct(array('a', 'a', null, null))
array_union(array(1), array(1.5))
array_except(nums, array(null))
array_repeat(1, 3)
map_keys(map(1, 'a'))
array_position(array('a', 'b'), 'b')
array(1, 2) < array(1, 3)
struct(1, 2) = struct(1, 2)
place.city || '!'
place = named_struct('city', 'Wien', 'zip', 1010)
concat(tags, array('z'))
reverse(tags)
size(array(1, 2, null))
-- edges of windows
sum(d10) over (order by id rows between unbounded preceding and 1 preceding)
avg(d10) over (partition by ok)
avg(d10) over (order by id rows between 1 preceding and 1 following)
lag(i32, -1) over (order by id)
lag(s, 2, 'none') over (order by id)
lag(i8, 1, 100) over (order by id)
last_value(i32) ignore nulls over (order by id)
lead(d10) over (partition by ok order by id)
rank() over (order by d10 desc)
row_number() over (order by i32 desc nulls last)
min(i32) over (order by id range between unbounded preceding and unbounded following)
sum(i32) filter (where ok) over ()
sum(case when ok then d10 else 0 end) over (order by id)
count(distinct i32) over ()
max(length(s)) over ()
d10 - avg(d10) over ()
round(100.0 * i32 / sum(i32) over (), 2)
rank() over (order by length(s))
collect_list(s) over (partition by ok order by id)
sum(i64 % 100) over (order by day rows 1 preceding)
lower('ΟΔΟΣ ΣΑΣ Σ')
upper('ﬁn ǰ')
upper('ς')
lag(i32) ignore nulls over (order by id)
first_value(i32) ignore nulls over (order by id)
if(null, 1, 2)
null / 0
(i32 - i32) / nullif(i32, i32)
cast(null as int) % 0
cast(null as decimal(5,2)) / 0
