"""Jobs: what an execution engine is asked to do, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class JobStatus(StrEnum):
    """Where a job stands. The last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


@dataclass(frozen=True)
class Job:
    """A piece of work, stated logically: how it is split is its engine's affair."""

    type: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JobPlan:
    """What running a job would read, write and change."""

    job: Job
    details: Mapping[str, Any] = field(default_factory=dict)
    payload: Any = field(default=None, repr=False, compare=False)
    """What the engine itself needs of its plan to run it."""
    picture: Callable[[int], list[str]] | None = field(default=None, repr=False, compare=False)
    """Draws the plan in so many columns of a terminal, if it is worth that."""

    def to_dict(self) -> dict[str, Any]:
        return {"JobType": self.job.type, **self.details}


@dataclass(frozen=True)
class JobRecord:
    """What is known of a job that an engine has accepted."""

    id: str
    status: JobStatus
    details: Mapping[str, Any] = field(default_factory=dict)
    picture: Callable[[int], list[str]] | None = field(default=None, repr=False, compare=False)
    """Draws what the job made in so many columns of a terminal; only a job that this process ran has one."""

    def to_dict(self) -> dict[str, Any]:
        return {"JobID": self.id, "Status": self.status, **self.details}
