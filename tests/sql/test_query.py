from __future__ import annotations

import contextvars
import math
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.cli.views.run_view import step_rows
from mason.clients.local.execution import LocalExecutionClient
from mason.clients.response import Response
from mason.clients.spark.runners.connect import ConnectRunner
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadPath, InvalidParameters
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.query.job import QueryJob, QueryResult
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql import duckdb_engine
from mason.pipeline.sql.changing import find_changing_part
from mason.pipeline.sql.local.translation import Translation
from mason.pipeline.sql.query import BadQuery, TableChanged
from mason.pipeline.sql.statement import parse_statement
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.work.memory_limits import MemoryLimits, ResultTooLarge, limit_memory
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from tests.conftest import Mason, write
from tests.sql.conftest import Database

ORDERS = "id,country,price,day\n1,DE,10.50,2026-01-01\n2,FR,3.00,2026-01-02\n3,DE,,2026-01-03\n4,,7.25,\n"


def answers(database: Database, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in database.rows(statement, parameters)]


# What comes back


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "select country, count(*) n, sum(price) s, avg(price) a from orders group by country order by country",
            [
                (None, 1, Decimal("7.25"), Decimal("7.250000")),
                ("DE", 2, Decimal("10.50"), Decimal("10.500000")),
                ("FR", 1, Decimal("3.00"), Decimal("3.000000")),
            ],
        ),
        ("select sum(id) s, avg(id) a, count(distinct country) d from orders", [(10, 2.5, 2)]),
        ("select id from orders order by price", [(3,), (2,), (4,), (1,)]),
        ("select id from orders order by price desc", [(1,), (4,), (2,), (3,)]),
        ("select max(day) m, min(day) n from orders", [(date(2026, 1, 3), date(2026, 1, 1))]),
        ("select id / 2 h from orders where id = 1", [(0.5,)]),
        ("select o.id from shop.orders o where shop.o.id > 3", [(4,)]),
        ("select shop.orders.id from shop.orders where orders.id = 2", [(2,)]),
        ("with t as (select id i from orders) select sum(i) s from t", [(10,)]),
        ("select x from (values (1), (2)) v(x) order by x", [(1,), (2,)]),
        ("select a.id, b.country from orders a join orders b using (id) where b.id = 2", [(2, "FR")]),
        ("select id from orders where country is null union all select 9 as id order by id", [(4,), (9,)]),
        ("select 'a;b' as t, \"q'q\" as u", [("a;b", "q'q")]),
        ("select explode(sequence(1, 3)) as n", [(1,), (2,), (3,)]),
        ("select cast('2026-02-03 04:05:06' as timestamp_ntz) t", [(datetime(2026, 2, 3, 4, 5, 6),)]),
        ("select timestamp '2026-02-03 04:05:06' t", [(datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),)]),
        ("select upper(country) u, length(country) n from orders where id = 1", [("DE", 2)]),
        ("select id, row_number() over (order by id desc) r from orders where id < 3 order by id", [(1, 2), (2, 1)]),
        ("select case when price > 5 then 'dear' else 'cheap' end c from orders where id = 1", [("dear",)]),
        ("select * from orders where 1 = 0", []),
        ("select 1;", [(1,)]),
        ("select 1 -- one\n;\n-- done", [(1,)]),
    ],
)
def test_a_query_gives_the_same_rows_on_every_engine(
    database: Database, statement: str, expected: list[tuple[Any, ...]]
) -> None:
    database.given("orders", ORDERS)
    assert answers(database, statement) == expected


def test_columns_have_the_same_names_and_types_on_every_engine(database: Database) -> None:
    database.given("orders", ORDERS)
    result = database.ask("select count(*), sum(price), id + 1 as more, max(day), 'it''s' from orders group by id")
    assert result.rows is not None
    told = [(each.name, str(each.type)) for each in result.rows.schema]
    assert told == [
        ("COUNT(*)", "int64"),
        ("SUM(price)", "decimal128(28, 2)"),
        ("more", "int64"),
        ("MAX(day)", "date32[day]"),
        ("'it\\'s'", "string"),
    ]
    assert result.rows.column(4)[0].as_py() == "it's"


@pytest.mark.parametrize(
    "statement",
    [
        "select id as a, country as b from orders union all select id, country from orders",
        "select id as a, country as b from orders union select 1 as c, 'x' as d union all select 2 as e, 'y' as f",
        "(select id as a, country as b from orders except select 1, 'x') intersect select 2 as e, 'FR' as f",
        "with x as (select 1 as c, 'x' as d) select id as a, country as b from orders union select * from x union "
        "select 2 as e, 'y' as f",
        "select * from (select id as a, country as b from orders) union select 1 as c, 'x' as d union select 2, 'y'",
    ],
)
def test_a_union_has_the_names_of_its_first_query(database: Database, statement: str) -> None:
    database.given("orders", ORDERS)
    result = database.ask(statement)
    assert result.rows is not None and result.rows.column_names == ["a", "b"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select id is distinct from 1 as x from orders where id = 1", [(False,)]),
        ("select count(distinct id) as n, row_number() over (order by 1) as x from orders", [(4, 1)]),
        ("select ', ,' as x, `s`.`on` as y from (select named_struct('on', 1) as s)", [(", ,", 1)]),
        ("select sum(id) as s from orders group by grouping sets (())", [(10,)]),
    ],
)
def test_nothing_is_missing_where_a_list_may_be_empty(
    database: Database, statement: str, expected: list[tuple[Any, ...]]
) -> None:
    database.given("orders", ORDERS)
    assert answers(database, statement) == expected


def test_what_makes_several_columns_has_the_names_of_spark(spark_runner: TaskRunner, tmp_path: Path) -> None:
    database = Database(tmp_path, spark_runner)
    assert database.rows("select stack(2, 1, 'a', 2, 'b')") == [{"col0": 1, "col1": "a"}, {"col0": 2, "col1": "b"}]
    assert database.rows("""select json_tuple('{"a": 1, "b": 2}', 'a', 'b')""") == [{"c0": "1", "c1": "2"}]


@pytest.mark.parametrize("value", ["array()", "map()", "struct(1 as a, array() as b)"])
def test_a_list_of_nothing_is_an_error_of_the_query(database: Database, value: str) -> None:
    with pytest.raises(BadQuery, match="no type|of nothing"):
        database.rows(f"select {value} as x")


def test_parameters_are_bound_and_not_pasted(database: Database) -> None:
    database.given("orders", ORDERS)
    assert answers(database, "select id from orders where country = :c", c="DE' or '1'='1") == []
    assert answers(database, "select :t as t, :n as n, :f as f, :b as b", t="x'\"`\\", n=2**40, f=1.5, b=True) == [
        ("x'\"`\\", 2**40, 1.5, True)
    ]
    assert answers(database, "select id from orders where day > :since order by id", since="2026-01-01") == [(2,), (3,)]


def test_nested_values_and_every_type_come_back_as_they_are(database: Database) -> None:
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int64()),
            "d": pa.array([Decimal("1.10"), None], pa.decimal128(18, 2)),
            "f": pa.array([math.inf, None], pa.float64()),
            "t": pa.array([datetime(2026, 1, 1, 2, 3, 4, 5), None], pa.timestamp("us")),
            "z": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
            "b": pa.array([b"\0\xff", None], pa.binary()),
            "s": pa.array(
                [{"x": 1, "y": ["a", None]}, None], pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])
            ),
        }
    )
    database.given("t", table)
    result = database.ask("select * from t")
    assert result.rows is not None
    assert result.rows.to_pylist() == table.to_pylist()
    assert result.rows.schema.equals(table.schema)


def test_types_that_sql_does_not_have_are_those_in_which_spark_reads_them(database: Database) -> None:
    kinds = {"a": pa.uint8(), "b": pa.uint16(), "c": pa.uint32(), "d": pa.uint64()}
    largest = {name: 2**kind.bit_width - 1 for name, kind in kinds.items()}
    columns = {name: pa.array([1, largest[name]], kind) for name, kind in kinds.items()}
    lists, fixed = pa.array([[1], [255]], pa.list_(pa.uint8())), pa.array([b"abc", b"\0\1\2"], pa.binary(3))
    database.given("t", pa.table({**columns, "l": lists, "f": fixed}))
    result = database.ask("select *, a + 1 as more from t where c > 1")
    assert result.rows is not None
    told = ["int16", "int32", "int64", "decimal128(20, 0)", "list<item: int16>", "binary", "int32"]
    assert [str(kind).replace("element", "item") for kind in result.rows.schema.types] == told
    assert answers(database, "select a, b, c, d, l, f from t where a > 1") == [(*largest.values(), [255], b"\0\1\2")]


def test_a_partitioned_table_has_the_columns_of_its_folders(database: Database) -> None:
    database.given("orders", ORDERS + "5,a/b=%20c,1,2026-01-05\n", repartition_keys=("country",))
    found = answers(database, "select country, id from orders order by id")
    assert found == [("DE", 1), ("FR", 2), ("DE", 3), (None, 4), ("a/b=%20c", 5)]


def test_a_table_is_read_through_its_newest_commit_alone(database: Database) -> None:
    path = database.given("orders", ORDERS)
    pq.write_table(pa.table({"id": [99]}), path / "stray.parquet")
    assert answers(database, "select count(*) from orders") == [(4,)]


def test_files_that_are_no_table_of_masons_are_read_as_a_merge_reads_them(database: Database, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.csv").write_text("id,n\n1,01\n2,x\n")
    (plain / "b.jsonl").write_text('{"n": "y", "id": 3}\nbroken\n')
    database.tables["plain"] = TableRef("shop.plain", Location(str(plain)))
    result = database.ask("select id, n from plain order by id")
    assert result.rows is not None
    assert result.rows.to_pylist() == [{"id": 1, "n": "01"}, {"id": 2, "n": "x"}, {"id": 3, "n": "y"}]
    assert [each for each in result.warnings if "1 record could not be read" in each]


def test_no_more_rows_come_back_than_the_limit_and_that_is_said(database: Database) -> None:
    database.given("orders", ORDERS)
    result = database.ask("select id from orders order by id", limit=2)
    assert result.rows is not None
    assert result.rows.to_pylist() == [{"id": 1}, {"id": 2}]
    assert result.has_more
    assert "Only the first 2 rows are here" in " ".join(result.warnings)
    assert not database.ask("select id from orders", limit=4).has_more


# What is written


def test_a_result_becomes_a_table_by_a_commit(database: Database, tmp_path: Path) -> None:
    database.given("orders", ORDERS)
    output = tmp_path / "out"
    for expected in (1, 2):
        result = database.ask("select country, sum(price) s from orders group by country", output=str(output))
        assert result.commit is not None
        assert (result.commit.number, result.commit.rows) == (expected, 3)
    database.tables["again"] = TableRef("shop.again", Location(str(output)))
    assert answers(database, "select s from again where country = 'DE'") == [(Decimal("10.50"),)]
    assert not list(tmp_path.glob(".mason/tables/out/staging/*"))


@pytest.mark.parametrize("format_", ["csv", "jsonl", "json", "orc", "avro", "msgpack"])
def test_a_result_can_be_in_any_format(here: Database, tmp_path: Path, format_: str) -> None:
    here.given("orders", ORDERS)
    statement = "select id, country, price from orders"
    result = here.ask(statement, output=str(tmp_path / "out"), format=format_)
    assert result.commit is not None
    assert all(each.path.endswith(f".{format_}") for each in result.commit.files)
    expected = here.rows(statement)
    here.tables["again"] = TableRef("shop.again", Location(str(tmp_path / "out")))
    assert here.rows("select * from again order by id") == expected


def test_an_empty_result_becomes_a_table_with_its_columns(database: Database, tmp_path: Path) -> None:
    database.given("orders", ORDERS)
    database.ask("select id, price from orders where id > 100", output=str(tmp_path / "out"))
    scan = plan_scan(Location(str(tmp_path / "out")))
    assert (scan.rows, scan.schema.names) == (0, ["id", "price"])
    database.tables["again"] = TableRef("shop.again", Location(str(tmp_path / "out")))
    assert answers(database, "select count(*) from again") == [(0,)]


def test_a_query_leaves_no_view_in_the_session_of_spark(tmp_path: Path, spark_runner: ConnectRunner) -> None:
    database = Database(tmp_path, spark_runner)
    database.given("orders", "id\n1\n")
    database.given("odd `name`", "id\n1\n")

    assert database.rows("select count(*) as n from orders join `odd ``name``` using (id)") == [{"n": 1}]
    with pytest.raises(BadQuery):
        database.rows("select 1 / (id - id) as n from orders")

    assert [row.viewName for row in spark_runner._session("mason").sql("show views").collect()] == []


def test_a_query_may_replace_the_table_that_it_reads(database: Database) -> None:
    path = database.given("orders", ORDERS)
    database.ask("select * from orders where id < 3", output=str(path))
    assert answers(database, "select count(*) from orders") == [(2,)]


def test_an_output_that_has_a_table_in_it_is_refused(here: Database) -> None:
    """Its folder would be replaced, and all tables in it with it."""
    path = here.given("orders", ORDERS)
    for output in (path.parent, path / "out"):
        with pytest.raises(BadPath, match="lies inside"):
            here.work("select id from orders", output=str(output))


def test_a_row_that_is_lost_while_writing_fails_the_query(
    here: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mason.pipeline.formats.writers.table_writer import TableWriter

    here.given("orders", ORDERS)
    write = TableWriter.write
    monkeypatch.setattr(TableWriter, "write", lambda self, batch: write(self, batch.slice(1)))
    with pytest.raises(RowsLost, match="4 rows were to be written, but 3 were written"):
        here.ask("select * from orders", output=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


# The plan


def test_a_plan_says_what_the_run_then_reads(database: Database) -> None:
    database.given("orders", ORDERS)
    database.given("items", "order_id,sku\n1,a\n1,b\n")
    work = database.work("select o.id, count(sku) n from orders o join items i on o.id = i.order_id group by o.id")
    plan = work.to_dict()
    assert [(each["Name"], each["Columns"], each["Rows"]) for each in plan["Tables"]] == [
        ("orders", ["id"], 4),
        ("items", ["order_id", "sku"], 2),
    ]
    done = work.run(database.runner, "run", lambda *_: None).to_dict()
    assert {name: done[name] for name in plan} == plan
    assert (plan["RowsRead"], plan["FilesRead"]) == (6, 2)


def test_a_step_that_asked_a_query_is_shown_with_the_rows_that_it_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
    database = Database(tmp_path, InProcessRunner())
    database.given("orders", ORDERS)
    job = QueryJob(statement="select max(id) m from orders", database="shop", tables=database.tables).to_job()
    client = LocalExecutionClient({})

    plan, response = client.plan_job(job, response=Response())
    record, response = client.run_job(plan, response=response)

    said = {"Data": [record.to_dict()]}
    moment = "2026-11-16T18:14:41.042+00:00"
    step = {"Id": "ask", "Status": "succeeded", "Operator": "table:query", "Attempts": [], "Response": said}
    assert step_rows({"StartedAt": moment, "Steps": [step]})[0][5] == "4 → 1"


# How large an answer may be


def limited(most: int, ask: Callable[[], QueryResult]) -> QueryResult:
    """Ask as a server does."""

    def within() -> QueryResult:
        limit_memory(MemoryLimits(result_bytes=most))
        return ask()

    return contextvars.copy_context().run(within)


def test_rows_of_too_many_bytes_are_refused_and_kept_in_a_table_they_are_not(database: Database) -> None:
    database.given("orders", ORDERS)
    statement = "select id, repeat('a', 1000) r from orders"

    assert limited(5_000, lambda: database.ask(statement)).to_dict()["RowsOut"] == 4
    with pytest.raises(ResultTooLarge, match=r"The answer has more than 3,500 bytes.*output_path"):
        limited(3_500, lambda: database.ask(statement))
    kept = limited(3_500, lambda: database.ask(statement, output=str(database.root / "kept")))
    assert kept.to_dict()["RowsOut"] == 4


def test_a_limit_changes_neither_rows_nor_types(database: Database) -> None:
    database.given("orders", ORDERS)
    for statement in (
        "select *, array(id, null) l, named_struct('a', price) s, cast(day as timestamp) t from orders order by id",
        "select *, array(id, null) l, named_struct('a', price) s, cast(day as timestamp) t from orders where id > 9",
    ):
        expected, found = database.ask(statement).rows, limited(1_000_000, lambda s=statement: database.ask(s)).rows
        assert expected is not None and found is not None
        assert found.schema == expected.schema
        assert found.to_pylist() == expected.to_pylist()


def test_a_value_that_cannot_be_is_told_the_same_under_a_limit_and_in_a_table(database: Database) -> None:
    database.given("orders", ORDERS)
    statement = "select cast(country as int) c from orders order by id"

    for ask in (
        lambda: limited(1_000_000, lambda: database.ask(statement)),
        lambda: database.ask(statement, output=str(database.root / "kept")),
    ):
        with pytest.raises(BadQuery):
            ask()


# What is refused


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select 1; drop table orders", "query:1:11: A query is one statement, and here begins another."),
        ("select 1; select 2", "query:1:11: A query is one statement"),
        ("drop table orders", "query:1:1: A query reads"),
        ("insert into orders values (1)", "query:1:1: A query reads"),
        ("create table x as select 1", "query:1:1: A query reads"),
        ("with t as (select 1) insert into orders select * from t", "query:1"),
        ("update orders set id = 1", "query:1:1: A query reads"),
        ("merge into orders using orders o on 1=1 when matched then delete", "query:1:1: A query reads"),
        ("set spark.x = 1", "query:1:1: A query reads"),
        ("add jar 'x.jar'", "query:1:1: A query reads"),
        ("cache table orders", "query:1:1: A query reads"),
        ("explain select 1", "query:1:1: A query reads"),
        ("select transform(id) using 'sh -c id' from orders", "TRANSFORM … USING would run a script"),
        (
            "select reflect('java.lang.System', 'exit', 1)",
            'query:1:8: The function "reflect" is not allowed in a query',
        ),
        ("select java_method('java.lang.System', 'exit', 1)", "reaches beyond the tables"),
        ("select * from read_files('/etc/passwd')", "read_files(…) is not a table of the database"),
        ("select * from read_csv('/etc/passwd')", "is not a table of the database"),
        ("select * from identifier('orders')", "is not a table of the database"),
        ("selct 1", 'query:1:1: A query does not begin with "selct". Did you mean "SELECT"?'),
        ("select * from", "query:1:10: The query cannot be understood"),
        ("select (1", "The query cannot be understood"),
        ("select id from orders order by", 'cannot be understood near "order by": something is missing behind it.'),
        ("select id from orders group by", 'query:1:23: The query cannot be understood near "GROUP BY": something is'),
        ("select id,, price from orders", 'query:1:10: The query cannot be understood near ",": something is missing'),
        ("select id, from orders", 'query:1:10: The query cannot be understood near ",": something is missing behind'),
        ("select max(,id) from orders", 'query:1:12: The query cannot be understood near ",": something is missing'),
        ("select from orders", 'query:1:1: The query cannot be understood near "select": something is missing'),
        ("select distinct from orders", 'query:1:8: The query cannot be understood near "distinct": something is'),
        ("select 1 from orders o join orders p on", 'query:1:38: The query cannot be understood near "on": something'),
        ("select `a", "query:1:8: The query cannot be understood: a quote or a comment is opened and not closed"),
        ("select 'it''s',\n  'so", "query:2:3: The query cannot be understood: a quote or a comment is opened"),
        ("select 'don''t", "query:1:8: The query cannot be understood: a quote or a comment is opened and not closed"),
        ("select 1 /* one", "query:1:10: The query cannot be understood: a quote or a comment is opened and not"),
        ("select " + "(" * 3000 + "1" + ")" * 3000, "The query is nested too deeply to be understood."),
        ("", "The query is empty."),
        ("-- nothing", "The query is empty."),
        ("select\n  id,\n  contry\nfrom orders", 'query:3:3: There is no column "contry". Did you mean "country"?'),
    ],
)
def test_a_query_that_cannot_be_is_refused_where_it_stands(here: Database, statement: str, told: str) -> None:
    here.given("orders", ORDERS)
    with pytest.raises(BadQuery) as raised:
        here.work(statement)
    assert told in str(raised.value)


def test_a_query_that_can_be_read_but_not_be_followed_is_refused(here: Database) -> None:
    with pytest.raises(BadQuery, match="nested too deeply"):
        here.work("select " + "+".join(["1"] * 3000) + " as n").check_here()


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select o.id,\n  o.contry\nfrom orders o", 'query:2:5: There is no column "contry". Did you mean "country"?'),
        ("select id from orders o order by o.prize", 'query:1:36: There is no column "prize". Did you mean "price"?'),
        ("select count(*) from orders o group by o.day2", 'query:1:42: There is no column "day2". Did you mean "day"?'),
        ("select id.* from orders as o", 'query:1:8: There is no table "id". There are: o.'),
    ],
)
def test_a_column_that_its_own_table_does_not_have_is_told_where_it_stands(
    here: Database, statement: str, told: str
) -> None:
    here.given("orders", ORDERS)
    with pytest.raises(BadQuery) as raised:
        here.work(statement).check_here()
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "statement",
    [
        "select country, count(*) from orders",
        "select 1 / 0",
        "select cast('x' as int)",
        "select nosuchfunction(id) from orders",
        "select price.x from orders",
    ],
)
def test_what_only_the_engine_can_tell_is_an_error_of_the_query(database: Database, statement: str) -> None:
    database.given("orders", ORDERS)
    with pytest.raises(BadQuery) as raised:
        database.rows(statement)
    assert "\tat " not in str(raised.value)
    assert len(str(raised.value).splitlines()) <= 4


def test_what_spark_cannot_make_sense_of_is_told_once(mason: Mason, spark_runner: ConnectRunner) -> None:
    engines = "metastore_engine: local\nstorage_engine: local\nexecution_engine: spark\n"
    runner = f"runner: {{type: connect, url: '{spark_runner._settings.url}'}}\n"
    runner = f"clients:\n  spark:\n    configuration:\n      {runner}"
    write(mason.folder, {"spark.yaml": engines + runner, "shop/orders.csv": ORDERS})
    assert mason.register_examples()("config", "spark.yaml").exit_code == 0

    refused = mason("operator", "table", "query", "-p", "database_name:shop,query_string:select o.contry from orders o")

    _, _, error = refused.stderr.partition("error: ")
    assert error.startswith("query:1:8: A column, variable, or function parameter with name `o`.`contry` cannot be")
    assert "JVM" not in refused.stderr and max(map(len, refused.stderr.splitlines())) < 300


def test_a_column_that_is_not_grouped_is_told_where_it_stands(here: Database) -> None:
    here.given("orders", ORDERS)
    with pytest.raises(BadQuery) as raised:
        here.rows("select max(price) m,\n  country\nfrom orders")
    assert 'query:2:3: "country" is neither in GROUP BY nor inside of an aggregate' in str(raised.value)


def test_two_columns_of_one_name_are_refused_rather_than_one_of_them_lost(database: Database) -> None:
    database.given("orders", ORDERS)
    for statement in ("select id, id from orders", "select * from orders a join orders b on a.id = b.id"):
        with pytest.raises(BadQuery, match='two columns called "id"'):
            database.rows(statement)


def test_parameters_that_are_missing_or_not_asked_for_are_all_named(here: Database) -> None:
    with pytest.raises(InvalidParameters) as raised:
        here.work("select :a, :b", {"b": 1, "c": 2})
    assert '":a" open' in str(raised.value)
    assert 'no parameter ":c"' in str(raised.value)


def test_a_table_that_vanishes_during_the_query_is_told_so(database: Database, tmp_path: Path) -> None:
    path = database.given("orders", ORDERS)
    work = database.work("select sum(price) from orders")
    shutil.rmtree(path)
    with pytest.raises(TableChanged, match="gone"):
        work.run(database.runner, "gone", lambda *_: None)


def test_nothing_but_the_tables_is_within_reach_of_the_engine_here(here: Database, tmp_path: Path) -> None:
    """Should a statement get past the checks, the engine itself cannot read or write other files."""
    here.given("orders", ORDERS)
    secret = tmp_path / "secret.parquet"
    pq.write_table(pa.table({"a": [1]}), secret)
    work = here.work("select 1 as a")
    for statement in (f"select * from '{secret}'", f"copy (select 1) to '{tmp_path}/new.csv'", "install httpfs"):
        reaching = Translation(statement, [("a", pa.int32())], [])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(duckdb_engine, "to_duckdb", lambda query, reaching=reaching: reaching)
            with pytest.raises(BadQuery, match="disabled by configuration"):
                work.run(InProcessRunner(), "reach", lambda *_: None)
    assert not (tmp_path / "new.csv").exists()


# Odd tables


@pytest.mark.parametrize("name", ["select", "a.b", 'quo"te', "back`tick", "sp ace", "Ünïcode😀", "semi;colon", "x'y"])
def test_any_name_of_a_column_can_be_asked_for(database: Database, name: str) -> None:
    database.given("t", pa.table({name: [1, 2]}))
    spelled = "`" + name.replace("`", "``") + "`"
    assert database.rows(f"select {spelled} from t order by 1") == [{name: 1}, {name: 2}]
    assert answers(database, f"select sum(t.{spelled}) s from t") == [(3,)]
    database.ask(f"select {spelled} from t", output=str(database.root / "again"))
    database.tables["again"] = TableRef("shop.again", Location(str(database.root / "again")))
    assert database.rows("select * from again order by 1") == [{name: 1}, {name: 2}]


def test_sql_in_the_names_of_columns_is_a_name(database: Database) -> None:
    name = "x from t; drop table t; --"
    database.given("t", pa.table({name: [1]}))
    assert database.rows("select * from t") == [{name: 1}]


@pytest.mark.parametrize("name", ["select", "a b", 'quo"te', "Ünïcode😀", "x;y", "[a]{b,c}*?", "back\\slash", "100%20"])
def test_any_name_of_a_table_can_be_asked_for(database: Database, name: str) -> None:
    database.given(name, pa.table({"a": [1]}))
    assert database.rows(f"select a from `{name}`") == [{"a": 1}]


def test_an_empty_table_and_one_of_nulls_only(database: Database, tmp_path: Path) -> None:
    database.given("nulls", pa.table({"a": pa.array([None, None], pa.string())}))
    assert answers(database, "select count(*), count(a), max(a) from nulls") == [(2, 0, None)]
    database.ask("select * from nulls where a = 'x'", output=str(tmp_path / "empty"))
    database.tables["empty"] = TableRef("shop.empty", Location(str(tmp_path / "empty")))
    assert answers(database, "select count(*), max(a) from empty") == [(0, None)]


def test_five_thousand_columns(here: Database) -> None:
    here.given("wide", pa.table({f"c{number}": [number] for number in range(5000)}))
    assert here.rows("select c4999, c0 from wide") == [{"c4999": 4999, "c0": 0}]


def test_a_commit_during_the_query_leaves_its_answer_whole_or_says_so(here: Database) -> None:
    path = here.given("orders", ORDERS)
    work = here.work("select count(*) n from orders")
    here.given("orders", "id,country,price,day\n9,DE,1.00,2026-01-01\n")
    assert TableFolder(str(path)).current() is not None
    with pytest.raises(TableChanged, match="Run it again"):
        work.run(here.runner, "late", lambda *_: None)


@pytest.mark.parametrize("value", ["cast(b as string)", "array(cast(b as string))", "concat('a', cast(b as string))"])
def test_bytes_that_are_no_text_are_an_error_of_the_query_on_every_engine(
    database: Database, tmp_path: Path, value: str
) -> None:
    database.given("files", pa.table({"b": [b"AB", b"\xffA"]}))

    assert database.rows("select cast(b as string) as x from files where hex(b) = '4142'") == [{"x": "AB"}]
    with pytest.raises(BadQuery, match="The query makes text of bytes that are not UTF-8."):
        database.ask(f"select {value} as x from files")
    with pytest.raises(BadQuery, match="The query makes text of bytes that are not UTF-8."):
        database.ask(f"select {value} as x from files", output=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_comment_that_spark_would_end_elsewhere_is_refused_on_every_engine(database: Database) -> None:
    database.given("orders", ORDERS)

    with pytest.raises(BadQuery, match="^query:1:23: This comment ends in a backslash"):
        database.ask("select id from orders -- those that \\\nwhere id > 1")


@pytest.mark.parametrize("text", ["${env:HOME}", "${system:user.name}", "${spark.app.name}", "${hivevar:x}"])
def test_what_spark_would_replace_in_a_statement_is_text_on_every_engine(database: Database, text: str) -> None:
    database.given("orders", ORDERS)

    assert answers(database, f"select '{text}' as x from orders where id = 1") == [(text,)]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select * from t where day > current_date - interval 1 day", "the time"),
        ("select x from (select now() as x from t)", "the time"),
        ("select unix_timestamp() from t", "the time"),
        ("select * from t order by rand()", "chance"),
        ("select * from t tablesample (10 percent)", "chance"),
        ("select unix_timestamp(now), date_add(day, 1) from t", ""),
    ],
)
def test_a_query_says_on_what_it_depends_besides_the_rows(statement: str, told: str) -> None:
    assert find_changing_part(parse_statement(statement)) == told
