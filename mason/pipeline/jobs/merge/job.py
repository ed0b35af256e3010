"""What a merge is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from mason.engines.storage.models.delimited_options import DelimitedOptions
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.output_place import is_same_place
from mason.pipeline.work.request import INPUT, OPTIONS, JobRequest, input_named, output_named

MOST_BAD_SHARE = 0.1
COMMIT_TIMEOUT = 60.0


class OnConflict(StrEnum):
    """What happens to a column whose files disagree."""

    WIDEN = "widen"
    STRING = "string"
    FAIL = "fail"


class OnBadRecord(StrEnum):
    """What happens to a record that does not fit; `null` is for single values, the rest of such a record is kept."""

    QUARANTINE = "quarantine"
    NULL = "null"
    FAIL = "fail"


class Mode(StrEnum):
    """What happens to what is in the output already."""

    REPLACE = "replace"
    APPEND = "append"
    REPLACE_PARTITIONS = "replace_partitions"


class Names(StrEnum):
    """What happens to columns whose names cannot be told apart.

    `exact` refuses them; `number` adds a number to a name that a file has twice; `fold` does that, too, and takes names
    that differ only in case for one.
    """

    EXACT = "exact"
    NUMBER = "number"
    FOLD = "fold"


@dataclass(frozen=True)
class MergeOptions:
    """How files are read and united; what is empty or None is detected."""

    input_format: str = ""
    parse_headers: bool | None = None
    delimiter: str = ""
    encoding: str = ""
    nulls: Sequence[str] = ()
    extract_paths: bool = False
    on_conflict: OnConflict = OnConflict.WIDEN
    on_bad_record: OnBadRecord = OnBadRecord.QUARANTINE
    mode: Mode = Mode.REPLACE
    names: Names = Names.EXACT
    schema: str = ""
    """Types that columns must have, as SQL declares them: `id bigint, price decimal(10,2)`."""
    timezone: str = ""
    """The zone of times that state none, where they meet times that do."""
    sample: int | None = None
    """How many records of each file are looked at for the plan; 0 for all."""
    repartition_keys: Sequence[str] = ()
    incremental: bool = False
    most_bad_share: float = MOST_BAD_SHARE
    """The share of records, or of a column's values, that may be bad before the job fails."""
    commit_timeout: float = COMMIT_TIMEOUT
    """How many seconds an append goes on trying to commit after another job was faster."""
    csv: DelimitedOptions = field(default_factory=DelimitedOptions)
    explain: str = ""
    """A file of the input of which the plan tells all that is known."""
    foreign: Foreign = Foreign.REFUSE
    """What becomes of data files in the output that Mason did not write."""


@dataclass(frozen=True)
class MergeJob(JobRequest):
    """Merge the files below a path into one table. `storage` is the address of the file system they lie in."""

    type = "merge"
    inputs: Annotated[str, input_named("path")]
    output: Annotated[str, output_named("path")]
    storage: Annotated[str, INPUT] = "file:///"
    options: Annotated[MergeOptions, OPTIONS] = field(default_factory=MergeOptions)

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the input."""
        return is_same_place(self.inputs, self.output)
