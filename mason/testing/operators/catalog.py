"""Operators that ask and tell the metastore."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from mason.engines.metastore.models.table import Table
from mason.errors import DatabaseNotFound, TableNotFound
from mason.testing.contract import fails_with
from mason.testing.operators.fixtures import OperatorFixtures, Operators, write_parquet
from mason.testing.place import Place

_ROWS = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "name": pa.array(["Ann", None], pa.string()),
        "day": pa.array([None, None], pa.date32()),
    }
)
FILES: dict[str, Any] = {
    "csv": b"id,name,day\n1,Ann,2026-01-31\n2,,\n",
    "jsonl": b'{"id": 1, "name": "Ann"}\n{"id": 2, "name": null}\n',
    "parquet": _ROWS,
}
TYPES = {
    "csv": {"id": pa.int64(), "name": pa.string(), "day": pa.date32()},
    "jsonl": {"id": pa.int64(), "name": pa.string()},
    "parquet": {"id": pa.int64(), "name": pa.string(), "day": pa.date32()},
}


def write_files(place: Place, kind: str) -> str:
    """Write the files of a table in a format and return its path."""
    file = f"people/part.{kind}"
    written = write_parquet(place, file, FILES[kind]) if kind == "parquet" else str(place.write(file, FILES[kind]))
    return written.rpartition("/")[0]


class CatalogTests(OperatorFixtures):
    @pytest.mark.parametrize("kind", FILES)
    def test_a_table_that_was_inferred_is_listed_and_has_its_types(
        self, operators: Operators, place: Place, database: str, kind: str
    ) -> None:
        path = write_files(place, kind)

        operators("table:infer", database_name=database, storage_path=path, table_name="people")

        assert [each.name for each in operators("table:list", database_name=database).object] == ["people"]
        found = operators("table:get", database_name=database, table_name="people").object
        assert isinstance(found, Table)
        assert found.path.rstrip("/").endswith("/people")
        assert {each.name: each.type for each in found.schema.columns} == TYPES[kind]

    def test_partitions_are_those_of_the_folders(self, operators: Operators, place: Place, database: str) -> None:
        for year, region in ((2027, "eu"), (2026, "us"), (2026, "eu"), (2026, "__HIVE_DEFAULT_PARTITION__")):
            place.write(f"sales/year={year}/region={region}/a.csv", b"id,price\n1,2.50\n")
        path = str(place.below("sales"))

        operators("table:infer", database_name=database, storage_path=path, table_name="sales")

        table = operators("table:get", database_name=database, table_name="sales").object
        assert list(table.partition_keys) == ["year", "region"]
        found = operators("table:partitions", database_name=database, table_name="sales").object
        assert sorted((each.values["year"], each.values["region"] or "") for each in found) == [
            ("2026", ""),
            ("2026", "eu"),
            ("2026", "us"),
            ("2027", "eu"),
        ]

    def test_a_table_that_was_deleted_is_gone(self, operators: Operators, place: Place, database: str) -> None:
        operators("table:infer", database_name=database, storage_path=write_files(place, "csv"), table_name="people")

        operators("table:delete", database_name=database, table_name="people")

        assert list(operators("table:list", database_name=database).object or ()) == []
        with fails_with(TableNotFound):
            operators("table:get", database_name=database, table_name="people")

    def test_a_database_is_found_and_listed_until_it_is_deleted(self, operators: Operators, database: str) -> None:
        assert operators("database:get", database_name=database).object.name == database
        assert database in [each.name for each in operators("database:list").object]

        operators("database:delete", database_name=database)

        assert database not in [each.name for each in operators("database:list").object or ()]
        with fails_with(DatabaseNotFound):
            operators("database:get", database_name=database)

    @pytest.mark.parametrize("kind", FILES)
    def test_a_preview_shows_rows_in_the_types_of_the_table(
        self, operators: Operators, place: Place, database: str, kind: str
    ) -> None:
        operators("table:infer", database_name=database, storage_path=write_files(place, kind), table_name="people")

        preview = operators("table:preview", database_name=database, table_name="people").object

        assert {each.name: each.type for each in preview.schema} == TYPES[kind]
        assert [(row["id"], row["name"]) for row in preview.rows] == [(1, "Ann"), (2, None)]

    def test_a_database_that_is_not_there_is_named(self, operators: Operators, database: str) -> None:
        with fails_with(DatabaseNotFound, saying=f"{database}_missing"):
            operators("table:list", database_name=f"{database}_missing")
