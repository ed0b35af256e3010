"""What a check of a table is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mason.engines.execution.models.job import Job
from mason.pipeline.check.checks import Check
from mason.pipeline.foreign_files import Foreign

SAMPLES = 5


@dataclass(frozen=True)
class CheckJob:
    """Hold a table, or the files at a path, against checks. `storage` is the address of their file system."""

    path: str
    checks: Sequence[Check]
    storage: str = "file:///"
    failures: str = ""
    """The folder that becomes a table of the rows that fail; empty for none."""
    samples: int = SAMPLES
    """How many rows are shown that fail a check."""
    as_of: str = ""
    """The moment that ages are counted from; empty for now."""
    foreign: str = Foreign.REFUSE

    @property
    def references(self) -> Sequence[str]:
        """The tables that foreign keys refer to."""
        return list(dict.fromkeys(each.references for each in self.checks if each.references))

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs = {"path": self.path, "references": self.references, "storage": self.storage}
        checks = [asdict(each) for each in self.checks]
        options = {"checks": checks, "samples": self.samples, "as_of": self.as_of, "foreign": str(self.foreign)}
        return Job("check", inputs, {"path": self.failures}, options)

    @classmethod
    def of(cls, job: Job) -> CheckJob:
        """Return the check of a table that a job describes."""
        options = {**job.options, "checks": [Check(**each) for each in job.options["checks"]]}
        return cls(path=job.inputs["path"], storage=job.inputs["storage"], failures=job.outputs["path"], **options)
