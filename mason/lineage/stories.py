"""What is told of jobs, steps and runs, as plain data: whom an event is about, and what it says."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mason.engines.execution.models.job import Job, JobStatus
from mason.engines.storage.models.location import locations_in
from mason.lineage.datasets import DatasetFacts, dataset_name
from mason.lineage.surroundings import Surroundings

_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:mason-data:lineage")


class Moment(StrEnum):
    """What happened, in OpenLineage's words."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


ENDS = {
    JobStatus.SUCCEEDED: Moment.COMPLETE,
    JobStatus.FAILED: Moment.FAIL,
    JobStatus.CANCELLED: Moment.ABORT,
    JobStatus.LOST: Moment.ABORT,
}


@dataclass(frozen=True)
class Subject:
    """Whom an event is about: a job, a step or a run, and what it is a part of."""

    kind: str
    name: str
    id: str
    """A UUID, the same in every event about it."""
    parent: Subject | None = None

    @property
    def root(self) -> Subject:
        """What it is a part of in the end."""
        return self.parent.root if self.parent else self


@dataclass(frozen=True, kw_only=True)
class Said:
    """What an event says beyond that something happened."""

    inputs: Sequence[DatasetFacts] = ()
    outputs: Sequence[DatasetFacts] = ()
    error: str = ""
    query: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


NOTHING = Said()


def run_subject(workflow: str, run_id: str) -> Subject:
    """Return a run of a workflow: every process makes the same of it."""
    return Subject("WORKFLOW", workflow, str(uuid.uuid5(_IDS, f"run:{run_id}")))


def step_subject(workflow: str, run_id: str, step: str) -> Subject:
    """Return a step of a run."""
    own = str(uuid.uuid5(_IDS, f"step:{run_id}:{step}"))
    return Subject("STEP", f"{workflow}.{step}", own, run_subject(workflow, run_id))


def job_subject(job: Job, around: Surroundings, text: Callable[[str], str] = str) -> Subject:
    """Return a job; `text` takes secrets out.

    One that is not a step is named after what it works on, too, since that makes it the same job next time.
    """
    if around.step:
        step = step_subject(around.workflow, around.run_id, around.step)
        return Subject("JOB", f"{step.name}.{job.type}", str(uuid.uuid4()), step)
    named = job.output or next(locations_in(job.inputs.get("path")), None)
    place = dataset_name(str(named))[1] if named else str(job.options.get("database", ""))
    words = re.sub(r"[^\w.=-]+", "_", text(place)).strip("_")
    return Subject("JOB", ".".join(filter(None, [around.operator or job.type, words])), str(uuid.uuid4()))
