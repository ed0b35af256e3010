"""Steps of which nobody knows the operator, looked for when their workflow is registered.

They are no reason to refuse it, for operators may be registered after it; but who mends it wants to know of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mason.operators.registry import list_operators
from mason.state.models import Kind
from mason.state.store import StateStore
from mason.util.names import full_name
from mason.util.nearest import did_you_mean
from mason.util.problems import Problem
from mason.util.yaml_file import YamlDocument
from mason.workflows.workflow_spec import readable_steps


def unknown_steps(documents: Sequence[tuple[Kind, YamlDocument]], store: StateStore) -> list[Problem]:
    """Return where a workflow first names an operator or workflow that is neither registered nor a definition."""
    known = {
        Kind.OPERATOR: {str(each.name) for each in list_operators(store)},
        Kind.WORKFLOW: {str(each.name) for each in store.list_registrations(Kind.WORKFLOW)},
    }
    for kind, document in documents:
        known[kind].add(_name(document))
    workflows = [document for kind, document in documents if kind is Kind.WORKFLOW]
    return sorted({problem for each in workflows for problem in _unknown(each, known)})


def _unknown(document: YamlDocument, known: dict[Kind, set[str]]) -> Iterator[Problem]:
    if not isinstance(document.value, dict):
        return
    told: set[tuple[str, str]] = set()
    for number, step in readable_steps(document.value.get("dag")):
        names = next((names for kind, names in known.items() if kind == step.type), None)
        if names is None or not step.command or step.name in names or (step.type, step.name) in told:
            continue
        told.add((step.type, step.name))
        message = f'{step.type} "{step.name}" is not registered. {did_you_mean(step.name, names)}'
        yield document.problem(("dag", number, "command"), message.rstrip())


def _name(document: YamlDocument) -> str:
    value = document.value if isinstance(document.value, dict) else {}
    return full_name(str(value.get("namespace") or ""), str(value.get("command") or ""))
