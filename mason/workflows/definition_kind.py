"""What the registration of a workflow needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mason.operators.definition_kind import DefinitionKind
from mason.state.models import Kind
from mason.util.problems import Problem
from mason.util.yaml_file import YamlDocument

WORKFLOW_FILE = "workflow.yaml"


def _check(document: YamlDocument) -> Iterator[Problem]:
    from mason.workflows.graph import step_problems  # only a registration pays for it
    from mason.workflows.workflow_spec import WorkflowSpec

    for key, message in step_problems(WorkflowSpec.of(document.value).steps):
        yield document.problem(key, message)


WORKFLOWS = DefinitionKind(
    Kind.WORKFLOW,
    WORKFLOW_FILE,
    Path(__file__).parent / "schema.json",
    {"mason.workflows.workflow_definition.WorkflowDefinition": {}},
    needs_class=False,
    optional_methods={"step": ("self", "current", "next")},
    check=_check,
)
