"""What a merge is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from mason.engines.execution.models.job import Job


class OnConflict(StrEnum):
    """What happens to a column whose files disagree."""

    WIDEN = "widen"
    STRING = "string"
    FAIL = "fail"


class OnBadRecord(StrEnum):
    """What happens to a record that does not fit."""

    QUARANTINE = "quarantine"
    FAIL = "fail"


class Mode(StrEnum):
    """What happens to what is in the output already."""

    REPLACE = "replace"
    APPEND = "append"


@dataclass(frozen=True)
class MergeOptions:
    """How files are read and united; what is empty or None is detected."""

    input_format: str = ""
    parse_headers: bool | None = None
    nulls: Sequence[str] = ()
    extract_paths: bool = False
    on_conflict: OnConflict = OnConflict.WIDEN
    on_bad_record: OnBadRecord = OnBadRecord.QUARANTINE
    mode: Mode = Mode.REPLACE


@dataclass(frozen=True)
class MergeJob:
    """Merge the files below a path into one table. `storage` is the address of the file system they lie in."""

    inputs: str
    output: str
    storage: str = "file:///"
    options: MergeOptions = field(default_factory=MergeOptions)

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs, outputs = {"path": self.inputs, "storage": self.storage}, {"path": self.output}
        return Job("merge", inputs, outputs, asdict(self.options))

    @classmethod
    def of(cls, job: Job) -> MergeJob:
        """Return the merge that a job describes."""
        options = MergeOptions(
            **{
                **job.options,
                "on_conflict": OnConflict(job.options["on_conflict"]),
                "on_bad_record": OnBadRecord(job.options["on_bad_record"]),
                "mode": Mode(job.options["mode"]),
            }
        )
        return cls(job.inputs["path"], job.outputs["path"], job.inputs["storage"], options)
