"""A step that failed."""

from __future__ import annotations

from dataclasses import dataclass

from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep


@dataclass(frozen=True, slots=True)
class FailedDagStep:
    """A workflow's verdict on a step: it is tried again as its policy says, and has failed when that is used up."""

    step: ValidDagStep
    reason: str
