"""What a test starts from: files in several formats, databases, tables, and operators that ran before."""

from __future__ import annotations

import pytest

from tests.conftest import write
from tests.operator_tests.conftest import Bench

READS = """\
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.view import view_table
import pyarrow.fs
fs = pyarrow.fs.LocalFileSystem()
shown = preview_table(fs, view_table(config.location(parameters.get_required("path"))), 100)
return OperatorResponse(resp, shown)
"""


@pytest.mark.parametrize(
    ("ending", "share"),
    [("csv", "decimal(18,2)"), ("json", "double"), ("jsonl", "double"), ("parquet", "double"), ("orc", "double")],
)
def test_rows_are_written_in_the_format_of_the_file_and_read_back_the_same(
    bench: Bench, ending: str, share: str
) -> None:
    rows = """
      - {id: 1, name: 'Ann "A", 2nd', share: 0.5, on: true}
      - {id: 2, name: "", share: -1.25, on: false}
      - {id: 3, name: null, share: null}
"""
    bench.operator(READS)
    bench.test(
        f"name: Rows\ngiven:\n  files:\n    in/a.{ending}:{rows}parameters: {{path: in}}\n"
        f"expect:\n  ordered: true\n  schema: {{id: int64, name: string, share: '{share}', on: boolean}}\n  rows:{rows}"
    )

    assert bench.errors() == []


def test_rows_with_a_schema_keep_its_types(bench: Bench) -> None:
    bench.operator(READS)
    content = (
        "      schema: {n: int8, d: date, t: 'timestamp[us, tz=UTC]', p: 'decimal(20,4)', b: binary,"
        " m: 'map<string, int32>', s: 'struct<a: int64, l: list<string>>', f: float}\n"
        "      rows:\n"
        "        - {n: -1, d: 2026-01-31, t: 2026-01-31T00:00:00Z, p: '9007199254740993.0001', b: é,"
        " m: {a: 1}, s: {a: 1, l: [x, null]}, f: 0.1}\n"
        "        - {}\n"
    )
    bench.test(
        f"name: Types\ngiven:\n  files:\n    a.parquet:\n{content}parameters: {{path: a.parquet}}\n"
        + "expect:\n"
        + content.replace("      ", "  ", 1).replace("      rows", "  rows")
    )

    assert bench.errors() == []


def test_a_file_beside_the_test_is_copied(bench: Bench) -> None:
    folder = bench.operator('resp.add_data({"Text": Path("in/a.txt").read_text()})')
    write(folder / "tests" / "data", {"odd.txt": "odd"})
    bench.test("name: Copy\ngiven:\n  files:\n    in/a.txt: {copy: data/odd.txt}\nexpect:\n  data: {Text: odd}\n")

    assert bench.errors() == []


def test_databases_and_tables_are_there(bench: Bench) -> None:
    bench.operator(
        "tables, resp = config.metastore.client.list_tables('shop', response=resp)\n"
        "names, resp = config.metastore.client.list_databases(response=resp)\n"
        "resp.add_data({'Tables': [each.name for each in tables], 'Databases': [each.name for each in names]})"
    )
    bench.test(
        "name: Tables\ngiven:\n  databases: [office]\n  files:\n    in/a.csv: |\n      id\n      1\n"
        "  tables:\n    shop.orders: {path: in}\n"
        "expect:\n  data: {Tables: [orders], Databases: [in, office, shop]}\n"
    )

    assert bench.errors() == []


def test_operators_run_before_and_lend_what_they_said(bench: Bench) -> None:
    bench.operator('resp.add_data({"Id": "x1", "Deep": {"Er": 7}})', name="first")
    bench.operator('resp.add_data({"Got": parameters.get_optional("path")})')
    bench.test(
        "name: Runs\ngiven:\n  runs:\n    one: {operator: try:first}\n"
        "parameters: {path: 'id {{one.Id}} and {{ one.Deep.Er }}'}\nexpect:\n  data: {Got: id x1 and 7}\n"
    )

    assert bench.errors() == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            "runs: {one: {operator: try:firts}}",
            'There is no operator "try:firts" below the path or among those of Mason.',
        ),
        ("runs: {one: {operator: try:bad}}", "__init__.py:12: try:bad failed in its own code: ValueError: no"),
        ("runs: {one: {operator: table:merge}}", 'given.runs.one: The parameter "input_path"'),
        ("tables: {shop.orders: {path: nowhere}}", 'given: Path "'),
        ("files: {a: x, a/b: y}", "given: [Errno "),
        ("files: {a.parquet: [{id: 1}, {id: x}]}", "given: "),
        ("databases: ['../x']", 'given: "../x" cannot be'),
    ],
)
def test_what_cannot_be_made_is_a_failure_of_the_test(bench: Bench, given: str, told: str) -> None:
    bench.operator("pass")
    bench.operator('raise ValueError("no")', name="bad")
    bench.test(f"name: It starts\ngiven:\n  {given}\nexpect:\n  warnings: []\n")

    (error,) = bench.errors()

    assert told in error


def test_a_parameter_is_what_its_author_wrote(bench: Bench) -> None:
    bench.operator('resp.add_data({"Got": parameters.get_optional("path")})')
    bench.test("name: Text\nparameters: {path: 007}\nexpect:\n  data: {Got: '007'}\n")
    bench.test("name: Number\nparameters: {path: 1.10}\nexpect:\n  data: {Got: '1.10'}\n", file="two.yaml")

    assert bench.errors() == []


def test_a_parameter_that_is_not_there_is_told_with_the_file(bench: Bench) -> None:
    bench.operator("pass")
    bench.test("name: Text\nparameters: {pth: x}\nexpect:\n  warnings: []\n")

    assert 'There is no parameter "pth" (in one.yaml). Did you mean "path"?' in bench.errors()[0]
