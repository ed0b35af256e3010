"""What a check of a table is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.work.request import INPUT, JobRequest, output_named

SAMPLES = 5


@dataclass(frozen=True)
class CheckJob(JobRequest):
    """Hold a table, or the files at a path, against checks. `storage` is the address of their file system."""

    type = "check"
    path: Annotated[str, INPUT]
    references: Annotated[Sequence[str], INPUT] = field(init=False)
    """The tables that foreign keys refer to."""
    checks: Sequence[Check]
    storage: Annotated[str, INPUT] = "file:///"
    failures: Annotated[str, output_named("path")] = ""
    """The folder that becomes a table of the rows that fail; empty for none."""
    samples: int = SAMPLES
    """How many rows are shown that fail a check."""
    as_of: str = ""
    """The moment that ages are counted from; empty for now."""
    foreign: str = Foreign.REFUSE

    def __post_init__(self) -> None:
        references = dict.fromkeys(each.references for each in self.checks if each.references)
        object.__setattr__(self, "references", list(references))
