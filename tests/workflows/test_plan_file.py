"""`--save` pins a plan; a run `--from-plan` refuses when anything has changed since, and names it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mason.workflows import workflow_calls
from tests.workflows.conftest import Runs, step

PATHS = "  optional:\n    - text\n    - name: input_path\n      type: path\n"


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


def test_a_file_that_was_only_touched_is_no_difference(runs: Runs, saved: Path, data: Path) -> None:
    os.utime(data)

    assert run(runs, parameters(data), saved) == []


def test_other_parameters_are_refused(runs: Runs, saved: Path, data: Path) -> None:
    assert run(runs, parameters(data, "y"), saved)[0] == "a: its parameters or its configuration are others"


def test_another_operator_and_another_workflow_are_both_named(runs: Runs, saved: Path, data: Path) -> None:
    runs.flows.operator("read", "pass", parameters=PATHS)
    runs.flows.workflow(step("a", command="read"), step("c", "a"))
    runs.register()

    errors = run(runs, parameters(data), saved)

    assert errors[0].startswith("Workflow was demo:flow@sha256:")
    assert errors[1:3] == ['the step "b" is not there any more', errors[2]]
    assert errors[2].startswith("a: its operator was demo:read@sha256:")
    assert errors[3] == 'the step "c" is new'


def test_what_is_no_plan_is_refused(runs: Runs, saved: Path, data: Path) -> None:
    whole = json.loads(saved.read_text())
    without_inputs = {**whole, "Steps": {"a": {**whole["Steps"]["a"], "Inputs": None}}}
    for text in ("{}", "{", "[]", "[" * 100_000, json.dumps({**whole, "Steps": []}), json.dumps(without_inputs)):
        saved.write_text(text)
        assert run(runs, parameters(data), saved) == ["is no plan of a workflow `--save FILE` makes one."]
    saved.unlink()
    assert run(runs, parameters(data), saved) == ["cannot be read: No such file or directory"]


def test_a_plan_with_errors_is_not_saved(runs: Runs, tmp_path: Path) -> None:
    runs.flows.workflow(step("a", command="nop"))
    runs.register()
    file = tmp_path / "plan.json"

    said = workflow_calls.plan(runs.env, runs.call(), save=file)

    assert said.response.errors
    assert not file.exists()
