"""What a check of a table is asked to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.request import INPUT, JobRequest, output_named

SAMPLES = 5


@dataclass(frozen=True)
class CheckJob(JobRequest):
    """Hold a table, or the files at a path, against checks."""

    type = "check"
    path: Annotated[Location, INPUT]
    checks: Sequence[Check]
    references: Annotated[Mapping[str, Location], INPUT] = field(default_factory=dict)
    """The tables that foreign keys refer to, by what the checks call them."""
    failures: Annotated[Location | None, output_named("path")] = None
    """The folder that becomes a table of the rows that fail, if there is to be one."""
    samples: int = SAMPLES
    """How many rows are shown that fail a check."""
    as_of: str = ""
    """The moment that ages are counted from; empty for now."""
    foreign: str = Foreign.REFUSE
