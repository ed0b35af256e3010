"""What the registration of a workflow needs, and which of its steps name operators that nobody knows.

Those are no reason to refuse it, for operators may be registered after it; but who mends it wants to know of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mason.operators.registration.definition_kind import DefinitionKind
from mason.operators.registration.registry import outline_definitions
from mason.state.models import Kind
from mason.state.store import StateStore
from mason.util.names import did_you_mean, full_name
from mason.util.yaml_file import Problem, YamlDocument
from mason.workflows.definition.workflow_spec import readable_steps

WORKFLOW_FILE = "workflow.yaml"


def _check(document: YamlDocument) -> Iterator[Problem]:
    # Only a registration pays for these.
    from mason.engines.scheduler.models.timing import Timing
    from mason.workflows.definition.graph import step_problems
    from mason.workflows.definition.workflow_spec import readable_steps

    for key, message in step_problems(readable_steps(document.value.get("dag"))):
        yield document.problem(key, message)
    schedule = document.value.get("schedule")
    if schedule and isinstance(schedule, str):
        try:
            Timing.parse_checked(schedule)
        except ValueError as error:
            yield document.problem(("schedule",), str(error))


WORKFLOWS = DefinitionKind(
    kind=Kind.WORKFLOW,
    file_name=WORKFLOW_FILE,
    schema_file=Path(__file__).parent / "schema.json",
    bases={"mason.workflows.workflow_definition.WorkflowDefinition": {}},
    needs_class=False,
    optional_methods={"step": ("self", "current", "next")},
    check=_check,
)


def unknown_steps(documents: Sequence[tuple[Kind, YamlDocument]], store: StateStore) -> list[Problem]:
    """Return where a workflow first names an operator or workflow that is neither registered nor a definition."""
    known = {
        kind: {str(each.name) for each in outline_definitions(store, kind)} for kind in (Kind.OPERATOR, Kind.WORKFLOW)
    }
    for kind, document in documents:
        known[kind].add(_name(document))
    workflows = [document for kind, document in documents if kind is Kind.WORKFLOW]
    return sorted({problem for each in workflows for problem in _unknown(each, known)})


def _unknown(document: YamlDocument, known: dict[Kind, set[str]]) -> Iterator[Problem]:
    if not isinstance(document.value, dict):
        return
    reported: set[tuple[str, str]] = set()
    for number, step in readable_steps(document.value.get("dag")):
        names = next((names for kind, names in known.items() if kind == step.type), None)
        if names is None or not step.command or step.name in names or (step.type, step.name) in reported:
            continue
        reported.add((step.type, step.name))
        message = f'{step.type} "{step.name}" is not registered. {did_you_mean(step.name, names)}'
        yield document.problem(("dag", number, "command"), message.rstrip())


def _name(document: YamlDocument) -> str:
    value = document.value if isinstance(document.value, dict) else {}
    return full_name(str(value.get("namespace") or ""), str(value.get("command") or ""))
