"""What an explode is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from mason.engines.storage.models.location import Location
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.request import INPUT, JobRequest, output_named


@dataclass(frozen=True, kw_only=True)
class ExplodeJob(JobRequest):
    """Make flat tables of a nested one. Without an output they are only shown."""

    type = "explode"
    path: Annotated[Location, INPUT]
    name: str
    """What the table of the records is called; the others begin with it."""
    output: Annotated[Location | None, output_named("path")] = None
    columns: Sequence[str] = ()
    separator: str = "_"
    limit: int = 10
    """How many records are shown where nothing is written."""
    foreign: str = Foreign.REFUSE
