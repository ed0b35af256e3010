"""`table query` on tables that the metastore knows."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from mason.errors import DatabaseNotFound
from mason.pipeline.sql.query import BadQuery
from mason.pipeline.tables.commit import open_table
from mason.pipeline.types.evidence_json import decode_schema
from mason.testing.contract import fails_with
from mason.testing.golden import ANSWERS, TABLES
from mason.testing.operators.catalog import FILES, write_files
from mason.testing.operators.fixtures import OperatorFixtures, Operators, job_of, needs_job, write_parquet
from mason.testing.place import Place

EVERY_TYPE = ANSWERS[0]


class QueryTests(OperatorFixtures):
    @pytest.mark.parametrize("kind", FILES)
    @needs_job("query")
    def test_files_of_each_format_give_the_same_rows(
        self, operators: Operators, place: Place, database: str, jobs: list[str], kind: str
    ) -> None:
        operators("table:infer", database_name=database, storage_path=write_files(place, kind), table_name="people")

        asked = operators("table:query", database_name=database, query_string="select id, name from people order by id")

        done = job_of(asked).details
        assert [(each["Name"], each["Type"]) for each in done["Columns"]] == [("id", "int64"), ("name", "string")]
        assert done["Rows"] == [{"id": 1, "name": "Ann"}, {"id": 2, "name": None}]

    @needs_job("query")
    def test_every_type_and_its_nulls_come_back_as_they_are(
        self, operators: Operators, place: Place, database: str, jobs: list[str]
    ) -> None:
        self._save_orders(operators, place, database)

        done = job_of(operators("table:query", database_name=database, query_string=EVERY_TYPE.statement)).details

        assert {each["Name"]: each["Type"] for each in done["Columns"]} == EVERY_TYPE.types
        assert done["Rows"] == EVERY_TYPE.rows

    @needs_job("query")
    def test_the_columns_of_folders_are_columns(
        self, operators: Operators, place: Place, database: str, jobs: list[str]
    ) -> None:
        for year in (2026, 2027):
            place.write(f"sales/year={year}/a.csv", f"id,price\n{year - 2025},2.50\n".encode())
        path = str(place.below("sales"))
        operators("table:infer", database_name=database, storage_path=path, table_name="sales")

        asked = operators(
            "table:query", database_name=database, query_string="select id, year from sales where year > 2026"
        )

        assert job_of(asked).details["Rows"] == [{"id": 2, "year": 2027}]

    @needs_job("query")
    def test_all_rows_of_a_query_become_a_table(
        self, operators: Operators, place: Place, database: str, jobs: list[str]
    ) -> None:
        self._save_orders(operators, place, database)
        output = str(place.below("dear"))
        statement = "select id, name, price, day, tags from orders where price > :least"

        written = job_of(self._query_into_table(operators, database, statement, output, {"least": 5}))

        assert written.details["RowsOut"] == 2
        preview = operators("table:preview", path=output).object
        golden = TABLES["orders"].schema
        assert [(each.name, each.type) for each in preview.schema] == [
            (name, golden.field(name).type) for name in ("id", "name", "price", "day", "tags")
        ]
        assert sorted(preview.rows, key=lambda row: int(row["id"])) == [
            {"id": 1, "name": "Ann", "price": _price("10.50"), "day": date(2026, 1, 1), "tags": ["a", None]},
            {"id": 4, "name": "Zoë 🙂", "price": _price("7.25"), "day": None, "tags": ["null", "", 'q"q']},
        ]

    @needs_job("query")
    def test_no_rows_become_a_table_without_rows(
        self, operators: Operators, place: Place, database: str, jobs: list[str]
    ) -> None:
        self._save_orders(operators, place, database)
        output = str(place.below("none"))

        written = job_of(
            self._query_into_table(operators, database, "select id, day from orders where 1 = 0", output, {})
        )

        record = open_table(operators.config.location(output)).current()
        assert record is not None
        assert written.details["RowsOut"] == record.rows == 0
        schema = decode_schema(record.schema)
        assert [(each.name, str(each.type)) for each in schema] == [("id", "int64"), ("day", "date32[day]")]

    @needs_job("query")
    def test_a_table_that_is_not_there_is_named_with_its_place(
        self, operators: Operators, place: Place, database: str, jobs: list[str]
    ) -> None:
        self._save_orders(operators, place, database)

        with fails_with(BadQuery, saying='query:1:15: There is no table "oders"'):
            operators("table:query", database_name=database, query_string="select * from oders")
        with fails_with(DatabaseNotFound):
            operators("table:query", database_name=f"{database}_missing", query_string="select * from orders")

    def _save_orders(self, operators: Operators, place: Place, database: str) -> None:
        path = write_parquet(place, "orders/part.parquet", TABLES["orders"]).rpartition("/")[0]
        operators("table:infer", database_name=database, storage_path=path, table_name="orders")

    def _query_into_table(
        self, operators: Operators, database: str, statement: str, output: str, given: dict[str, Any]
    ) -> Any:
        asked = {"database_name": database, "query_string": statement, "output_path": output}
        return operators("table:query", **asked, **({"parameters": given} if given else {}))


def _price(text: str) -> Any:
    return next(row["price"] for row in EVERY_TYPE.rows if str(row["price"]) == text)
