"""Statements that try to get out of their tables are refused by name, and what passes gets to nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.rendering import place_in_text, render_for_spark
from mason.pipeline.sql.statement import parse_statement
from scripts.attack_queries import attack
from tests.sql.attacks.statements import attacks, passing
from tests.sql.conftest import Database

BEYOND = 'The function "{}" is not allowed in a query: it reaches beyond the tables.'


@pytest.fixture(scope="module")
def watched() -> None:
    """Needs strace, which a user may lack; CI has it."""
    if shutil.which("strace") is None and not os.environ.get("CI"):
        pytest.skip("strace is not installed")


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("reflect('java.lang.System', 'getenv', 'X')", "reflect"),
        ("java_method('java.lang.System', 'getenv')", "java_method"),
        ("try_reflect('java.lang.System', 'getenv')", "try_reflect"),
        ("from_xml(name, 'a int', map('rowValidationXSDPath', '/etc/hostname'))", "from_xml"),
        ("from_avro(X'00', '\"int\"')", "from_avro"),
        ("from_protobuf(X'00', 'A', '/x')", "from_protobuf"),
        ("input_file_name()", "input_file_name"),
        ("current_user()", "current_user"),
        ("`reflect`('a', 'b')", "reflect"),
    ],
)
def test_a_function_that_reaches_beyond_the_tables_is_refused_by_name(expression: str, name: str) -> None:
    with pytest.raises(BadQuery) as refusal:
        parse_statement(f"select {expression} as x from orders")
    assert BEYOND.format(name) in str(refusal.value)


@pytest.mark.parametrize("name", ["hll_union", "st_srid", "system", "getenv", "no_such_thing"])
def test_a_function_that_is_not_on_the_list_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadQuery, match=f'The function "{name}" is unknown, or not allowed in a query.'):
        parse_statement(f"select {name}(id) as x from orders")


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("select ${env:HOME} from orders", 8),
        ("select '@a', @foo as x from orders", 14),
        ("select id from orders where id = ${x}", 34),
    ],
)
def test_a_variable_is_refused_where_it_stands(statement: str, column: int) -> None:
    with pytest.raises(
        BadQuery, match=rf"^query:1:{column}: A query has no variables\. Write :name, and give its value"
    ):
        parse_statement(statement)


def test_a_function_by_way_of_a_schema_is_refused() -> None:
    with pytest.raises(BadQuery, match='The function "builtin.upper" is unknown, or not allowed'):
        parse_statement("select builtin.upper(name) as x from orders")


@pytest.mark.parametrize(
    "statement",
    [
        "select id, 'x' as b from orders where 1=0 -- ${system:line.separator} union all select 1, x from "
        "(select transform(id) using 'id' as (x string) from orders)",
        "select '${env:MASON_TOKEN}' as x from orders",
    ],
)
def test_variables_of_spark_are_plain_text(statement: str) -> None:
    rendered = render_for_spark(statement)
    assert "transform" not in rendered.lower()
    assert rendered.count("$") == statement.count("'$")


@pytest.mark.parametrize("statement", ["select @foo as x from orders", "select @@foo as x", "select $1 as x"])
def test_variables_are_refused(statement: str) -> None:
    with pytest.raises(BadQuery, match="variables|cannot be understood"):
        parse_statement(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "select * from orders version as of 1",
        "select * from orders timestamp as of '2026-01-01'",
        "select id from orders for update",
        "select id from orders qualify row_number() over (order by id) = 1",
        "select name:field as x from orders",
        "select ? as x from orders",
        "select /*+ any_hint(orders) */ id from orders",
    ],
)
def test_parts_of_sql_that_are_not_on_the_list_are_refused(statement: str) -> None:
    with pytest.raises(BadQuery, match="not allowed in a query"):
        parse_statement(statement)


def test_a_path_into_a_value_is_refused_as_what_it_is() -> None:
    with pytest.raises(BadQuery, match=r"^query:1:8: A path into a value, as v:name, is not allowed .* variant_get\("):
        parse_statement("select name:first as x from people")


def test_a_file_in_the_place_of_a_table_is_no_table(here: Database) -> None:
    here.given("orders", "id\n1\n")
    with pytest.raises(BadQuery):
        here.ask("select value from text.`/etc/hostname`")


def test_the_name_of_a_lateral_view_is_a_name_whatever_stands_in_it() -> None:
    hostile = "e where reflect('a', 'b') is null -- "
    rendered = render_for_spark(f"select id from orders lateral view explode(tags) `{hostile}` as tag")
    assert f"EXPLODE(`tags`) `{hostile}` AS `tag`" in rendered


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("select 1 /* a */ as x -- b", "SELECT 1 AS `x`"),
        (r"select 'a\\', '\'' as y", r"SELECT 'a\\', '\'' AS `y`"),
        ("select percentile_cont(0.5) within group (order by id) as x from t", None),
        (
            "select x - interval 1 day 2 hours as y from t",
            "SELECT `x` - (INTERVAL '1' DAY + INTERVAL '2' HOURS) AS `y` FROM `t`",
        ),
        ("select array(1, 2)[0] as x", "SELECT array(1, 2)[0] AS `x`"),
        ("select dateadd(day, 1, at) as x from t", "SELECT dateadd(DAY, 1, `at`) AS `x` FROM `t`"),
        (
            "select trim(leading from s) as x, 'a' 'b' as y from t",
            "SELECT TRIM(LEADING FROM `s`) AS `x`, 'ab' AS `y` FROM `t`",
        ),
        ("select a >>> 1 + 1 as x from t", "SELECT shiftrightunsigned(`a`, 1 + 1) AS `x` FROM `t`"),
        (
            "select count(*) as n from t group by window(at, '1 day')",
            "SELECT count(*) AS `n` FROM `t` GROUP BY window(`at`, '1 day')",
        ),
        (
            "select sum(a) over w as n from t group by a window w as (order by a)",
            "SELECT sum(`a`) OVER `w` AS `n` FROM `t` GROUP BY `a` WINDOW `w` AS (ORDER BY `a`)",
        ),
        (
            "select q.a from (select a from t) tablesample (2 rows) q",
            "SELECT `q`.`a` FROM (SELECT `a` FROM `t`) TABLESAMPLE (2 ROWS) AS `q`",
        ),
    ],
)
def test_spark_gets_the_statement_in_one_plain_spelling(written: str, rendered: str | None) -> None:
    found = render_for_spark(written)
    assert found == rendered if rendered else "percentile_cont(0.5) WITHIN GROUP" in found


def test_what_could_be_read_in_two_ways_is_refused() -> None:
    with pytest.raises(BadQuery, match="can be read in more than one way"):
        render_for_spark("select id from t where id between symmetric 1 and 2")


def test_a_comment_that_goes_on_in_the_next_line_of_spark_is_refused() -> None:
    with pytest.raises(BadQuery, match="^query:1:23: This comment ends in a backslash"):
        parse_statement("select id from orders -- all \\\nwhere id > 1")


def test_places_in_errors_point_into_the_text_of_the_caller() -> None:
    text = "select id, -- the order\n  upper( Name ) as n\nfrom orders"
    rendered = render_for_spark(text)
    assert text[place_in_text(text, rendered, rendered.index("upper")) :].startswith("upper")
    assert text[place_in_text(text, rendered, rendered.index("`Name`")) :].startswith("Name")


def test_an_error_of_spark_points_into_the_text_of_the_caller(database: Database) -> None:
    database.given("orders", "id,name\n1,a\n")
    with pytest.raises(BadQuery, match="^query:2:3: "):
        database.ask("select id, -- one\n  upper(id, name) as n from shop.orders")


def test_a_name_that_spark_takes_for_a_function_of_the_machine_is_a_column_or_refused(database: Database) -> None:
    database.given("orders", "id,name\n1,a\n")
    database.given("people", "id,user\n1,ada\n")

    assert database.rows("select user from shop.people") == [{"user": "ada"}]
    with pytest.raises(BadQuery, match='Spark takes "user" for a function that tells of the machine'):
        database.ask("select user, 1 as user2, 2 as `User` from shop.orders")


def test_of_twenty_thousand_attacks_those_that_name_a_way_out_are_refused() -> None:
    """A tenth of them here; `scripts/attack_queries.py` sends all, and runs what passes under strace."""
    passed = passing(list(attacks(2000, seed=3, file="/etc/hostname", port=9)))
    texts = [render_for_spark(each).lower() for each in passed]
    assert len(texts) >= 50
    outside = [parse_statement(each) for each in passed]
    assert {table.name.lower() for each in outside for table in each.tables} <= {"orders", "people", "text", "q"}


@pytest.mark.timeout(900)
def test_what_passes_gets_to_no_file_socket_or_program_beyond_the_tables(watched: None, tmp_path: Path) -> None:
    assert attack(tmp_path, statements=1000, runs=40, seed=5) == []


@pytest.mark.timeout(900)
def test_the_watch_sees_what_gets_out_without_the_checks(watched: None, tmp_path: Path) -> None:
    found = attack(tmp_path, statements=120, runs=120, seed=5, checked=False)
    assert any(each.call.startswith("execve") for each in found)
    assert any("canary.txt" in each.call for each in found)
