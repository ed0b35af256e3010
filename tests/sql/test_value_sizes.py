"""Constants that make one value larger than an answer may be: refused in the tree, however they are put together."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest
import sqlglot

from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.spark_dialect import SparkAsWritten
from mason.pipeline.sql.statement import Statement, parse_statement
from mason.pipeline.sql.value_sizes import check_value_sizes

LIMIT = 256 * 1024 * 1024


def as_typed(text: str) -> Statement:
    return parse_statement(text)


def as_written(text: str) -> Statement:
    """The statement with every call kept as it is written: sqlglot has no class for any of them then."""
    return replace(parse_statement(text), tree=sqlglot.parse_one(text, dialect=SparkAsWritten))


READERS = pytest.mark.parametrize("read", [as_typed, as_written])


@READERS
@pytest.mark.parametrize(
    "statement",
    [
        "select repeat('a', 2000000000) r from orders limit 1",
        "select repeat(name, 2000000000) r from orders",
        "select REPEAT('a', 2000000000L) r from orders",
        "select `repeat`('a', 2000000000) r from orders",
        "select repeat('a', '2000000000') r from orders",
        "select repeat('a', cast('2000000000' as int)) r from orders",
        "select repeat('a', int('2000000000')) r from orders",
        "select repeat('a', concat('2000', '000000')) r from orders",
        "select repeat('a', '2000' || '000000') r from orders",
        "select repeat('a', 1000 * 1000 * 2000) r from orders",
        "select repeat('a', 2147483647 - 1) r from orders",
        "select repeat('a', -(-2000000000)) r from orders",
        "select repeat('a', abs(-2000000000)) r from orders",
        "select repeat('a', cast(2e9 as int)) r from orders",
        "select repeat('a', cast(pow(2, 30) as int)) r from orders",
        "select repeat('a', shiftleft(1, 30)) r from orders",
        "select repeat('a', 1 << 30) r from orders",
        "select repeat('a', if(id > 1, 2000000000, 1)) r from orders",
        "select repeat('a', case when id > 1 then 2000000000 else 1 end) r from orders",
        "select repeat('a', coalesce(id, 2000000000)) r from orders",
        "select repeat('a', greatest(id, 2000000000)) r from orders",
        "select repeat('a', length(repeat('a', 100000)) * 10000) r from orders",
        "select repeat(repeat('a', 100000), 100000) r from orders",
        "select repeat('a', 200000000) || repeat('b', 200000000) r from orders",
        "select concat(repeat('a', 200000000), name, repeat('b', 200000000)) r from orders",
        "select concat_ws(repeat(',', 100000000), name, name, name, name) r from orders",
        "select rpad(name, 2000000000, 'x') r from orders",
        "select lpad('a', 2000000000) r from orders",
        "select space(2000000000) r from orders",
        "select size(sequence(1, 2000000000)) r from orders",
        "select sequence(2000000000, 1, -1) r from orders",
        "select sequence(date'0001-01-01', date'9999-12-31', interval 1 second) r from orders",
        "select size(array_repeat(0, 2000000000)) r from orders",
        "select array_repeat(repeat('a', 100000), 100000) r from orders",
        "select array(repeat('a', 200000000), repeat('a', 200000000)) r from orders",
        "select array_insert(array(1), 2000000000, 1) r from orders",
        "select array_join(array_repeat('a', 100000), repeat(',', 100000)) r from orders",
        "select replace(repeat('a', 100000), 'a', repeat('b', 100000)) r from orders",
        "select regexp_replace(repeat('a', 100000), 'a', repeat('b', 100000)) r from orders",
        "select format_string('%999999999d', 1) r from orders",
        "select printf('%.999999999f', 1) r from orders",
        "select format_number(1, 2000000000) r from orders",
        "select hex(repeat('a', 200000000)) r from orders",
        "select split(repeat('a', 100000000), '') r from orders",
        "select transform(sequence(1, 100000), x -> repeat('a', 100000)) r from orders",
        "select aggregate(sequence(1, 40), 'a', (acc, x) -> concat(acc, acc)) r from orders",
        "select upper(repeat('a', 2000000000)) r from orders",
        "select id from orders where length(repeat('a', 2000000000)) > 1",
        "select id from orders order by repeat('a', 2000000000)",
        "select max(repeat('a', 2000000000)) r from orders group by id",
        "select o.id from orders o join orders p on o.id = length(repeat('a', 2000000000))",
        "select (select max(repeat('a', 2000000000)) from orders) r from orders",
        "select id from orders where id in (select length(repeat('a', 2000000000)) from orders)",
        "select id from orders union all select length(repeat('a', 2000000000)) from orders",
        "select x from orders lateral view explode(sequence(1, 2000000000)) t as x",
        "select repeat(s, 100000) r from (select repeat('a', 100000) s from orders)",
        "with t as (select repeat('a', 100000) s from orders) select repeat(t.s, 100000) r from t",
        "with t(s) as (select repeat('a', 100000) from orders) select repeat(s, 100000) r from t",
        "select repeat('a', n) r from (select 2000000000 n from orders)",
        "select repeat('a', n) r from (values (2000000000)) v(n)",
        "select repeat('a', col1) r from values (1), (2000000000)",
        "select repeat('a', 100000) s, repeat(s, 100000) t from orders",
        "select repeat(x, 100000) r from (select 'a' x union all select repeat('a', 100000))",
        "select sum(repeat('a', 2000000000)) over (order by id) r from orders",
        "select repeat('a', element_at(array(1, 2000000000), 2)) r from orders",
        "select repeat('a', array(1, 2000000000)[1]) r from orders",
        "select repeat('a', map('x', 2000000000)['x']) r from orders",
        "select repeat('a', named_struct('x', 2000000000).x) r from orders",
        "select repeat('a', cast(reverse('0000000002') as int)) r from orders",
        "select repeat('a', cast(conv('77359400', 16, 10) as int)) r from orders",
        "select repeat('a', cast(substring('x2000000000', 2) as int)) r from orders",
        "select space(year(current_date()) * 1000000) r from orders",
        "select rpad(name, ascii('a') * 20000000, 'x') r from orders",
        "select transform(array(2000000000), n -> repeat('a', n)) r from orders",
        "select repeat('a', n) r from (select explode(array(2000000000)) n from orders)",
        "select repeat('a', n) r from orders lateral view explode(array(2000000000)) t as n",
        "select format_string(name || '%2000000000d', 1) r from orders",
        "select format_string(if(id > 1, '%2000000000d', 'x'), 1) r from orders",
        f"select format_string('{'x' * 1001}%2000000000d', 1) r from orders",
        "select regexp_extract_all(repeat('a', 200000000), '(.)') r from orders",
        "select count_min_sketch(id, 0.000000001, 0.99, 1) r from orders",
        "with t(n, s) as (select 1, repeat('a', 100000)) select repeat(s, 100000) r from t",
        "with recursive t(n, s) as (select 1, 'a' union all select n + 1, s || s from t where n < 40) select s from t",
        "with recursive t(n) as (select 1 union all select n * 2 from t where n < 2000000000) select space(n) from t",
    ],
)  # fmt: skip
def test_constants_that_make_one_value_too_large_are_refused(read: Any, statement: str) -> None:
    with pytest.raises(BadQuery, match=r"^query:1:\d+: \S+ can make a value of .* bytes, and here a value has at most"):
        check_value_sizes(read(statement), LIMIT)


@READERS
@pytest.mark.parametrize(
    "statement",
    [
        "select repeat('a', 1000) r from orders",
        "select repeat(name, id) r from orders",
        "select repeat(name, 3) name, rpad(name, 20, ' ') b, id + 2000000000 c from orders",
        "select id * 2000000000 r, sequence(1, id) s, 2000000000 * 1000 t from orders",
        "select sequence(date'2020-01-01', date'2026-12-31', interval 1 day) r from orders",
        "select format_string('%5d of %s', id, name), concat_ws(', ', name, name), hex(name) from orders",
        "select length(repeat('a', 100000000)) * 1000 r, array_repeat(length(repeat('a', 1000000)), 1000) from orders",
        "select replace(name, 'a', 'bb'), regexp_replace(name, 'a', 'bb'), split(name, ','), to_json(name) from orders",
        "select transform(sequence(1, 10), x -> x + 1), aggregate(sequence(1, 100), 0, (a, x) -> a + x) from orders",
        "with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select n from t",
        "select * from (select *, row_number() over (partition by id order by name) n from orders) where n = 1",
        "select sum(price) s, count(*) n from orders group by id having count(*) > 2000000000",
        "select repeat('a', null) r, repeat('*', count(*)) s, rpad(name, length('header'), ' ') t from orders",
        "select element_at(array(1, 2000000000), 1) r, reverse('0000000002') s, array(id, 2000000000)[0] t from orders",
        "select repeat('a', int(round(sum(price)))) r, lpad(id, 5, '0') s from orders group by id",
        "select sequence(date'2020-01-01', current_date(), interval 1 day) r from orders",
        "with recursive t(n, s) as (select 1, 'a' union all select n + 1, s || 'a' from t where n < 9) select s from t",
    ],
)  # fmt: skip
def test_what_is_no_trouble_passes(read: Any, statement: str) -> None:
    check_value_sizes(read(statement), LIMIT)


@READERS
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select stack(2000000000, id) from orders", "stack(…) asks for 2,000,000,000 rows"),
        ("select id from range(0, 10, 1, 2000000000)", "range(…) asks for 2,000,000,000 partitions"),
        ("select /*+ repartition(2000000000) */ id from orders", "repartition(…) asks for 2,000,000,000 partitions"),
        ("select round(price, 2000000000) r from orders", "round(…) asks for 2,000,000,000 digits"),
        ("select bround(price, -2000000000) r from orders", "bround(…) asks for 2,000,000,000 digits"),
        ("select histogram_numeric(id, 2000000000) r from orders", "histogram_numeric(…) asks for 2,000,000,000 bins"),
        ("select 1 r from orders group by window(at, '1 week', '1 second')", "window(…) asks for 604,800 windows"),
        (f"select 1 r from orders group by cube({', '.join('abcdefghijk')})", "GROUP BY asks for 2,048 sets of"),
        ("select 1 r from orders group by cube(a, b, c, d, e, f), cube(g, h, i, j, k)", "GROUP BY asks for 2,048 sets"),
        (f"select 1 r from orders group by {', '.join('abcdefghijk')} with cube", "GROUP BY asks for 2,048 sets of"),
    ],
)  # fmt: skip
def test_constants_that_have_an_engine_prepare_too_much_are_refused(read: Any, statement: str, told: str) -> None:
    """Before it reads a row, where no limit of a task holds: some of these ended the Spark that all calls share."""
    with pytest.raises(BadQuery) as refusal:
        check_value_sizes(read(statement), LIMIT)
    assert told in str(refusal.value)
    assert re.match(r"query:1:\d+: ", str(refusal.value))


@READERS
@pytest.mark.parametrize(
    "statement",
    [
        "select stack(3, 1, 2, 3) from orders",
        "select round(price, 2) r, ceil(price) s, round(price, -3) t from orders",
        "select 1 r from orders group by window(at, '1 day', '1 minute')",
        "select 1 r from orders group by cube(a, b, c), rollup(d, e, f, g), h",
        "select 1 r from orders group by grouping sets ((a), (b, c), ())",
        "select /*+ repartition(200, id) */ id from range(0, 1000000000000, 1, 200)",
    ],
)
def test_what_an_engine_can_prepare_passes(read: Any, statement: str) -> None:
    check_value_sizes(read(statement), LIMIT)


def test_what_is_done_again_and_again_is_not_followed_without_end() -> None:
    inner = "aggregate(sequence(1, 10000), 'b', (more, y) -> more || 'c')"
    statement = f"select aggregate(sequence(1, 10000), 'a', (text, x) -> text || {inner}) r from orders"
    with pytest.raises(BadQuery, match="nested too deeply"):
        check_value_sizes(parse_statement(statement), LIMIT)


@READERS
def test_a_parameter_is_as_good_as_a_constant(read: Any) -> None:
    statement = read("select repeat(:what, :times) r from orders")

    check_value_sizes(statement, LIMIT, {"what": "a", "times": 10})
    for given in ({"what": "a", "times": 2_000_000_000}, {"what": "a" * 1000, "times": "1000000"}):
        with pytest.raises(BadQuery, match=r"query:1:8: repeat\(…\) can make a value"):
            check_value_sizes(statement, LIMIT, given)


def test_without_a_limit_a_value_that_no_engine_can_hold_is_refused() -> None:
    check_value_sizes(parse_statement("select repeat('a', 1000000000) r from orders"), None)
    for expression in ("repeat('a', 2000000000)", "size(sequence(1, 1000000000))", "rpad('a', 2000000000, 'b')"):
        with pytest.raises(BadQuery, match=r"at most 1,073,741,824\. Make it smaller\.\n"):
            check_value_sizes(parse_statement(f"select {expression} r from orders"), None)


def test_doubling_from_query_to_query_is_seen() -> None:
    steps = ", ".join(f"t{number} as (select concat(s, s) s from t{number - 1})" for number in range(1, 40))

    with pytest.raises(BadQuery, match="can make a value"):
        check_value_sizes(parse_statement(f"with t0 as (select 'a' s from orders), {steps} select s from t39"), LIMIT)


def test_a_long_statement_is_checked_in_a_moment() -> None:
    many = " + ".join(["id"] * 3000)
    unions = " union all ".join(["select id from orders"] * 1000)
    statements = [parse_statement(f"select {many} r from orders"), parse_statement(unions)]
    began = time.monotonic()

    for each in statements:
        check_value_sizes(each, LIMIT)
    assert time.monotonic() - began < 5
