"""`workflow.yaml`, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mason.util.names import full_name

OPERATOR, WORKFLOW = "operator", "workflow"


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
            namespace,
            command,
            definition.get("name") or f"{namespace}_{command}",
            definition.get("description", ""),
            tuple(StepSpec.of(each) for each in definition["dag"]),
            tuple(definition.get("supported_schedulers", ())),
            definition.get("schedule", ""),
        )

    @property
    def name(self) -> str:
        return full_name(self.namespace, self.command)
