"""A step that was run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mason.engines.scheduler.models.dags.failed_dag_step import FailedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep


class Said(Protocol):
    """What a response says, as far as a DAG has to know."""

    @property
    def errors(self) -> Sequence[str]: ...


class StepResponse(Protocol):
    """What running a step gave: an OperatorResponse, which stands in a layer above this one."""

    @property
    def response(self) -> Said: ...

    @property
    def object(self) -> Any: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ExecutedDagStep:
    """A step after its operator ran. One that failed has no object, and its response has the errors."""

    step: ValidDagStep
    operator_response: StepResponse

    @property
    def errors(self) -> Sequence[str]:
        return self.operator_response.response.errors

    def failed(self, reason: str) -> FailedDagStep:
        """Return the verdict that this step failed, whatever its operator says."""
        return FailedDagStep(self.step, reason)
