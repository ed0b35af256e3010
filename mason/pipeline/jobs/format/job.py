"""What writing a table in another format is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from mason.engines.storage.models.location import Location
from mason.errors import BadInput
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.request import INPUT, OPTIONS, JobRequest, output_named
from mason.util.words import SIZE_HOW, read_size

SMALLEST_FILE = 1024
LARGEST_FILE = 10**15


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """How a table is written; what is empty is left to the format."""

    format: str
    columns: Sequence[str] = ()
    filter: str = ""
    """A condition in SQL: rows for which it is not true are left out."""
    partition_columns: Sequence[str] = ()
    file_size: str = ""
    compression: str = ""
    sample_size: int | None = None


@dataclass(frozen=True)
class FormatJob(JobRequest):
    """Write a table in another format, in whichever storage."""

    type = "format"
    path: Annotated[Location, INPUT]
    output: Annotated[Location, output_named("path")]
    options: Annotated[FormatOptions, OPTIONS]
    foreign: str = Foreign.REFUSE


def parse_size(text: str) -> int:
    """Return the bytes that a text such as `128MB` or `1 GiB` says; 0 for none.

    Raises:
        BadInput: it is not a size, too small for a file to be worth it, or larger than any.
    """
    if not text:
        return 0
    size = read_size(text)
    if size is None:
        raise BadInput(f'"{text}" is not a size.', hint=SIZE_HOW)
    if size < SMALLEST_FILE:
        raise BadInput(f'"{text}" is too small for a file.', hint=f"The least is {SMALLEST_FILE} bytes.")
    if size > LARGEST_FILE:
        raise BadInput(f'"{text}" is too large for a file.', hint="The most is 1000TB.")
    return size
