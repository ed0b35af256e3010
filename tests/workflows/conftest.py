"""Workflows for tests: a registry in memory with operators that need no engine, and steps written in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from mason.errors import MasonError
from mason.operators.operator_response import OperatorResponse
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state, read_state
from mason.state.models import NewRegistration
from mason.state.sqlite import SqliteStore
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.definitions import Definitions
from mason.workflows.definition.parameter_file import read_parameters
from mason.workflows.definition.registration import WORKFLOWS
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.definition.validation import validate_workflow
from mason.workflows.runs.recorded_runs import show_run
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls
from tests.cli.support import operator_with
from tests.conftest import write

NOOP_PARAMETERS = "  optional:\n    - text\n    - name: count\n      type: integer\n"


def step(step_id: str, *dependencies: str, command: str = "noop", type: str = "operator", **more: Any) -> str:  # noqa: A002
    """Return a step in YAML."""
    lines = [f"  - id: {step_id}", f"    type: {type}", "    namespace: demo", f"    command: {command}"]
    lines += [f"    dependencies: [{', '.join(dependencies)}]"] if dependencies else []
    lines += [f"    {name}: {value}" for name, value in more.items()]
    return "\n".join(lines)


def workflow_yaml(steps: Sequence[str], *, command: str = "flow", schedulers: str = "[local]") -> str:
    head = f'type: workflow\nnamespace: demo\ncommand: {command}\ndescription: "For a test"\n'
    return f"{head}dag:\n" + "\n".join(steps) + f"\nsupported_schedulers: {schedulers}\n"


def flow_class(body: str) -> str:
    """Return the code of `demo:flow` with a `step` of its own."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return (
        "from mason.workflows.workflow_definition import WorkflowDefinition\n\n\n"
        f"class DemoFlow(WorkflowDefinition):\n    def step(self, current, next):\n{lines}\n"
    )


@dataclass
class Flows:
    """A folder of definitions, and what Mason says of them."""

    folder: Path
    files: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def workflow(self, *steps: str, command: str = "flow", code: str = "", schedulers: str = "[local]") -> Flows:
        files = {"workflow.yaml": workflow_yaml(steps, command=command, schedulers=schedulers)}
        write(self.folder / "defs" / "workflows" / command, {**files, **({"__init__.py": code} if code else {})})
        return self

    def operator(
        self, command: str, body: str = "pass", *, parameters: str = NOOP_PARAMETERS, supported: str = ""
    ) -> Flows:
        operator_with(
            self.folder / "defs" / "operators", "demo", command, parameters=parameters, body=body, supported=supported
        )
        return self

    def read(self) -> tuple[Sequence[NewRegistration], Sequence[str]]:
        found = read_definitions(self.folder / "defs", [OPERATORS, WORKFLOWS])
        return found.valid, found.problems

    def registration_problems(self) -> list[str]:
        """Return what `mason register` would say, without the path of the file."""
        return [problem.rpartition("workflow.yaml:")[2] for problem in self.read()[1]]

    def valid(self, parameters: str = "", config_id: str = "") -> ValidWorkflow:
        """Return the workflow `demo:flow`, which must be fine."""
        valid, problems = self.read()
        assert problems == []
        store = SqliteStore(None)
        store.register(valid, replace=False)
        definitions = Definitions(MasonEnvironment(self.folder / "home"), store)
        file = write(self.folder, {"parameters.yaml": parameters}) / "parameters.yaml" if parameters else None
        return validate_workflow(definitions, definitions.workflow("demo:flow"), read_parameters(file), config_id)

    def problems(self, parameters: str = "", config_id: str = "") -> list[str]:
        """Return what validation says of `demo:flow`, each line from the name of the file on."""
        with pytest.raises(MasonError) as caught:
            self.valid(parameters, config_id)
        return [message.rpartition("/")[2] for message in caught.value.messages]


@pytest.fixture
def flows(tmp_path: Path) -> Flows:
    return Flows(tmp_path).operator("noop")


@dataclass
class Ran:
    """What a run said, and what was recorded of it."""

    said: OperatorResponse
    store: StateStore

    @property
    def run(self) -> dict[str, Any]:
        """The run as `mason workflow --show` has it."""
        return show_run(self.store, self.said.response.data[-1]["RunID"])

    @property
    def run_id(self) -> str:
        return str(self.run["RunID"])

    @property
    def statuses(self) -> dict[str, str]:
        return {each["Id"]: each["Status"] for each in self.run["Steps"]}

    def step(self, key: str) -> dict[str, Any]:
        return next(each for each in self.run["Steps"] if each["Id"] == key)


@dataclass
class Runs:
    """Workflows that are registered in a home of their own, and run in this process."""

    flows: Flows

    @property
    def env(self) -> MasonEnvironment:
        return MasonEnvironment(self.flows.folder / "home")

    def register(self) -> Runs:
        valid, problems = self.flows.read()
        assert problems == []
        register(self.env, open_state(self.env), valid, replace=True)
        return self

    def call(self, parameters: str = "") -> WorkflowCall:
        file = write(self.flows.folder, {"parameters.yaml": parameters}) / "parameters.yaml" if parameters else None
        return WorkflowCall(name="demo:flow", parameter_file=file)

    def run(self, parameters: str = "", *, limit: int = 4) -> Ran:
        self.register()
        return Ran(workflow_calls.run(self.env, self.call(parameters), limit=limit), read_state(self.env))

    def resume(self, run_id: str, parameters: str = "", **choice: str) -> Ran:
        self.register()
        said = workflow_calls.resume(self.env, run_id, replace(self.call(parameters), name=""), **choice)
        return Ran(said, read_state(self.env))

    @property
    def trace(self) -> list[str]:
        """What operators wrote into the trace, line by line."""
        file = self.flows.folder / "trace"
        return file.read_text().splitlines() if file.exists() else []

    def tracing(self, line: str = "parameters.get_optional('text')") -> str:
        """Return the body of an operator that writes a line into the trace."""
        return f"with open({str(self.flows.folder / 'trace')!r}, 'a') as trace: trace.write(str({line}) + '\\n')"

    @property
    def traced(self) -> str:
        """An expression for how many lines are in the trace."""
        return f"__import__('pathlib').Path({str(self.flows.folder / 'trace')!r}).read_text().count(chr(10))"


@pytest.fixture
def runs(flows: Flows) -> Runs:
    return Runs(flows)
