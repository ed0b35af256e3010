"""The dry run: whatever a step's operator does, its plan tells it without secrets, and the others are planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mason.errors import Forbidden
from mason.workflows.runs.step_paths import StepPath
from tests import workflow_calls
from tests.workflows.conftest import Runs, step

LOGIN = "  optional:\n    - name: password\n      type: secret\n    - name: input_path\n      type: path\n"
SECRET = "hunter2hunter2"
PATHS = "  optional:\n    - name: input_path\n      type: path\n    - name: output_path\n      type: path\n"


def add_method(runs: Runs, command: str, parameters: str, head: str, *lines: str) -> None:
    """Add an operator that has a method besides `run`."""
    runs.flows.operator(command, parameters=parameters)
    code = runs.flows.folder / "defs" / "operators" / "demo" / command / "__init__.py"
    body = "".join(f"        {line}\n" for line in lines)
    code.write_text(f"{code.read_text()}\n    def {head}:\n{body}")


def job_raising(runs: Runs, kind: str) -> None:
    """Add an operator that moves data, whose `job` raises something with its secret in it."""
    add_method(
        runs, "login", LOGIN, "job(self, config, parameters)",
        f"raise {kind}('cannot log in with ' + parameters.get_optional('password'))",
    )  # fmt: skip
    code = runs.flows.folder / "defs" / "operators" / "demo" / "login" / "__init__.py"
    text = code.read_text().replace("(OperatorDefinition)", "(DataOperator)")
    code.write_text(f"from mason.operators.operator_definition import DataOperator\n{text}")


def plan(runs: Runs, parameters: str = "", save: Path | None = None) -> dict[str, Any]:
    return workflow_calls.plan(runs.register().env, runs.call(parameters), save=save).to_dict()


@pytest.mark.parametrize("kind", ["ValueError", "SystemExit"])
def test_what_an_operators_job_raises_is_told_of_its_step_without_secrets_and_the_rest_is_planned(
    runs: Runs, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    job_raising(runs, kind)
    runs.flows.workflow(step("a", command="login"), step("b"), step("c", "b", command="login"), step("d", "c"))
    given = "".join(f"{key}:\n  parameters: {{password: {SECRET}}}\n" for key in "ac")

    said = plan(runs, given)

    code = runs.flows.folder / "defs" / "operators" / "demo" / "login" / "__init__.py"
    told = f"{code}:16: demo:login failed in its own code: {kind}: cannot log in with REDACTED"
    assert said["Errors"] == [f"a: {told}"]
    steps = {each["Id"]: each for each in said["Data"][0]["Steps"]}
    assert steps["c"]["Waits"] == f"its inputs are not there yet, or it would fail: {told}"
    assert "Plan" in steps["b"]
    assert "Plan" in steps["d"]
    assert SECRET not in f"{said}{caplog.text}"


def test_what_an_operators_job_raises_is_in_no_error_of_saving_the_plan(
    runs: Runs, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job_raising(runs, "ValueError")
    runs.flows.workflow(step("a"), step("b", "a", command="login"))

    said = plan(runs, f"b:\n  parameters: {{password: {SECRET}}}\n", tmp_path / "plan.json")

    assert said["Errors"] == []
    assert SECRET not in f"{said}{caplog.text}{(tmp_path / 'plan.json').read_text()}"


def test_a_plan_that_cannot_be_shown_is_an_error_of_its_step_alone(runs: Runs) -> None:
    add_method(
        runs, "show", "", "plan(self, env, config, parameters, resp)",
        "class Plan:",
        "    def to_dict(self): raise ValueError('no')",
        "return OperatorResponse(resp, Plan())",
    )  # fmt: skip
    runs.flows.workflow(step("a", command="show"), step("b"))

    said = plan(runs)

    code = runs.flows.folder / "defs" / "operators" / "demo" / "show" / "__init__.py"
    assert said["Errors"] == [f"a: {code}:16: demo:show failed in its own code: ValueError: no"]
    assert "Plan" in said["Data"][0]["Steps"][1]


class TestWhetherInputsAreThere:
    """A storage is asked only where the answer is of use: to do so may take as long as the storage is large."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        asked: list[str] = []

        def exists(path: StepPath) -> bool:
            asked.append(path.path)
            raise Forbidden("Nobody may look at it.")

        monkeypatch.setattr(StepPath, "exists", exists)
        return asked

    def test_it_is_not_asked_of_what_can_be_planned_or_of_what_no_step_makes(
        self, runs: Runs, asked: list[str]
    ) -> None:
        add_method(runs, "fail", PATHS, "plan(self, env, config, parameters, resp)", "raise ValueError('no')")
        runs.flows.operator("read", parameters=PATHS)
        runs.flows.workflow(step("a", command="read"), step("b", "a", command="read"), step("c", "b", command="fail"))

        said = plan(runs, "".join(f"{key}:\n  parameters: {{input_path: /data/{key}}}\n" for key in "abc"))

        assert said["Errors"] == []
        assert asked == []

    def test_a_storage_that_cannot_be_asked_ends_no_plan(self, runs: Runs, asked: list[str]) -> None:
        add_method(runs, "fail", PATHS, "plan(self, env, config, parameters, resp)", "raise ValueError('no')")
        runs.flows.operator("write", parameters=PATHS)
        runs.flows.workflow(step("a", command="write"), step("b", "a", command="fail"), step("c", "b"))

        said = plan(runs, "a:\n  parameters: {output_path: /data}\nb:\n  parameters: {input_path: /data/b}\n")

        assert asked == ["/data/b"]
        assert said["Errors"] == []
        steps = said["Data"][0]["Steps"]
        assert steps[1]["Waits"].endswith("__init__.py:15: demo:fail failed in its own code: ValueError: no")
        assert "Plan" in steps[2]


def test_what_is_made_inside_of_a_folder_that_a_step_writes_is_waited_for(runs: Runs, tmp_path: Path) -> None:
    add_method(runs, "fail", PATHS, "plan(self, env, config, parameters, resp)", "raise ValueError('no')")
    runs.flows.operator("write", parameters=PATHS)
    runs.flows.workflow(step("a", command="write"), step("b", "a", command="fail"), step("c", "a", command="fail"))
    read = {"b": tmp_path / "out" / "b" / "c.csv", "c": f"{tmp_path}/outside"}
    given = "".join(f"{key}:\n  parameters: {{input_path: {path}}}\n" for key, path in read.items())

    steps = plan(runs, f"a:\n  parameters: {{output_path: {tmp_path}/out}}\n{given}")["Data"][0]["Steps"]

    assert steps[1]["Waits"] == 'planned when "a" has made what it reads'
    assert steps[2]["Waits"].startswith("its inputs are not there yet, or it would fail")


class TestPathsOfSeveralSteps:
    """Who uses a path that another step writes has to come before it, or after it."""

    def clashes(self, runs: Runs, steps: list[str], **paths: tuple[str, str]) -> list[str]:
        runs.flows.operator("move", parameters=PATHS)
        runs.flows.workflow(*steps)
        given = "".join(
            f"{key}:\n  parameters: {{input_path: {reads}, output_path: {writes}}}\n"
            for key, (reads, writes) in paths.items()
        )
        warnings: list[str] = plan(runs, given)["Warnings"]
        return warnings

    @pytest.mark.parametrize(
        ("of_b", "told"),
        [
            (("/in/b", "/out/t"), 'It writes /out/t as "a" does'),
            (("/in/b", "/out"), 'It writes /out as "a" does'),
            (("/in/b", "/out/t/part"), 'It writes /out/t/part as "a" does'),
            (("/in/b", "/in/a"), 'It writes /in/a, which "a" reads'),
            (("/out/t", "/out/b"), 'It reads /out/t, which "a" writes'),
            (("/out", "/other"), 'It reads /out, which "a" writes'),
            (("/out/t", "/out/t"), 'It writes /out/t as "a" does'),
        ],
    )
    def test_two_that_may_run_at_the_same_time_and_use_one_path_are_told(
        self, runs: Runs, of_b: tuple[str, str], told: str
    ) -> None:
        steps = [step("a", command="move"), step("b", command="move")]

        said = self.clashes(runs, steps, a=("/in/a", "/out/t"), b=of_b)

        assert said == [f"b: {told}, and nothing says which of them comes first. Add a dependency."]

    @pytest.mark.parametrize("of_b", [("/in/a", "/out/u"), ("/out/tt", "/out/ttt"), ("/in", "/out/u")])
    def test_paths_that_none_writes_or_that_only_look_alike_are_no_matter(
        self, runs: Runs, of_b: tuple[str, str]
    ) -> None:
        steps = [step("a", command="move"), step("b", command="move")]

        assert self.clashes(runs, steps, a=("/in/a", "/out/t"), b=of_b) == []

    def test_those_that_have_an_order_are_not_told_however_far_apart_they_are(self, runs: Runs) -> None:
        steps = [
            step("a", command="move"), step("left", "a"), step("right", "a"),
            step("b", "left", "right", command="move"), step("c", "right", command="move"),
        ]  # fmt: skip

        said = self.clashes(runs, steps, a=("/in", "/out/t"), b=("/out/t", "/out/t"), c=("/out/t", "/out/c"))

        assert said == [
            'c: It reads /out/t, which "b" writes, and nothing says which of them comes first. Add a dependency.'
        ]

    def test_of_two_with_conditions_perhaps_only_one_runs(self, runs: Runs) -> None:
        steps = [
            step("look"),
            step("a", "look", command="move", when="\"{{look.status}} = 'succeeded'\""),
            step("b", "look", command="move", when="\"{{look.status}} <> 'succeeded'\""),
        ]

        assert self.clashes(runs, steps, a=("/in", "/out"), b=("/in", "/out")) == []
