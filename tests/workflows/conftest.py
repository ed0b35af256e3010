"""Workflows for tests: a registry in memory with operators that need no engine, and steps written in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mason.errors import MasonError
from mason.operators.definition_folder import read_definitions
from mason.operators.definition_kind import OPERATORS
from mason.state.models import NewRegistration
from mason.state.sqlite import SqliteStore
from mason.util.environment import MasonEnvironment
from mason.workflows.definition_kind import WORKFLOWS
from mason.workflows.definitions import Definitions
from mason.workflows.parameter_file import read_parameters
from mason.workflows.valid_workflow import ValidWorkflow
from mason.workflows.validation import validate_workflow
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


@dataclass
class Flows:
    """A folder of definitions, and what Mason says of them."""

    folder: Path
    files: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def workflow(self, *steps: str, command: str = "flow", code: str = "", schedulers: str = "[local]") -> Flows:
        files = {"workflow.yaml": workflow_yaml(steps, command=command, schedulers=schedulers)}
        write(self.folder / "workflows" / command, {**files, **({"__init__.py": code} if code else {})})
        return self

    def operator(
        self, command: str, body: str = "pass", *, parameters: str = NOOP_PARAMETERS, supported: str = ""
    ) -> Flows:
        operator_with(self.folder / "operators", "demo", command, parameters=parameters, body=body, supported=supported)
        return self

    def read(self) -> tuple[Sequence[NewRegistration], Sequence[str]]:
        found = read_definitions(self.folder, [OPERATORS, WORKFLOWS])
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
