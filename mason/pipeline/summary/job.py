"""What a summary is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mason.engines.execution.models.job import Job
from mason.pipeline.foreign_files import Foreign

BINS = 20


@dataclass(frozen=True)
class SummaryJob:
    """Summarize the columns of a table, or of the files at a path. `storage` is the address of their file system."""

    path: str
    storage: str = "file:///"
    columns: Sequence[str] = ()
    """The columns that are summarized; none stands for all."""
    exact: bool = False
    """Different values are counted, not estimated, however many there are."""
    histogram: int = BINS
    """How many bins a histogram has at most."""
    output: str = ""
    """The folder that becomes a table with a row for each column; empty for none."""
    html: str = ""
    """The file that the summary is written to as a page; empty for none."""
    overwrite: bool = False
    """The page may replace a file that Mason did not write."""
    foreign: str = Foreign.REFUSE

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs = {"path": self.path, "storage": self.storage}
        options = {
            "columns": list(self.columns),
            "exact": self.exact,
            "histogram": self.histogram,
            "overwrite": self.overwrite,
            "foreign": str(self.foreign),
        }
        return Job("summarize", inputs, {"path": self.output, "html": self.html}, options)

    @classmethod
    def of(cls, job: Job) -> SummaryJob:
        """Return the summary that a job describes."""
        outputs = {"output": job.outputs["path"], "html": job.outputs["html"]}
        return cls(job.inputs["path"], job.inputs["storage"], **job.options, **outputs)
