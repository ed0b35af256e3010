"""What a transformation is asked: whose code, which tables, which one it writes, and what must hold of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.merge.job import Mode
from mason.pipeline.work.request import INPUT, JobRequest, output_named

SAMPLES = 20
"""How many rows that fail a check are kept with the record."""


@dataclass(frozen=True, kw_only=True)
class CodeFolder:
    """The folder of an operator in which its class is."""

    path: str
    class_name: str
    function: str
    """What calls the class, named by its module as a kernel is."""
    packages: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TransformJob(JobRequest):
    """Make the next version of a table out of other tables, by a statement or by an author's class."""

    type = "transform"
    name: str
    """The operator's name."""
    digest: str
    """Which version of the operator it is."""
    source: str
    """The folder that its author knows."""
    tables: Annotated[Mapping[str, TableRef], INPUT]
    """What is read, by the names of the parameters."""
    output: Annotated[Location, output_named("path")]
    statement: str = ""
    code: CodeFolder | None = None
    declared: Sequence[str] = ()
    """The names of all parameters."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The values of those that are no tables; those that JSON has no word for are written with their types."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of tables that are read where it is not the newest."""
    mode: Mode = Mode.REPLACE
    partition_by: Sequence[str] = ()
    checks: Sequence[Check] = ()
    references: Annotated[Mapping[str, Location], INPUT] = field(default_factory=dict)
    """The tables that foreign keys refer to, by what the checks call them."""
    failures: Annotated[Location | None, output_named("failures")] = None
    """The folder that becomes a table of the rows that fail a check."""
    allow_empty: bool = False

    @property
    def places(self) -> Mapping[str, Location]:
        """Where the tables lie that are read."""
        return {name: each.location for name, each in self.tables.items() if each.location}
