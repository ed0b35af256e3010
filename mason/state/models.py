"""What the state store holds, as plain data.

Named tuples rather than frozen dataclasses: every listing loads them, and they take a fifth of the time to define.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """What can be registered."""

    OPERATOR = "operator"
    WORKFLOW = "workflow"


class Origin(StrEnum):
    """Where a definition comes from; in this order, the first that has a name decides what it means."""

    PROJECT = "project"
    REGISTERED = "registered"
    PACKAGE = "package"
    MASON = "mason"


class RecordKind(StrEnum):
    """What is recorded while it lives."""

    JOB = "job"
    RUN = "run"
    SCHEDULE = "schedule"
    CANCELLATION = "cancellation"
    """Of the job with the same id: somebody asked for its end."""
    CALL = "call"
    """An operator or workflow that was called through the API: queued, running, and what came of it."""
    TOKEN = "token"
    """Who may call the API; the token itself is not in it, only its digest."""
    PROJECT = "project"
    """What a server took of a project at its start: the versions of its definitions, and its configurations."""
    FILE = "file"
    """A file outside of tables that Mason wrote, by its path: the digest says whether it still is that one."""

    def lease(self, record_id: str) -> str:
        """Return the name of the lease that whoever works on a record holds."""
        return f"{self}:{record_id}"


class Name(NamedTuple):
    """The name of a registration; the namespace may be empty."""

    kind: Kind
    namespace: str
    command: str

    def __str__(self) -> str:
        return f"{self.namespace}:{self.command}" if self.namespace else self.command


class Registration(NamedTuple):
    """One version of an operator or workflow: its digest names its content."""

    name: Name
    digest: str
    definition: Mapping[str, Any]
    source: str
    registered_at: str = ""
    current: bool = False
    origin: Origin = Origin.REGISTERED

    @property
    def pinned_name(self) -> str:
        return f"{self.name}@sha256:{self.digest}"

    @property
    def short_digest(self) -> str:
        return f"sha256:{self.digest[:12]}"


class NewRegistration(NamedTuple):
    """A registration to be made, with the files that it consists of."""

    registration: Registration
    files: Mapping[str, bytes]


class Outcome(StrEnum):
    """What became of a registration."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"


class SavedConfiguration(NamedTuple):
    """A configuration as its author wrote it; `{{NAME}}` in it is not filled. `checked_by` is a version of Mason."""

    id: str
    text: str
    source: str
    checked_by: str
    saved_at: str = ""


class Record(NamedTuple):
    """The record of a job, run or schedule. `version` grows with every change: an update names the one it saw."""

    kind: RecordKind
    id: str
    status: str
    document: Mapping[str, Any]
    version: int
    created_at: str
    updated_at: str


class RecordMark(NamedTuple):
    """Which record, and where it stands, without what it says."""

    kind: RecordKind
    id: str
    status: str
    created_at: str


class RunStep(NamedTuple):
    """What became of a step of a run; `number` is its place in the DAG's order."""

    run: str
    step: str
    number: int
    status: str
    document: Mapping[str, Any]
    updated_at: str = ""


class Lease(NamedTuple):
    """A claim that only one process can hold; a later holder has a higher fence."""

    name: str
    owner: str
    fence: int
