"""The contract of a state store: an embedded one (SQLite), or one on a server that several machines share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mason.state.models import (
    Kind,
    Lease,
    Name,
    NewRegistration,
    Outcome,
    Record,
    RecordKind,
    RecordMark,
    Registration,
    RunStep,
    SavedConfiguration,
)
from mason.state.surroundings import Surroundings


class StateStore(ABC):
    """Every method is one transaction: it happens whole or not at all, also with many processes and a crash.

    Raises, from every method:
        StateFailed: the store cannot be read or written, or a newer Mason made it.
    """

    is_far = False
    """Whether a question to it goes over a network, and may have to wait."""

    _OUTSIDE: ClassVar = Surroundings()
    surroundings: Surroundings = _OUTSIDE
    """What there is besides for whoever opened it: the definitions and configurations of a project."""

    @abstractmethod
    def register(self, new: Sequence[NewRegistration], *, replace: bool) -> list[Outcome]:
        """Register all of them and make each the current one of its name, or none of them.

        Raises:
            AlreadyRegistered: a name is taken by other content and `replace` is false, or by a namespace.
        """

    @abstractmethod
    def add_versions(self, new: Sequence[NewRegistration]) -> None:
        """Keep versions that are to be found by their digests; what is current stays so, and what is there as it is."""

    @abstractmethod
    def list_registrations(self, kind: Kind) -> list[Registration]:
        """Return the current registration of every name, sorted by name."""

    @abstractmethod
    def get_registration(self, name: Name) -> Registration | None:
        """Return the current registration of a name; none where there is no such name."""

    @abstractmethod
    def get_history(self, name: Name) -> list[Registration]:
        """Return every version that the name ever had, the newest first."""

    @abstractmethod
    def set_current(self, name: Name, digest: str) -> None:
        """Make a version that the name has had the current one."""

    @abstractmethod
    def remove_registration(self, name: Name) -> None:
        """Forget the name and all its versions."""

    @abstractmethod
    def list_digests(self) -> set[str]:
        """Return the digest of every version of every name."""

    @abstractmethod
    def get_files(self, digest: str) -> dict[str, bytes]:
        """Return the files of a version."""

    @abstractmethod
    def save_configurations(self, configurations: Sequence[SavedConfiguration]) -> None:
        """Save the configurations, replacing those of the same id."""

    @abstractmethod
    def list_configurations(self) -> list[SavedConfiguration]:
        """Return every saved configuration, sorted by id."""

    @abstractmethod
    def delete_configuration(self, config_id: str) -> None:
        """Forget a configuration, and that it is the current one."""

    @abstractmethod
    def get_current_configuration(self) -> str | None:
        """Return the id of the current configuration, if one was ever chosen."""

    @abstractmethod
    def set_current_configuration(self, config_id: str) -> None:
        """Choose the current configuration."""

    @abstractmethod
    def add_record(self, kind: RecordKind, record_id: str, status: str, document: Mapping[str, Any]) -> Record:
        """Add a record.

        Raises:
            AlreadyExists: there is a record of this kind and id.
        """

    @abstractmethod
    def update_record(self, seen: Record, status: str, document: Mapping[str, Any]) -> Record:
        """Replace what the record says.

        Raises:
            Conflict: it was changed since `seen` was read, or is gone.
        """

    @abstractmethod
    def get_record(self, kind: RecordKind, record_id: str) -> Record | None:
        """Return a record, if it is there."""

    @abstractmethod
    def list_records(self, kind: RecordKind, *, status: str = "", limit: int = 100, offset: int = 0) -> list[Record]:
        """Return records, the newest first."""

    @abstractmethod
    def delete_record(self, kind: RecordKind, record_id: str) -> bool:
        """Delete a record, and say whether it was there."""

    @abstractmethod
    def list_old_records(
        self, kind: RecordKind, before: str, *, after: RecordMark | None = None, limit: int = 100
    ) -> list[RecordMark]:
        """Return records that were last changed before a time, in the order in which they were added, behind `after`.

        Times are texts as in `Record`.
        """

    @abstractmethod
    def remove_old_records(self, kind: RecordKind, record_ids: Sequence[str], before: str) -> int:
        """Remove those of the records that were not changed since a time, and return how many.

        With them go the steps of runs, and the leases of whoever worked on them.
        """

    @abstractmethod
    def oldest_record(self, kind: RecordKind, status: str) -> Record | None:
        """Return the record that was added first of those with a status, if there is one."""

    @abstractmethod
    def count_records(self, kind: RecordKind, status: str = "") -> dict[str, int]:
        """Return how many records there are of each status, or of one."""

    @abstractmethod
    def get_changes(self) -> int:
        """Return a number that is another one after anybody else has changed something; it costs next to nothing."""

    @abstractmethod
    def get_id(self) -> str:
        """Return what tells this state from every other one; a copy that is put into its place has the same."""

    @abstractmethod
    def require_id(self, state_id: str) -> None:
        """Check that this is the state of that id; with none given, any will do.

        Raises:
            StateFailed: it is another one.
        """

    @abstractmethod
    def get_definitions_mark(self) -> int:
        """Return a number that is another one after registrations, configurations or tokens have changed."""

    @abstractmethod
    def save_run_steps(self, steps: Sequence[RunStep]) -> None:
        """Save where steps of a run stand, in the place of what was said of them before."""

    @abstractmethod
    def list_run_steps(self, run: str) -> list[RunStep]:
        """Return the steps of a run that something was saved of, in the DAG's order."""

    @abstractmethod
    def acquire_lease(self, name: str, owner: str, seconds: float) -> Lease | None:
        """Claim the name for some seconds, if nobody holds it or its holder let it expire."""

    @abstractmethod
    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        """Hold the lease for longer; false when another process has it by now."""

    @abstractmethod
    def release_lease(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when another process has it by now."""

    @abstractmethod
    def is_held(self, name: str) -> bool:
        """Say whether somebody holds the lease of that name now."""

    @abstractmethod
    def describe(self) -> str:
        """Return what it is and where, for a person; no password is in it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the store."""
