"""`mason test` as a user has it: what it prints, how it ends, and what it leaves alone."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from tests.cli.support import operator_with, tree
from tests.conftest import Mason, write

PASSES = "name: It runs\nexpect:\n  info: [ran]\n"
ENGINE = (
    "id: {id}\nmetastore_engine: {metastore}\nstorage_engine: local\nexecution_engine: {engine}\nclients:\n{clients}"
)
LOCAL = "  local: {configuration: {root: data}}\n"
SPARK = "  spark: {{configuration: {{runner: {{type: {type}}}}}}}\n"


@pytest.fixture
def tested(mason: Mason) -> Mason:
    """A project with one operator and one test of it."""
    body = 'print("out of turn")\nresp.add_info("ran")'
    folder = operator_with(mason.folder / "operators", "try", "it", body=body, parameters="  optional:\n    - path\n")
    write(folder / "tests", {"one.yaml": PASSES})
    return mason


def test_it_tells_one_line_for_each_run_and_prints_json(tested: Mason) -> None:
    result = tested("test", "operators")

    assert result.exit_code == 0, result.stderr
    assert [line.rpartition("  ")[0] for line in result.stderr.splitlines() if line.startswith("ok")] == [
        "ok    try:it  It runs  (local)",
        "ok    try:it  It runs  (spark)",
    ]
    assert list(result.json) == ["Errors", "Info", "Warnings", "Data"]
    assert result.json["Info"] == ["1 operator, 1 test on local, spark: all passed."]
    first = result.json["Data"][0]
    assert first == {**first, "Operator": "try:it", "Test": "It runs", "Configurations": ["local"], "Passed": True}
    assert first["File"] == "operators/try/it/tests/one.yaml"


def test_a_failure_is_told_and_is_the_exit_code(tested: Mason) -> None:
    write(tested.folder / "operators/try/it/tests", {"two.yaml": "name: It walks\nexpect:\n  info: [walked]\n"})

    result = tested("test", "operators/try/it", "--on", "local")

    assert result.exit_code == 1
    assert "FAIL  try:it  It walks  (local)" in result.stderr
    assert result.json["Errors"] == [
        'operators/try/it/tests/two.yaml: on local: no information has "walked" in it; there are: "ran"'
    ]
    assert result.json["Info"] == ["1 operator, 2 tests on local: 1 failed."]
    assert "Not run on: spark (not asked for)" in result.json["Warnings"]


def test_nothing_of_the_user_is_touched(tested: Mason) -> None:
    tested.register_examples()
    before = tree(tested.folder.parent)

    assert tested("test", "operators", "--on", "local").exit_code == 0

    after = tree(tested.folder.parent)
    assert {path: after.get(path) for path in before if "state.db" not in path} == {
        path: content for path, content in before.items() if "state.db" not in path
    }
    assert set(after) == set(before)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nowhere"], 1, 'Path "nowhere" not found.'),
        (["empty"], 1, "empty: no operator.yaml below it."),
        (["untested"], 1, "untested: no tests. try:bare: no tests/*.yaml in the operator's folder."),
        ([], 2, "Missing argument 'PATH'"),
        (["operators", "--on", "sprak"], 2, 'There is no configuration "sprak". There are: local, spark.'),
        (["operators", "--require", "emr"], 2, 'There is no configuration "emr". There are: local, spark.'),
        (["operators", "--config", "nowhere.yaml"], 1, 'Path "nowhere.yaml" not found.'),
        (["operators", "--config", "broken.yaml"], 1, "broken.yaml:1: engine: unknown key."),
        (["operators", "--config", "taken.yaml"], 1, 'taken.yaml: its id "spark" is taken. Give it another id.'),
    ],
)
def test_what_cannot_be_run_is_told(tested: Mason, arguments: list[str], code: int, told: str) -> None:
    (tested.folder / "empty").mkdir()
    operator_with(tested.folder / "untested", "try", "bare")
    write(tested.folder, {"broken.yaml": "engine: local\n", "taken.yaml": "id: spark\nexecution_engine: local\n"})

    result = tested("test", *arguments)

    assert result.exit_code == code
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert "ok " not in result.stderr


def test_a_configuration_that_cannot_be_had_is_named_and_a_failure_where_it_is_required(tested: Mason) -> None:
    emr = ENGINE.format(id="emr", metastore="local", engine="spark", clients=LOCAL + SPARK.format(type="emr"))
    glue = ENGINE.format(id="aws", metastore="glue", engine="local", clients=LOCAL + "  glue: {configuration: {}}\n")
    write(tested.folder, {"emr.yaml": emr, "aws.yaml": glue})
    named = ["--config", "emr.yaml", "--config", "aws.yaml", "--on", "local", "--on", "emr", "--on", "aws"]

    result = tested("test", "operators", *named)
    required = tested("test", "operators", *named, "--require", "emr")

    assert result.exit_code == 0, result.stderr
    assert [each for each in result.json["Warnings"] if "emr" in each] == [
        'Not run on: emr (The runner "emr" is not there yet. What works today: connect, local, submit.)'
    ]
    assert any("Not run on: aws (its metastore is glue;" in each for each in result.json["Warnings"])
    assert required.exit_code == 1
    assert any(each.startswith("Not run on: emr") for each in required.json["Errors"])
    assert [each["Passed"] for each in required.json["Data"]] == [True]


def test_a_configuration_of_the_user_is_run_on_with_its_data_elsewhere(tested: Mason) -> None:
    operator_with(
        tested.folder / "operators",
        "try",
        "save",
        body='config.metastore.client.create_database("shop", response=resp)\nresp.add_info("ran")',
    )
    write(tested.folder / "operators/try/save/tests", {"one.yaml": PASSES})
    mine = ENGINE.format(id="mine", metastore="local", engine="local", clients=LOCAL)
    write(tested.folder, {"mine.yaml": mine, "data/shop/orders.csv": "id\n1\n"})

    result = tested("test", "operators", "--config", "mine.yaml", "--on", "mine")

    assert result.exit_code == 0, result.stderr
    assert {tuple(each["Configurations"]) for each in result.json["Data"]} == {("mine",)}
    assert tree(tested.folder / "data") == {"shop": "folder", "shop/orders.csv": b"id\n1\n"}


def test_an_operator_runs_only_where_it_says_that_it_can(tested: Mason) -> None:
    for name, supported in (("here", "  - execution: local\n"), ("aws", "  - metastore: glue\n")):
        folder = operator_with(
            tested.folder / "operators", "try", name, body='resp.add_info("ran")', supported=supported
        )
        write(folder / "tests", {"one.yaml": PASSES})

    result = tested("test", "operators")

    assert result.exit_code == 1
    assert result.json["Errors"] == ["try:aws was run on no configuration: name one that it accepts with --config."]
    assert any("try:here: not run on: spark (try:here does not accept" in each for each in result.json["Warnings"])
    assert [each["Configurations"] for each in result.json["Data"] if each["Operator"] == "try:here"] == [["local"]]


def test_the_examples_are_found_from_everywhere(mason: Mason) -> None:
    result = mason("test", "mason/examples/operators/database", "--on", "local")

    assert result.exit_code == 0, result.stderr


def test_ctrl_c_ends_it_and_removes_its_folder(tested: Mason, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    tested.variables["TMPDIR"] = str(scratch)
    operator_with(tested.folder / "operators", "try", "slow", body="open('begun', 'w').close()\ntime.sleep(60)")
    write(tested.folder / "operators/try/slow/tests", {"one.yaml": PASSES})
    process = tested.start("test", "operators/try/slow", "--on", "local")
    end = time.monotonic() + 60
    while not list(scratch.glob("mason-test-*/run-*/*/begun")):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)

    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=30)

    assert process.returncode == 130
    assert json.loads(stdout)["Errors"] == ["Interrupted."]
    assert not list(scratch.glob("mason-test-*"))


def test_another_test_is_not_another_version_of_the_operator(tested: Mason) -> None:
    assert tested("register", "operators").exit_code == 0
    write(tested.folder / "operators/try/it/tests", {"two.yaml": PASSES, "data/large.csv": "id\n"})

    again = tested("register", "operators")

    assert again.exit_code == 0, again.stderr
    assert "Unchanged:" in again.stderr


def test_the_records_of_a_tested_job_are_not_in_the_home_of_who_tests(mason: Mason) -> None:
    parameters = "  required:\n    - {name: rows, type: table}\n    - {name: output, type: table, access: write}\n"
    write(
        mason.folder / "operators/try/copy",
        {
            "operator.yaml": "type: operator\nnamespace: try\ncommand: copy\ndescription: Copies\n"
            f"parameters:\n{parameters}",
            "transform.sql": "SELECT * FROM rows\n",
            "tests/one.yaml": "name: It copies\ngiven: {files: {in/a.csv: [{id: 1}]}}\n"
            "parameters: {rows: in/, output: out/}\nexpect: {table: out, rows: [{id: 1}]}\n",
        },
    )

    result = mason("test", "operators", "--on", "local", variables={"MASON_PROJECT": "elsewhere"})

    assert result.exit_code == 0, result.stderr
    assert not mason.home.exists()
