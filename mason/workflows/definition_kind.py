"""What the registration of a workflow needs."""

from __future__ import annotations

from pathlib import Path

from mason.operators.definition_kind import DefinitionKind
from mason.state.models import Kind

WORKFLOWS = DefinitionKind(
    Kind.WORKFLOW,
    "workflow.yaml",
    Path(__file__).parent / "schema.json",
    {"mason.workflows.workflow_definition.WorkflowDefinition": {}},
    needs_class=False,
)
