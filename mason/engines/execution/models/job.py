"""Jobs: what an execution engine is asked to do, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from mason.engines.storage.models.location import Location, TableRef, locations_in
from mason.util.view import View

Places = Location | TableRef | Sequence[Location] | Mapping[str, Location] | Mapping[str, TableRef] | None
"""What an input or an output of a job is: one place, several, or several by their names; None where it is left out."""


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
    """A piece of work, stated logically: how it is split is its engine's affair.

    Each input and output is a place of its own: a job may read one storage and write another.
    """

    type: str
    inputs: Mapping[str, Places] = field(default_factory=dict)
    outputs: Mapping[str, Places] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> Location | None:
        """The table that the job writes, if it writes one; by convention its output `path`."""
        return next(locations_in(self.outputs.get("path")), None)

    @property
    def places_read(self) -> Sequence[Location]:
        """Every place that the job reads, each once."""
        return list(dict.fromkeys(locations_in(self.inputs)))

    @property
    def places_written(self) -> Sequence[Location]:
        """Every place that the job writes, each once."""
        return list(dict.fromkeys(locations_in(self.outputs)))

    @property
    def storages(self) -> Sequence[str]:
        """The addresses of the storages that the job reads and writes, each once."""
        return list(dict.fromkeys(each.storage for each in [*self.places_read, *self.places_written]))


_COLUMNS = ("Name", "Type")
PLAN_VIEW = View(
    parts={"Inputs": (), "Outputs": (), "Output": (), "Limit": (), "Columns": _COLUMNS},
    beside_picture=True,
)
RECORD_VIEW = View(
    columns=("JobID", "Status", "Name", "JobType", "StartedAt", "RowsIn", "RowsOut", "RowsQuarantined"),
    parts={"Output": (), "Error": (), "Columns": _COLUMNS},
)


@dataclass(frozen=True)
class JobPlan:
    """What running a job would read, write and change."""

    view: ClassVar[View] = PLAN_VIEW
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

    view: ClassVar[View] = RECORD_VIEW
    id: str
    status: JobStatus
    details: Mapping[str, Any] = field(default_factory=dict)
    picture: Callable[[int], list[str]] | None = field(default=None, repr=False, compare=False)
    """Draws what the job made in so many columns of a terminal; only a job that this process ran has one."""
    rows: Any = field(default=None, repr=False, compare=False)
    """The rows that the job gave, as an Arrow table; only of a query that this process ran."""

    def to_dict(self) -> dict[str, Any]:
        return {"JobID": self.id, "Status": self.status, **self.details}
