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
    # Only a registration pays for these.
    from mason.engines.scheduler.models.timing import Timing
    from mason.workflows.graph import step_problems
    from mason.workflows.workflow_spec import readable_steps

    for key, message in step_problems(readable_steps(document.value.get("dag"))):
        yield document.problem(key, message)
    schedule = document.value.get("schedule")
    if schedule and isinstance(schedule, str):
        try:
            Timing.checked(schedule)
        except ValueError as error:
            yield document.problem(("schedule",), str(error))


WORKFLOWS = DefinitionKind(
    Kind.WORKFLOW,
    WORKFLOW_FILE,
    Path(__file__).parent / "schema.json",
    {"mason.workflows.workflow_definition.WorkflowDefinition": {}},
    needs_class=False,
    optional_methods={"step": ("self", "current", "next")},
    check=_check,
)
