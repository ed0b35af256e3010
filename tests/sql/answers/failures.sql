-- Each line is an expression over the rows of t that Spark answers with an error: every engine must.
i32 / 0
i64 / (i32 - i32)
f64 / 0
d10 / 0
d10 / (d5 - d5)
i32 % 0
d10 % 0
f64 % 0
i32 div 0
mod(i32, 0)
pmod(i32, 0)
cast(127 as tinyint) + cast(1 as tinyint)
2147483647 + i32 - i32 + 1 + 2147483646
cast(9223372036854775807 as bigint) + 1
cast(9223372036854775807 as bigint) * 2
-cast(-9223372036854775808 as bigint)
abs(cast(-128 as tinyint))
-cast(-128 as tinyint)
cast('abc' as int)
cast('1.5' as int)
cast('' as int)
cast('abc' as double)
cast('abc' as decimal(10,2))
cast('abc' as date)
cast('2026-13-01' as date)
cast('maybe' as boolean)
cast('abc' as timestamp)
cast(300 as tinyint)
cast(1e20 as bigint)
cast(3000000000 as int)
cast(12345.67 as decimal(4,2))
cast(double('NaN') as int)
s + 1
s = 1
s > 5
sum(i64 * 0 + 9223372036854775807) over ()
array(1, 2)[5]
element_at(array(1, 2), 5)
cast(day as int)
to_date('abc')
year('abc')
date_add('abc', 1)
make_date(2026, 13, 1)
i32 + ok
upper(nope)
nosuchfunction(i32)
length(tags)
cast(100 as tinyint) * cast(2 as tinyint)
ok = 1
i32 = ok
cast('1_000' as int)
cast('2026-02-30' as date)
if(ok, 1, 'a')
coalesce(i32, 'x')
nums[1]
substr(s, 1.5)
date_add(day, 1.5)
upper(tags)
sum(s) over ()
day + 1.5
day > 5
place > 1
abs(s)
round(d10, i32)
split_part('a,b', ',', 0)
element_at(nums, 0)
array(1, 'x')
i32 like tags
cast(99999999999999999999999999999999999999 as decimal(38,0)) * 10
cast(99999999999999999999999999999999999999 as decimal(38,0)) + 1
