"""Operators that run jobs other than queries, and those that ask what became of a job."""

from __future__ import annotations

from typing import Any

from mason.errors import NotFound
from mason.testing.contract import fails_with
from mason.testing.operators.fixtures import OperatorFixtures, Operators, job_of, needs_job
from mason.testing.place import Place

OLD = {
    "old/a.csv": b"id,name,at\n1,Ann,2026-01-01\n1,Anna,2026-01-03\n2,Bob,\n",
    "old/b.jsonl": b'{"name": "Cid", "id": 3}\n{"id": 4, "name": null, "note": "n\xc3\xabw"}\n',
}
NEW = {"new/a.csv": b"id,name\n1,Anna\n2,Ben\n5,Eve\n"}
NESTED = {
    "nested/orders.jsonl": b'{"id": 7, "customer": {"name": "Ann"}, "items": [{"sku": "saw"}, {"sku": "axe"}]}\n'
    b'{"id": 8, "customer": null, "items": []}\n'
}


class JobTests(OperatorFixtures):
    @needs_job("merge")
    def test_a_merge_matches_columns_by_name_and_loses_no_row(
        self, operators: Operators, place: Place, jobs: list[str]
    ) -> None:
        output = str(place.below("merged"))

        done = job_of(operators("table:merge", input_path=_write_files(place, OLD), output_path=output)).details

        assert (done["RowsIn"], done["RowsOut"], done["RowsQuarantined"]) == (5, 5, 0)
        assert _rows(operators, output, "id", "name", "note") == [
            (1, "Ann", None),
            (1, "Anna", None),
            (2, "Bob", None),
            (3, "Cid", None),
            (4, None, "nëw"),
        ]

    @needs_job("dedupe")
    def test_a_dedupe_keeps_one_row_of_each_key(self, operators: Operators, place: Place, jobs: list[str]) -> None:
        output = str(place.below("latest"))
        asked = {"path": _write_files(place, OLD), "keys": "id", "order_by": "at", "keep": "last"}

        operators("table:dedupe", **asked, output_path=output)

        assert _rows(operators, output, "id", "name") == [(1, "Anna"), (2, "Bob"), (3, "Cid"), (4, None)]

    @needs_job("diff")
    def test_a_diff_says_what_was_added_removed_and_changed(
        self, operators: Operators, place: Place, jobs: list[str]
    ) -> None:
        place.write("old/a.csv", b"id,name\n1,Anna\n2,Bob\n3,Cid\n")
        asked = {"path": str(place.below("old")), "other_path": _write_files(place, NEW), "keys": "id"}

        done = job_of(operators("table:diff", **asked)).details

        counts = [done[name] for name in ("RowsSame", "RowsAdded", "RowsRemoved", "RowsChanged")]
        assert counts == [1, 1, 1, 1]

    @needs_job("summarize")
    def test_a_summary_counts_values_nulls_and_kinds(self, operators: Operators, place: Place, jobs: list[str]) -> None:
        done = job_of(operators("table:summarize", path=_write_files(place, OLD))).details

        assert done["Rows"] == 5
        expected = {
            each["Name"]: (each["Type"], each["Count"], each["Nulls"], each["Distinct"]) for each in done["Columns"]
        }
        assert expected["id"] == ("int64", 5, 0, 4)
        assert expected["name"] == ("string", 4, 1, 4)

    @needs_job("format")
    def test_a_table_is_written_in_another_format(self, operators: Operators, place: Place, jobs: list[str]) -> None:
        output = str(place.below("as_csv"))
        asked = {"path": _write_files(place, NEW), "format": "csv", "filter": "id <> 2"}

        done = job_of(operators("table:format", **asked, output_path=output)).details

        assert (done["RowsIn"], done["RowsOut"], done["RowsFiltered"]) == (3, 2, 1)
        assert _rows(operators, output, "id", "name") == [(1, "Anna"), (5, "Eve")]

    @needs_job("explode")
    def test_nested_records_become_flat_tables(self, operators: Operators, place: Place, jobs: list[str]) -> None:
        source = f"{_write_files(place, NESTED)}/orders.jsonl"
        output = str(place.below("flat"))

        done = job_of(operators("table:explode", path=source, output_path=output)).details

        assert (done["RowsIn"], done["RowsOut"]) == (2, 2)
        assert _rows(operators, f"{output}/orders", "id", "customer_name", "items_count") == [
            (7, "Ann", 2),
            (8, None, 0),
        ]
        assert _rows(operators, f"{output}/orders_items", "orders_id", "sku") == [(0, "axe"), (0, "saw")]

    @needs_job("query")
    def test_a_job_is_found_and_listed_afterwards_and_is_over(
        self, operators: Operators, database: str, jobs: list[str]
    ) -> None:
        done = job_of(operators("table:query", database_name=database, query_string="select 1 as one"))

        assert job_of(operators("job:get", job_id=done.id)).status == "succeeded"
        assert done.id in [each.id for each in operators("job:list").object]
        assert job_of(operators("job:cancel", job_id=done.id)).status == "succeeded"

    def test_a_job_that_is_not_there_is_named(self, operators: Operators) -> None:
        with fails_with(NotFound, saying="no-such-job"):
            operators("job:get", job_id="no-such-job")


def _write_files(place: Place, files: dict[str, bytes]) -> str:
    """Write files and return the path of the folder that they are in."""
    paths = [place.write(name, content) for name, content in files.items()]
    return str(paths[0]).rpartition("/")[0]


def _rows(operators: Operators, path: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return what a table holds, in an order that no engine decides."""
    rows = operators("table:preview", path=path).object.rows
    return sorted((tuple(row[name] for name in columns) for row in rows), key=lambda row: [str(each) for each in row])
