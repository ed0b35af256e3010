"""`workflow.yaml`, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mason.util.names import full_name

OPERATOR, WORKFLOW = "operator", "workflow"
_TEXTS = ("id", "type", "namespace", "command", "retry", "when")


class StepSpec(NamedTuple):
    """A step as its author wrote it."""

    id: str
    type: str
    namespace: str
    command: str
    dependencies: Sequence[str] = ()
    retry: str = ""
    retry_max: int | None = None
    timeout: float | None = None
    when: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> StepSpec:
        return cls(**{**given, "namespace": given.get("namespace") or ""})

    @property
    def name(self) -> str:
        return full_name(self.namespace, self.command)


def readable_steps(dag: Any) -> list[tuple[int, StepSpec]]:
    """Return the steps that have an id, each with its number, as far as they can be read.

    What cannot is left out: the schema tells of it.
    """
    steps = enumerate(dag) if isinstance(dag, list) else ()
    return [(number, _readable(each)) for number, each in steps if isinstance(each, dict) and _is_text(each.get("id"))]


def _readable(given: Mapping[str, Any]) -> StepSpec:
    texts: dict[str, str] = {key: given[key] for key in _TEXTS if _is_text(given.get(key))}
    dependencies, retry_max = given.get("dependencies"), given.get("retry_max")
    are_texts = isinstance(dependencies, list) and all(map(_is_text, dependencies))
    return StepSpec(
        id=texts["id"],
        type=texts.get("type", OPERATOR),
        namespace=texts.get("namespace", ""),
        command=texts.get("command", ""),
        dependencies=tuple(dependencies or ()) if are_texts else (),
        retry=texts.get("retry", ""),
        retry_max=retry_max if isinstance(retry_max, int) else None,
        when=texts.get("when", ""),
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


class WorkflowSpec(NamedTuple):
    """A workflow's name, steps and schedulers."""

    namespace: str
    command: str
    title: str
    description: str
    steps: Sequence[StepSpec]
    supported_schedulers: Sequence[str]
    schedule: str = ""

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> WorkflowSpec:
        """Build the spec from a definition that fits `schema.json`."""
        namespace, command = definition["namespace"], definition["command"]
        return cls(
            namespace=namespace,
            command=command,
            title=definition.get("name") or f"{namespace}_{command}",
            description=definition.get("description", ""),
            steps=tuple(StepSpec.of(each) for each in definition["dag"]),
            supported_schedulers=tuple(definition.get("supported_schedulers", ())),
            schedule=definition.get("schedule", ""),
        )

    @property
    def name(self) -> str:
        return full_name(self.namespace, self.command)
