"""A test file that is wrong is told with its line, everything at once, and nothing runs."""

from __future__ import annotations

import pytest

from tests.conftest import write
from tests.operator_tests.conftest import Bench

RUNS = 'Path("../ran").touch()'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: x\nexpect: }\n", ":2: broken YAML"),
        ("", ":1: must be a mapping with the keys name, given, parameters and expect"),
        ("expect:\n  errors: [x]\n", ':1: "name" is missing'),
        ("name: x\n", ':1: "expect" is missing'),
        ("name: x\nexpect: {}\n", ":2: expect: expects nothing. Say at least one of: rows, schema, data"),
        ("name: x\nexpect:\n  may_differ: [a]\n", ":2: expect: expects nothing."),
        ("name: x\nexpect:\n  nothing_written: false\n", ":3: expect.nothing_written: false alone expects nothing"),
        ("name: x\nexpect:\n  errors: []\n", ":3: expect.errors: "),
        ("name: x\nexpect:\n  row: []\n", ':3: expect.row: unknown key. Did you mean "rows"?'),
        ("name: x\ngivn: {}\nexpect:\n  errors: [x]\n", ':2: givn: unknown key. Did you mean "given"?'),
        ("name: ' '\nexpect:\n  errors: [x]\n", ":1: name: must be a sentence"),
        ("name: x\nexpect:\n  rows: {id: 1}\n", ":3: expect.rows: must be a list, not a mapping"),
        ("name: x\nexpect:\n  rows:\n    - 1\n", ":4: expect.rows[0]: must be a mapping, not a whole number"),
        ("name: x\nexpect:\n  table: out\n", ":3: expect.table: what of it? Say its rows or its schema"),
        ("name: x\nexpect:\n  errors: [x]\n  ordered: true\n", ":4: expect.ordered: there are no rows to be in order"),
        ("name: x\nexpect:\n  schema:\n    id: int65\n", ':4: expect.schema.id: "int65" is not a type such as int64'),
        (
            "name: x\nexpect:\n  schema: {id: int64}\n  rows:\n    - {id: 1}\n    - {id: one}\n",
            ':6: expect.rows[1].id: must be a whole number, not "one"',
        ),
        (
            "name: x\nexpect:\n  schema: {price: date}\n  rows:\n    - {price: 2026-02-30}\n",
            ':5: expect.rows[0].price: must be a value of type date32[day], not "2026-02-30"',
        ),
        (
            "name: x\nexpect:\n  schema: {price: date}\n  rows:\n    - {prise: 2026-01-01}\n",
            ':5: expect.rows[0].prise: the schema has no such column. Did you mean "price"?',
        ),
        (
            "name: x\ngiven:\n  files:\n    ../a.csv: x\nexpect:\n  errors: [x]\n",
            ":4: given.files.../a.csv: must lie below the folder of the test",
        ),
        (
            "name: x\ngiven:\n  files:\n    /etc/passwd: x\nexpect:\n  errors: [x]\n",
            ":4: given.files./etc/passwd: must lie below the folder of the test",
        ),
        (
            "name: x\ngiven:\n  files:\n    a.xlsx: [{a: 1}]\nexpect:\n  errors: [x]\n",
            ':4: given.files.a.xlsx: rows cannot be written as ".xlsx", only as .csv, .json, .jsonl, .parquet, .orc;',
        ),
        (
            "name: x\ngiven:\n  files:\n    a.parquet: {rows: [{a: 1}], schema: {a: strng}}\nexpect:\n  errors: [x]\n",
            ':4: given.files.a.parquet.schema.a: "strng" is not a type',
        ),
        (
            "name: x\ngiven:\n  files:\n    a.csv: 1\nexpect:\n  errors: [x]\n",
            ":4: given.files.a.csv: must be text, a list of rows, rows with their schema",
        ),
        (
            "name: x\ngiven:\n  files:\n    a.avro: {copy: nowhere.avro}\nexpect:\n  errors: [x]\n",
            ":4: given.files.a.avro.copy: there is no file nowhere.avro",
        ),
        (
            "name: x\ngiven:\n  files:\n    a.avro: {copy: ../../../../x}\nexpect:\n  errors: [x]\n",
            ":4: given.files.a.avro.copy: ../../../../x is not below the operator's folder",
        ),
        (
            "name: x\ngiven:\n  tables:\n    orders: {path: in}\nexpect:\n  errors: [x]\n",
            ":4: given.tables.orders: must be named as database.table",
        ),
        (
            "name: x\ngiven:\n  runs:\n    one: {parameters: {}}\nexpect:\n  errors: [x]\n",
            ':4: given.runs.one: "operator" is missing',
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(bench: Bench, text: str, told: str) -> None:
    bench.operator(RUNS)
    bench.test("name: This one is right\nexpect:\n  warnings: []\n", file="other.yaml")
    bench.test(text)

    errors = bench.errors()

    assert any(f"try/it/tests/one.yaml{told}" in error for error in errors), errors
    assert errors[-1] == "No test was run."
    assert bench.verdicts == []


def test_every_problem_of_every_file_is_told_at_once(bench: Bench) -> None:
    bench.operator(RUNS)
    bench.operator(RUNS, name="other")
    bench.test("name: x\nexpect:\n  row: []\n  colour: red\n")
    bench.test("name: [\n", name="other")
    write(bench.operators / "broken", {"operator.yaml": "type: operator\n"})

    errors = bench.errors()

    assert len(errors) == 5
    assert {error.partition(":")[0] for error in errors[:-1]} == {
        "broken/operator.yaml",
        "try/it/tests/one.yaml",
        "try/other/tests/one.yaml",
    }


def test_two_tests_of_one_name_are_a_problem(bench: Bench) -> None:
    bench.operator(RUNS)
    bench.test("name: It runs\nexpect:\n  warnings: []\n", file="a.yaml")
    bench.test("name: It runs\nexpect:\n  warnings: []\n", file="b.yml")

    assert (
        f'try/it/tests/b.yml: name: "It runs" is the name of {bench.operators}/try/it/tests/a.yaml' in bench.errors()[0]
    )


def test_operators_without_tests_are_named(bench: Bench) -> None:
    bench.operator("pass")
    bench.operator("pass", name="other")

    (error,) = bench.errors()
    assert error == f"{bench.operators}: no tests. try:it, try:other: no tests/*.yaml in the operator's folder."

    bench.test("name: It runs\nexpect:\n  warnings: []\n")
    response = bench.run()
    assert response["Errors"] == []
    assert "No tests: try:other." in response["Warnings"]


def test_a_folder_without_operators_is_an_error(bench: Bench) -> None:
    bench.operators.mkdir()

    assert bench.errors() == [f"{bench.operators}: no operator.yaml below it."]


def test_one_test_can_be_run_alone(bench: Bench) -> None:
    bench.operator('raise ValueError("never")')
    bench.test("name: It fails\nexpect:\n  errors: [never]\n", file="a.yaml")
    alone = bench.test("name: It does not\nexpect:\n  warnings: []\n", file="b.yaml")

    response = bench.run(path=alone)

    assert [each["Test"] for each in response["Data"]] == ["It does not"]
    assert len(response["Errors"]) == 2  # what it raised, and where
