"""What a summary is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from mason.engines.storage.models.location import Location
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.request import INPUT, OUTPUT, JobRequest, output_named

BINS = 20


@dataclass(frozen=True, kw_only=True)
class SummaryJob(JobRequest):
    """Summarize the columns of a table, or of the files at a place."""

    type = "summarize"
    path: Annotated[Location, INPUT]
    columns: Sequence[str] = ()
    """The columns that are summarized; none stands for all."""
    exact: bool = False
    """Different values are counted, not estimated, however many there are."""
    histogram: int = BINS
    """How many bins a histogram has at most."""
    output: Annotated[Location | None, output_named("path")] = None
    """The folder that becomes a table with a row for each column, if there is to be one."""
    html: Annotated[Location | None, OUTPUT] = None
    """The file of this machine that the summary is written to as a page, if there is to be one."""
    overwrite: bool = False
    """The page may replace a file that Mason did not write."""
    foreign: str = Foreign.REFUSE
