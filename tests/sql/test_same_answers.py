from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from mason.clients.local.execution import LocalExecutionClient
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.local.translation import translate_statement
from mason.pipeline.sql.query import BadQuery, SqlTable, fetch_rows
from mason.pipeline.sql.rendering import render_for_spark
from mason.pipeline.sql.statement import parse_statement
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.tasks import TaskRunner
from mason.testing.contract import answer
from scripts.compare_engines import compare_composed
from tests.sql.answers.book import (
    Answer,
    Expression,
    ask_together,
    encoded,
    groups,
    lines,
    query_of,
    recorded,
    refused,
    together,
    values,
    write_tables,
)
from tests.sql.answers.composed import composed

ANSWERS = recorded()
REFUSED = refused()
ANSWERED = [each for each in [*values(), *groups()] if "error" not in ANSWERS[each.statement]]
QUERIES = [each for each in lines("queries.sql") if "error" not in ANSWERS[each]]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Sequence[SqlTable]:
    return write_tables(tmp_path_factory.mktemp("answers"))


def asking(runner: TaskRunner, tables: Sequence[SqlTable]) -> Callable[[str], pa.Table]:
    return lambda statement: fetch_rows(runner, query_of(statement, tables))


def answers_together(
    expressions: Sequence[Expression], runner: TaskRunner, tables: Sequence[SqlTable]
) -> Mapping[str, Answer]:
    found: dict[str, Answer] = {}
    for lot in together(expressions):
        found.update(ask_together(lot, asking(runner, tables)))
    return found


def expected(statements: Sequence[str]) -> Mapping[str, Answer]:
    return {each: ANSWERS[each] for each in statements}


def test_the_local_engine_gives_the_types_and_the_values_that_spark_gave(tables: Sequence[SqlTable]) -> None:
    asked = [each for each in ANSWERED if each.statement not in REFUSED]
    found = answers_together(asked, InProcessRunner(), tables)
    assert found == expected([each.statement for each in asked])


def test_the_local_engine_answers_whole_queries_as_spark_did(tables: Sequence[SqlTable]) -> None:
    ask = asking(InProcessRunner(), tables)
    asked = [each for each in QUERIES if each not in REFUSED]
    assert {each: encoded(ask(each)) for each in asked} == expected(asked)


@pytest.mark.parametrize("statement", [each for each in ANSWERS if "error" in ANSWERS[each] or each in REFUSED])
def test_what_is_an_error_in_spark_or_would_be_another_answer_is_an_error_here(
    tables: Sequence[SqlTable], statement: str
) -> None:
    with pytest.raises(BadQuery):
        asking(InProcessRunner(), tables)(statement)


@pytest.mark.timeout(900)
def test_what_is_recorded_is_what_spark_says_to_the_text_that_mason_writes(
    spark_runner: TaskRunner, tables: Sequence[SqlTable]
) -> None:
    assert answers_together(ANSWERED, spark_runner, tables) == expected([each.statement for each in ANSWERED])


@pytest.mark.timeout(900)
def test_whole_queries_are_answered_as_recorded_by_spark_in_the_text_that_mason_writes(
    spark_runner: TaskRunner, tables: Sequence[SqlTable]
) -> None:
    ask = asking(spark_runner, tables)
    assert {each: encoded(ask(each)) for each in QUERIES} == expected(QUERIES)


def test_a_refusal_names_what_the_local_engine_lacks_and_who_has_it(tables: Sequence[SqlTable]) -> None:
    schemas = {table.name: decode_schema(table.schema) for table in tables}
    with pytest.raises(BadQuery) as refusal:
        translate_statement("select soundex(s) as x from t", {}, schemas)
    assert str(refusal.value) == (
        'query:1:8: The local engine cannot guarantee Spark\'s result for function "soundex". '
        "Use execution_engine: spark."
        "\n  select soundex(s) as x from t\n         ^"
    )


@pytest.mark.parametrize(
    ("statement", "line", "column"),
    [
        ("select s,\n  length(s) + 1 as n,\n  upper(conv(s, 10, 16)) as c\nfrom t", 3, 9),
        ("select s from t where length(s) > 1 and soundex(s) = 'x'", 1, 41),
        ("with a as (select soundex(s) as x from t) select x from a", 1, 19),
    ],
)
def test_a_refusal_says_where_that_stands_which_it_is_about(
    tables: Sequence[SqlTable], statement: str, line: int, column: int
) -> None:
    schemas = {table.name: decode_schema(table.schema) for table in tables}
    with pytest.raises(BadQuery, match=f"^query:{line}:{column}: "):
        translate_statement(statement, {}, schemas)


@pytest.mark.parametrize(
    ("statement", "lacked"),
    [
        ("select time'10:00:00' as x from t", 'type "TIME"'),
        ("select s from t tablesample (1 rows)", '"TABLESAMPLE"'),
        ("select q.s from (select s from t) tablesample (1 rows) q", '"TABLESAMPLE"'),
        ("select * from explode(array(1, 2))", '"explode" as a table'),
        ("select * from t, posexplode(array(1, 2)) as p", '"posexplode" as a table'),
        ("select i32 >>> 1 as x from t", 'function "shiftrightunsigned"'),
        ("select count(*) as n from t group by window(ts, '1 day')", 'function "window"'),
    ],
)
def test_a_refusal_calls_what_it_is_about_as_sql_does(tables: Sequence[SqlTable], statement: str, lacked: str) -> None:
    schemas = {table.name: decode_schema(table.schema) for table in tables}
    with pytest.raises(BadQuery, match=f"The local engine cannot guarantee Spark's result for {lacked}"):
        translate_statement(statement, {}, schemas)


def test_what_the_local_engine_refuses_is_refused_by_its_plan(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s\na\n")
    job = QueryJob(
        statement="select soundex(s) as x from shop.t",
        database="shop",
        tables={"t": TableRef("t", Location(str(tmp_path / "t.csv")))},
    ).to_job()

    with pytest.raises(BadQuery, match="^query:1:8: The local engine cannot guarantee Spark's result for function"):
        answer(LocalExecutionClient({}).plan_job, job)


def test_what_is_put_together_at_random_shows_an_engine_that_answers_otherwise(
    tables: Sequence[SqlTable], capsys: pytest.CaptureFixture[str]
) -> None:
    """`scripts/compare_engines.py --composed` asks Spark; here the local engine stands beside one that is broken."""
    ask = asking(InProcessRunner(), tables)

    def broken(statement: str) -> pa.Table:
        return ask(statement.replace("length(", "1 + length("))

    asked = [each for each in composed(400, seed=1) if "length(" in each.text][:20]

    assert compare_composed(asked, ask, ask)["different"] == 0
    assert compare_composed(asked, broken, ask)["different"] > 0
    assert "different: select id" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("select 1 | 4 & 2 as x", 1),
        ("select 1 ^ 3 & 2 as x", 3),
        ("select 1 || 9 + 4 as x", 23),
        ("select true = false < false as x", False),
        ("select 'a' = 'a' like 'true' as x", True),
    ],
)
def test_operators_bind_as_they_do_in_spark(tables: Sequence[SqlTable], statement: str, value: object) -> None:
    assert asking(InProcessRunner(), tables)(statement).column("x").to_pylist() == [value]


def test_a_variable_of_a_function_comes_before_a_column_of_its_name(tables: Sequence[SqlTable]) -> None:
    found = asking(InProcessRunner(), tables)("select transform(array(9007199254740993), f64 -> f64 + 1) as x from t")
    assert found.column("x").to_pylist() == [[9007199254740994]] * 5


def test_not_like_any_is_true_where_one_pattern_does_not_fit(tables: Sequence[SqlTable]) -> None:
    ask = asking(InProcessRunner(), tables)
    (row,) = ask("select 'a' not like any ('a', 'b') as x, 'a' not like all ('a', 'b') as y").to_pylist()
    assert row == {"x": True, "y": False}


def test_keys_before_grouping_sets_do_not_multiply_the_groups(tables: Sequence[SqlTable]) -> None:
    found = asking(InProcessRunner(), tables)(
        "select ok, count(*) as n from t group by ok, i8 grouping sets ((ok), ())"
    )
    assert sorted(each["n"] for each in found.to_pylist()) == [1, 2, 2, 5]


def test_a_limit_takes_the_first_rows_of_sort_by(tables: Sequence[SqlTable]) -> None:
    found = asking(InProcessRunner(), tables)("select id from t sort by id desc limit 2")
    assert found.column("id").to_pylist() == [5, 4]


@pytest.mark.parametrize(
    "statement",
    [
        "WITH `a` AS (WITH `b` AS (SELECT 1 AS `x`) SELECT `x` FROM `b`) SELECT `x` FROM `a`",
        "SELECT `x` FROM (WITH `t` AS (SELECT 6 AS `x`) SELECT `x` FROM `t`)",
        "SELECT 1 << 2 + 1 AS `x`, 8 >> 1 AS `y`",
    ],
)
def test_with_inside_a_query_and_shifts_are_written_for_spark_as_they_stand(statement: str) -> None:
    assert render_for_spark(statement) == statement


def test_a_table_is_one_though_a_later_part_of_with_has_its_name() -> None:
    asked = "with a as (select id from t), t as (select 1 as id), b as (select id from t) select * from a, b"
    assert [each.name for each in parse_statement(asked).tables] == ["t"]
    own = "with t as (select id from t) select id from t"
    assert [each.name for each in parse_statement(own).tables] == ["t"]
