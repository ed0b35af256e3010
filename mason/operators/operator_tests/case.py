"""A test file, read: what is given, how the operator is called, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class GivenFile:
    """A file that is there before the run: text, rows (of a schema, where the format keeps types), or a copy."""

    path: str
    text: str = ""
    rows: Sequence[Row] | None = None
    schema: Mapping[str, str] = field(default_factory=dict)
    source: Path | None = None


@dataclass(frozen=True)
class GivenTable:
    """A table that the metastore knows before the run."""

    database: str
    name: str
    path: str


@dataclass(frozen=True)
class GivenRun:
    """An operator that runs before; what its data say can be used in later parameters: `{{name.JobID}}`."""

    name: str
    operator: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """All that is there before the run."""

    files: Sequence[GivenFile] = ()
    databases: Sequence[str] = ()
    tables: Sequence[GivenTable] = ()
    runs: Sequence[GivenRun] = ()


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What must come of the run; what is None is not looked at."""

    table: str = ""
    rows: Sequence[Row] | None = None
    ordered: bool = False
    schema: Mapping[str, str] | None = None
    data: Mapping[str, Any] | Sequence[Any] | None = None
    errors: Sequence[str] = ()
    warnings: Sequence[str] | None = None
    info: Sequence[str] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    nothing_written: bool = False
    may_differ: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One test of an operator."""

    file: Path
    name: str
    given: Given
    parameters: Mapping[str, Any]
    plan: bool
    expect: Expectation
