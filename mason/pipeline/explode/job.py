"""What an explode is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mason.engines.execution.models.job import Job
from mason.pipeline.foreign_files import Foreign

TYPE = "explode"


@dataclass(frozen=True)
class ExplodeJob:
    """Make flat tables of a nested one. Without an output they are only shown."""

    path: str
    name: str
    """What the table of the records is called; the others begin with it."""
    output: str = ""
    storage: str = "file:///"
    columns: Sequence[str] = ()
    separator: str = "_"
    limit: int = 10
    """How many records are shown where nothing is written."""
    foreign: str = Foreign.REFUSE

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs = {"path": self.path, "storage": self.storage}
        options = {
            "name": self.name,
            "columns": list(self.columns),
            "separator": self.separator,
            "limit": self.limit,
            "foreign": str(self.foreign),
        }
        return Job(TYPE, inputs, {"path": self.output} if self.output else {}, options)

    @classmethod
    def of(cls, job: Job) -> ExplodeJob:
        """Return the explode that a job describes."""
        return cls(job.inputs["path"], output=job.outputs.get("path", ""), storage=job.inputs["storage"], **job.options)
