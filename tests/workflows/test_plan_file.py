"""`--save` pins a plan; a run `--from-plan` refuses when anything has changed since, and names it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mason.configurations.saved import read_configurations, save_configurations
from mason.workflows.plan_file import save_plan
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls
from tests.conftest import write
from tests.workflows.conftest import Runs, step

PATHS = "  optional:\n    - text\n    - name: input_path\n      type: path\n    - name: output_path\n      type: path\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data" / "in.csv"
    file.parent.mkdir()
    file.write_text("a\n1\n")
    return file


@pytest.fixture
def saved(runs: Runs, data: Path) -> Path:
    """Save the plan of a workflow of two steps and return its file."""
    runs.flows.operator("read", runs.tracing(), parameters=PATHS)
    runs.flows.workflow(step("a", command="read"), step("b", "a"))
    runs.register()
    file = runs.flows.folder / "plan.json"
    said = workflow_calls.plan(runs.env, runs.call(parameters(data)), save=file)
    assert said.response.errors == ()
    return file


def parameters(data: Path, text: str = "x") -> str:
    return f"a:\n  parameters:\n    input_path: {data.parent}\n    text: {text}\n"


def run(runs: Runs, given: str, plan: Path) -> list[str]:
    """Run from the plan and return the errors, from the name of the plan on."""
    said = workflow_calls.run(runs.env, runs.call(given), from_plan=plan)
    return [error.removeprefix(f"{plan}: ") for error in said.response.errors]


def test_what_is_as_it_was_planned_runs(runs: Runs, saved: Path, data: Path) -> None:
    assert run(runs, parameters(data), saved) == []
    assert runs.trace == ["x"]


def test_a_same_size_edit_with_a_restored_time_is_refused(runs: Runs, saved: Path, data: Path) -> None:
    times = data.stat()
    data.write_text("a\n2\n")
    os.utime(data, ns=(times.st_atime_ns, times.st_mtime_ns))

    errors = run(runs, parameters(data), saved)

    assert errors == [f"a: its input {data.parent} has another content", "Nothing ran. Look at a new dry run."]
    assert runs.trace == []


def test_an_edit_behind_a_link_is_refused(runs: Runs, data: Path, saved: Path) -> None:
    elsewhere = write(runs.flows.folder / "elsewhere", {"more.csv": "a\n1\n"})
    (data.parent / "linked").symlink_to(elsewhere)
    (data.parent / "up").symlink_to(data.parent)
    assert workflow_calls.plan(runs.env, runs.call(parameters(data)), save=saved).response.errors == ()
    (elsewhere / "more.csv").write_text("a\n2\n")

    errors = run(runs, parameters(data), saved)

    assert errors[0] == f"a: its input {data.parent} has another content"
    assert runs.trace == []


def test_what_is_no_file_is_not_read(runs: Runs, saved: Path, data: Path) -> None:
    os.mkfifo(data.parent / "pipe")  # to read it would take for ever
    (data.parent / "nowhere").symlink_to(data.parent / "gone")

    assert run(runs, parameters(data), saved) == []


def test_a_file_that_was_only_touched_is_no_difference(runs: Runs, saved: Path, data: Path) -> None:
    os.utime(data)

    assert run(runs, parameters(data), saved) == []


def test_what_the_run_makes_itself_is_no_input_and_a_plan_runs_twice(runs: Runs, saved: Path, data: Path) -> None:
    made = data.parent.parent / "made"
    runs.flows.operator("make", f"with open({str(made)!r}, 'a') as file: file.write('x')", parameters=PATHS)
    runs.flows.workflow(step("a", command="make"), step("b", "a", command="read"))
    runs.register()
    given = f"a: {{parameters: {{output_path: {made}}}}}\nb: {{parameters: {{input_path: {made}}}}}\n"
    assert workflow_calls.plan(runs.env, runs.call(given), save=saved).response.errors == ()

    assert run(runs, given, saved) == run(runs, given, saved) == []
    assert made.read_text() == "xx"


def test_a_plan_of_12_000_steps_that_write_is_saved_in_a_moment(runs: Runs, tmp_path: Path) -> None:
    numbers = range(12_000)
    runs.flows.operator("copy", parameters=PATHS).workflow(*[step(f"s{each}", command="copy") for each in numbers])
    paths = [f"{{input_path: {tmp_path}/in/{each}, output_path: {tmp_path}/out/{each}}}" for each in numbers]
    given = "".join(f"s{each}: {{parameters: {path}}}\n" for each, path in enumerate(paths))
    workflow = runs.flows.valid(given)
    began = time.process_time()

    save_plan(workflow, tmp_path / "plan.json")

    assert time.process_time() - began < 5  # a second on an idle core; the square of it would be a quarter of a minute


def test_an_input_that_is_gone_is_named(runs: Runs, saved: Path, data: Path) -> None:
    data.unlink()
    data.parent.rmdir()

    assert run(runs, parameters(data), saved)[0] == f"a: its input {data.parent} is not there any more"


def test_other_parameters_are_refused_each_by_its_name(runs: Runs, saved: Path, data: Path) -> None:
    other = parameters(data, "y" * 100) + "b:\n  parameters:\n    text: z\n"

    assert run(runs, other, saved)[:-1] == [
        f'a: its parameter "text" was "x", and is "{"y" * 59}…',
        'b: its parameter "text" was not given, and is "z"',
    ]


def test_of_long_parameters_the_part_is_shown_that_differs(runs: Runs, saved: Path, data: Path) -> None:
    given = [parameters(data, f"{'x' * 100}{each}{'y' * 100}") for each in (1, 2)]
    workflow_calls.plan(runs.env, runs.call(given[0]), save=saved)

    text = [f"…{'x' * 30}{each}{'y' * 29}…" for each in (1, 2)]
    assert run(runs, given[1], saved)[:-1] == [f'a: its parameter "text" was {text[0]}, and is {text[1]}']


def test_parameters_that_come_from_steps_are_compared_as_they_are_written(runs: Runs, saved: Path, data: Path) -> None:
    late = parameters(data) + "b:\n  parameters:\n    text: '{{a.rows}}'\n"
    assert workflow_calls.plan(runs.env, runs.call(late), save=saved).response.errors == ()

    errors = run(runs, late.replace("rows", "count"), saved)

    assert errors[0] == 'b: its parameter "text" was "{{a.rows}}", and is "{{a.count}}"'


def test_no_secret_is_in_a_plan(runs: Runs, saved: Path) -> None:
    secret = "  optional:\n    - text\n    - name: password\n      type: secret\n"
    runs.flows.operator("read", parameters=secret)
    runs.register()
    for text in ("postgresql://me:hunter3hunter3@host/db", "{{a.rows}}"):
        given = f"a:\n  parameters:\n    password: hunter2hunter2\nb:\n  parameters:\n    text: '{text}'\n"
        assert workflow_calls.plan(runs.env, runs.call(given), save=saved).response.errors == ()
        assert "hunter" not in saved.read_text()


@pytest.mark.parametrize("name", ["Mason", "Python", "pyarrow", "duckdb", "pyspark"])
def test_another_version_is_refused(runs: Runs, saved: Path, data: Path, name: str) -> None:
    plan = json.loads(saved.read_text())
    now = plan["Versions"][name]
    saved.write_text(json.dumps({**plan, "Versions": {**plan["Versions"], name: "0.0.1"}}))

    assert run(runs, parameters(data), saved)[0] == f"the version of {name} was 0.0.1, and is {now}"
    assert runs.trace == []


def test_another_configuration_is_refused_with_the_role_that_was_changed(runs: Runs, saved: Path, data: Path) -> None:
    text = "id: own\nstorage_engine: local\nmetastore_engine: local\nscheduler_engine: local\n"
    clients = "clients:\n  local:\n    configuration:\n      parallel_steps: {}\n"

    def configured(number: int) -> WorkflowCall:
        folder = write(runs.flows.folder / "configs", {"own.yaml": text + clients.format(number)})
        save_configurations(runs.env, read_configurations(folder).valid)
        return replace(runs.call(parameters(data)), config_id="own")

    assert workflow_calls.plan(runs.env, configured(1), save=saved).response.errors == ()
    errors = workflow_calls.run(runs.env, configured(2), from_plan=saved).response.errors
    local = replace(configured(1), config_id="local")
    elsewhere = workflow_calls.run(runs.env, local, from_plan=saved).response.errors

    assert f'{saved}: a: the scheduler of its configuration "own" was changed' in errors
    assert elsewhere[0] == f"{saved}: Configuration was own, and is local"
    assert f'{saved}: a: its configuration was "own", and is "local"' in elsewhere


def test_another_operator_and_another_workflow_are_both_named(runs: Runs, saved: Path, data: Path) -> None:
    runs.flows.operator("read", "pass", parameters=PATHS)
    runs.flows.workflow(step("a", command="read"), step("c", "a"))
    runs.register()

    errors = run(runs, parameters(data), saved)

    assert errors[0].startswith("Workflow was demo:flow@sha256:")
    assert errors[4:] == ["Nothing ran. Look at a new dry run."]
    assert errors[1:3] == ['the step "b" is not there any more', errors[2]]
    assert errors[2].startswith("a: its operator was demo:read@sha256:")
    assert errors[3] == 'the step "c" is new'


def test_what_is_no_plan_is_refused(runs: Runs, saved: Path, data: Path) -> None:
    whole = json.loads(saved.read_text())
    without_inputs = {**whole, "Steps": {"a": {**whole["Steps"]["a"], "Inputs": None}}}
    for text in ("{}", "{", "[]", "[" * 100_000, json.dumps({**whole, "Steps": []}), json.dumps(without_inputs)):
        saved.write_text(text)
        assert run(runs, parameters(data), saved) == ["is not a plan of a workflow. `--save FILE` makes one."]
    saved.unlink()
    assert run(runs, parameters(data), saved) == ["cannot be read: No such file or directory"]


def test_a_plan_with_errors_is_not_saved(runs: Runs, tmp_path: Path) -> None:
    runs.flows.workflow(step("a", command="nop"))
    runs.register()
    file = tmp_path / "plan.json"

    said = workflow_calls.plan(runs.env, runs.call(), save=file)

    assert said.response.errors
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("plans/new/plan.json", "there is no folder {folder}/plans/new."),
        ("pipe", "it is not a file."),
        ("data", "it is not a file."),
    ],
)
def test_a_plan_is_saved_only_where_a_file_may_be(runs: Runs, saved: Path, data: Path, name: str, reason: str) -> None:
    folder = runs.flows.folder
    os.mkfifo(folder / "pipe")
    before = sorted(folder.rglob("*"))

    said = workflow_calls.plan(runs.env, runs.call(parameters(data)), save=folder / name)

    assert said.response.errors == (f"{folder / name}: cannot be written: {reason.format(folder=folder)}",)
    assert sorted(folder.rglob("*")) == before
