"""Rows for Python and rows from Python: `m.sql`, `m.table`, `m.save` and the operators as functions."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mason
from mason.connection.connection import Connection
from mason.errors import BadInput, NotFound, Unprocessable
from tests.connection.conftest import TYPED

CUSTOMERS = pa.table({"id": [1, 2], "country": ["NO", "PT"]})


@pytest.fixture
def crm(embedded: Connection) -> Connection:
    """A second database, with a table of a name that the first has, too."""
    for name in ("customers", "orders"):
        Path("data/crm").mkdir(parents=True, exist_ok=True)
        embedded.save(CUSTOMERS, f"crm.{name}")
    return embedded


def test_the_rows_of_a_query_are_arrow_in_their_types(m: Connection) -> None:
    rows = m.sql("SELECT * FROM shop.typed")

    assert rows.to_arrow().equals(TYPED)
    assert len(rows) == 3


def test_the_rows_of_a_table_need_no_statement(m: Connection) -> None:
    assert m.table("shop.typed", columns=["id", "name"]).to_arrow().equals(TYPED.select(["id", "name"]))


def test_rows_become_frames_of_pandas_and_polars(m: Connection) -> None:
    rows = m.table("shop.typed")

    assert rows.to_pandas()["id"].dropna().tolist() == [1, 2**60]
    assert rows.to_polars()["price"].to_list() == [Decimal("1.10"), None, Decimal("-2.00")]


def test_rows_come_as_batches_for_what_exceeds_memory(m: Connection) -> None:
    with m.sql("SELECT id FROM shop.typed").batches() as batches:
        assert batches.read_all().to_pydict() == {"id": [1, None, 2**60]}


def test_values_for_a_statement_are_bound(m: Connection) -> None:
    found = m.sql("SELECT id FROM orders WHERE price > :least", database="shop", parameters={"least": 3})

    assert found.to_arrow().to_pydict() == {"id": [2]}


def test_there_is_no_limit_in_this_process(embedded: Connection) -> None:
    many = embedded.sql("SELECT a.id FROM range(400) a CROSS JOIN range(400) b")

    assert len(many) == 160_000


def test_the_query_is_a_job_with_a_record(embedded: Connection) -> None:
    before = {each["JobID"] for each in embedded.jobs(limit=100).data[0:]}

    embedded.sql("SELECT count(*) AS n FROM shop.orders").to_arrow()

    [added] = [each for each in embedded.jobs(limit=100).data if each["JobID"] not in before]
    assert (added["JobType"], added["Status"], added["RowsOut"]) == ("query", "succeeded", 1)


def test_tables_of_two_databases_are_joined(crm: Connection) -> None:
    found = crm.sql(
        "SELECT o.id, customers.country FROM shop.orders o JOIN crm.customers USING (id) WHERE crm.customers.id = 1"
    )

    assert found.to_arrow().to_pydict() == {"id": [1], "country": ["NO"]}


def test_tables_of_one_name_in_two_databases_are_told_apart(crm: Connection) -> None:
    found = crm.sql("SELECT o.id, c.country FROM shop.orders o JOIN crm.orders AS c ON o.id = c.id ORDER BY o.id")

    assert found.to_arrow().to_pydict() == {"id": [1, 2], "country": ["NO", "PT"]}


def test_an_error_in_a_join_of_databases_points_into_the_text_as_it_was_written(crm: Connection) -> None:
    text = "SELECT o.id, c.land FROM shop.orders o JOIN crm.orders AS c ON o.id = c.id"
    with pytest.raises(Unprocessable, match=r"query:1:16: There is no column \"land\".*\n  " + text[:60]):
        crm.sql(text).to_arrow()


BAD_QUERIES = [
    ("SELECT * FROM orders", Unprocessable, 'In which database is "orders"? Write it as database.orders.'),
    ("SELECT * FROM shop.nothing", Unprocessable, 'There is no table "nothing" in the database "shop".'),
    ("SELECT * FROM nowhere.orders", NotFound, "nowhere"),
    ("SELECT * FROM shop.orders JOIN crm.`orders` USING (id)", Unprocessable, "stands in backticks"),
]


@pytest.mark.parametrize(("statement", "kind", "said"), BAD_QUERIES)
def test_a_table_that_cannot_be_found_is_named(
    crm: Connection, statement: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as error:
        crm.sql(statement).to_arrow()

    assert said in str(error.value)


OTHER_MEANINGS = [
    ("WITH orders AS (SELECT 666 AS id) SELECT * FROM shop.orders", 'WITH defines "orders"'),
    ("WITH shop_orders AS (SELECT 666 AS id) SELECT * FROM shop.orders, crm.orders", 'WITH defines "shop_orders"'),
    ("SELECT * FROM shop .orders, crm.orders o, crm.shop", "apart from its database"),
    ("SELECT * FROM shop./*a.b*/orders, crm.orders o, crm.shop", "apart from its database"),
    ("SELECT orders.id FROM shop.orders, crm.orders", "which one is it? Give the table a short name"),
]


@pytest.mark.parametrize(("statement", "said"), OTHER_MEANINGS)
def test_a_table_is_never_another_one_that_the_statement_calls_alike(
    crm: Connection, statement: str, said: str
) -> None:
    crm.save(CUSTOMERS, "crm.shop")

    with pytest.raises(Unprocessable, match=re.escape(said)):
        crm.sql(statement).to_arrow()


def test_a_table_defined_by_with_may_read_the_one_of_its_name(crm: Connection) -> None:
    found = crm.sql("WITH orders AS (SELECT * FROM crm.orders) SELECT orders.id FROM orders ORDER BY id")

    assert found.to_arrow().to_pydict() == {"id": [1, 2]}


def test_of_two_tables_of_one_name_that_of_the_own_database_needs_no_database(crm: Connection) -> None:
    statement = "SELECT orders.id, c.country FROM orders JOIN crm.orders AS c ON orders.id = c.id ORDER BY orders.id"

    assert crm.sql(statement, database="shop").to_arrow()["country"].to_pylist() == ["NO", "PT"]


def test_the_field_of_a_table_that_is_called_as_a_database_is_a_field(crm: Connection) -> None:
    crm.save(pa.table({"orders": [{"id": 7}], "n": [1]}), "crm.nested")

    statement = "SELECT shop.orders.id AS found FROM nested AS shop JOIN customers AS orders ON shop.n = orders.id"
    rows = crm.sql(statement, database="crm").to_arrow()
    of_both = crm.sql(f"{statement} WHERE 1 IN (SELECT id FROM shop.orders)", database="crm").to_arrow()

    assert rows.to_pydict() == of_both.to_pydict() == {"found": [7]}


def test_a_frame_that_fails_in_the_middle_leaves_the_table_and_says_what_failed(crm: Connection) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield CUSTOMERS.to_batches()[0]
        raise RuntimeError("the source is gone")

    with pytest.raises(BadInput, match="The frame has failed: RuntimeError: the source is gone. The table is what"):
        crm.save(pa.RecordBatchReader.from_batches(CUSTOMERS.schema, batches()), "crm.customers")

    assert crm.table("crm.customers").to_arrow().num_rows == 2


def test_rows_that_are_given_up_in_the_middle_leave_no_file(
    crm: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with (
        pytest.raises(KeyError),
        crm.sql("SELECT a.id FROM crm.customers a CROSS JOIN range(100000)").batches() as batches,
    ):
        batches.read_next_batch()
        assert list(tmp_path.glob("mason-*"))
        raise KeyError

    assert list(tmp_path.glob("mason-*")) == []


@pytest.mark.parametrize("name", ["orders", ".orders", "shop."])
def test_a_table_is_named_with_its_database(embedded: Connection, name: str) -> None:
    with pytest.raises(BadInput, match=r"database\.table"):
        embedded.table(name)


FRAMES: list[Callable[[], Any]] = [
    lambda: CUSTOMERS,
    lambda: CUSTOMERS.to_batches()[0],
    lambda: CUSTOMERS.to_reader(),
    lambda: CUSTOMERS.to_pandas(),
    lambda: pl.from_arrow(CUSTOMERS),
    lambda: pl.from_arrow(CUSTOMERS).with_columns(pl.col("country").cast(pl.Categorical)),  # type: ignore[union-attr]
]


@pytest.mark.parametrize("make", FRAMES)
def test_a_frame_becomes_a_table(embedded: Connection, make: Callable[[], Any]) -> None:
    saved = embedded.save(make(), "shop.saved")

    assert saved.data[0]["RowsOut"] == 2
    assert embedded.table("shop.saved").to_arrow().equals(CUSTOMERS)


def test_types_come_back_as_they_were_saved(embedded: Connection) -> None:
    embedded.save(TYPED, "shop.typed_again")

    assert embedded.table("shop.typed_again").to_arrow().equals(TYPED)


def test_a_frame_is_added_to_a_table(embedded: Connection) -> None:
    embedded.save(CUSTOMERS, "shop/added")
    embedded.save(pd.DataFrame({"id": [3], "country": [None]}), "shop/added", mode="append")

    assert embedded.table("shop.added").to_arrow()["id"].to_pylist() == [1, 2, 3]


def test_a_frame_of_no_rows_keeps_its_columns(embedded: Connection) -> None:
    embedded.save(CUSTOMERS.slice(0, 0), "shop.empty")

    assert embedded.table("shop.empty").to_arrow().schema.equals(CUSTOMERS.schema)


NO_FRAMES = [
    (lambda: [1, 2], "list is not a frame"),
    (lambda: pa.table({}), "The frame has no columns"),
    (lambda: pd.DataFrame({"a": [1, "x"]}), "The frame cannot be taken"),
    (lambda: pa.table({"gap": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}), '"gap" is of the type'),
]


@pytest.mark.parametrize(("make", "said"), NO_FRAMES)
def test_what_no_table_holds_is_refused_by_name(embedded: Connection, make: Callable[[], Any], said: str) -> None:
    with pytest.raises(BadInput) as error:
        embedded.save(make(), "shop.never")

    assert said in str(error.value)
    with pytest.raises(NotFound):
        embedded.operator("table", "get", database_name="shop", table_name="never")


@pytest.mark.parametrize(
    ("given", "said"), [({"mode": "add"}, '"add" is not a mode'), ({"keys": ["id"]}, "keys are for the mode upsert")]
)
def test_a_way_to_save_that_there_is_not_is_refused(embedded: Connection, given: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        embedded.save(CUSTOMERS, "shop.never", **given)


def test_operators_are_functions_with_signatures(m: Connection) -> None:
    merge = m.operators.table.merge

    assert "table" in dir(m.operators) and "merge" in dir(m.operators.table)
    assert {"input_path", "output_path"} <= set(inspect.signature(merge).parameters)
    assert "input_path" in (merge.__doc__ or "")
    assert m.operators.table.get(database_name="shop", table_name="orders").data[0]["Name"] == "orders"


def test_an_operator_that_there_is_not_is_told_by_name(m: Connection) -> None:
    with pytest.raises(AttributeError, match='no operator "table:marge".*merge'):
        _ = m.operators.table.marge


def test_rows_are_shown_as_a_table_in_a_notebook(embedded: Connection) -> None:
    html = embedded.table("shop.typed")._repr_html_()

    assert "&lt;b&gt;saw&lt;/b&gt;" in html and "3 rows" in html


def test_rows_become_a_frame_of_spark(embedded: Connection) -> None:
    with pytest.raises(BadInput, match="No Spark session is active"):
        mason.connect(config="files").table("shop.orders").to_spark()
