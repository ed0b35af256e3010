"""What a merge is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from mason.engines.storage.models.location import Location
from mason.pipeline.reading.request import ReadOptions, ReadRequest
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.output_place import is_same_place
from mason.pipeline.work.request import OPTIONS, JobRequest, input_named, output_named

COMMIT_TIMEOUT = 60.0


class Mode(StrEnum):
    """What happens to what is in the output already."""

    REPLACE = "replace"
    APPEND = "append"
    REPLACE_PARTITIONS = "replace_partitions"


@dataclass(frozen=True, kw_only=True)
class MergeOptions(ReadOptions):
    """How files are read and united, and how the table is written."""

    mode: Mode = Mode.REPLACE
    repartition_keys: Sequence[str] = ()
    incremental: bool = False
    commit_timeout: float = COMMIT_TIMEOUT
    """How many seconds an append goes on trying to commit after another job was faster."""
    explain: str = ""
    """A file of the input of which the plan tells all that is known."""
    foreign: Foreign = Foreign.REFUSE
    """What becomes of data files in the output that Mason did not write."""


@dataclass(frozen=True)
class MergeJob(JobRequest):
    """Merge the files below a place into one table, in whichever storage that is."""

    type = "merge"
    inputs: Annotated[Location, input_named("path")]
    output: Annotated[Location, output_named("path")]
    options: Annotated[MergeOptions, OPTIONS] = field(default_factory=MergeOptions)

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the input."""
        return is_same_place(self.inputs, self.output)

    @property
    def reading(self) -> ReadRequest:
        """What of the merge is reading."""
        return ReadRequest(self.inputs, self.options)
