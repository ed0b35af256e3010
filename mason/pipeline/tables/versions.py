"""The versions of a table: what each of them changed, going back to one, and removing what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar

from mason.engines.storage.models.location import Location
from mason.errors import NotFound, Unprocessable
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.kept_versions import Kept, KeptVersions, open_versions
from mason.pipeline.types.evidence_json import decode_schema
from mason.util.text_table import clip_lines
from mason.util.view import View

_SHORTEST_ID = 4
_SHOWN_ID = 8
_MINUTES = len("2026-01-31T12:00")


class VersionGone(Unprocessable):
    """Raised when the files of a version are not kept any more. 422 · exit 1"""


@dataclass(frozen=True)
class Version:
    """A version of a table, what it changed, and what is kept of it."""

    view: ClassVar[View] = View(columns=("Number", "Commit", "CreatedAt", "Rows", "Files", "Bytes", "Job", "Kept"))
    kept: Kept
    changes: Sequence[str]

    @property
    def commit(self) -> CommitRecord:
        return self.kept.commit

    @property
    def folder(self) -> str | None:
        """The path below which its files are; none if they were removed."""
        return self.kept.place

    def to_dict(self) -> dict[str, Any]:
        commit = self.commit
        return {
            "Commit": commit.id,
            "Number": commit.number,
            "Job": commit.job,
            "CreatedAt": commit.created_at,
            "Rows": commit.rows,
            "RowsQuarantined": commit.quarantined,
            "Files": len(commit.files),
            "Bytes": sum(each.bytes for each in commit.files),
            "Adds": commit.adds,
            "SchemaChanges": list(self.changes),
            "Kept": self.folder is not None,
        }

    def picture(self, width: int) -> list[str]:
        """Return what is known of the version, in a few lines."""
        return Versions([self]).picture(width)


class Versions(tuple[Version, ...]):
    """Versions of a table, the newest first."""

    def picture(self, width: int) -> list[str]:
        """Return a line for each version, and below it how it changed the schema."""
        head, rule, *rows = commit_lines([each.commit for each in self], width)
        lines = [head, rule]
        for version, row in zip(self, rows, strict=True):
            lines.append(row if version.folder else f"{row}  (its files were removed)"[:width])
            lines += [f"  {change}"[:width] for change in version.changes]
        return lines


def commit_lines(commits: Sequence[CommitRecord], width: int) -> list[str]:
    """Return a table with a line for each commit."""
    rows = [
        [
            str(each.number),
            each.id[:_SHOWN_ID],
            each.created_at[:_MINUTES].replace("T", " "),
            f"{each.rows:,}",
            f"{len(each.files):,}",
            f"{sum(file.bytes for file in each.files):,}",
            each.job,
        ]
        for each in commits
    ]
    return clip_lines(["version", "commit", "made (UTC)", "rows", "files", "bytes", "job"], rows, width)[0]


@dataclass(frozen=True)
class Removal:
    """What a vacuum removes: former versions, and the bytes that nothing else uses."""

    table: KeptVersions
    versions: Sequence[Kept]
    bytes: int
    staying: Sequence[int] = ()
    """The numbers of the former versions that stay as they are too new."""
    in_use: int = 0
    """How many of the others stay, since another version needs their files or a catalog shows them."""
    only_copies: Sequence[Kept] = ()
    """Those of them that lose what was copied for catalogs."""

    def to_dict(self) -> dict[str, Any]:
        return {"Removed": [each.commit.id for each in self.versions], "BytesFreed": self.bytes}

    def picture(self, width: int) -> list[str]:
        """Return a line for each version that goes."""
        return commit_lines([each.commit for each in self.versions], width) if self.versions else []


def list_versions(table: Location) -> list[Version]:
    """Return the versions of a table, the newest first.

    Raises:
        NotFound: there is no table that Mason has made.
    """
    history = open_versions(table).history()
    if not history:
        raise NotFound(f"At {table} there is no table that Mason has made.", hint="Merge some files into it.")
    older = [*(each.commit for each in history[1:]), None]
    return [Version(kept, _changes(before, kept.commit)) for kept, before in zip(history, older, strict=True)]


def find_version(table: Location, to: str) -> Version:
    """Return a version by its number, or by the beginning of its commit's id, if its files are still there.

    Raises:
        NotFound: there is no such version, or more than one begins so.
        VersionGone: its files are not kept any more.
    """
    return _find_version(list_versions(table), to)


def roll_back(table: Location, to: str, job_id: str, foreign: str = Foreign.REFUSE) -> CommitRecord:
    """Make an earlier version the table again, as a new version; what is there now is kept.

    Raises:
        NotFound: there is no such version, or more than one begins so.
        VersionGone: its files are not kept any more.
        Conflict: another job committed to the table meanwhile.
        ForeignFiles: data files of others lie in the table's folder, and `foreign` does not say that they stay there.
    """
    versions = list_versions(table)
    wanted = _find_version(versions, to)
    details = {**wanted.commit.details, "rolled_back_to": wanted.commit.id, "sources": _sources(versions, wanted)}
    record = replace(wanted.commit, id=job_id, job=job_id, adds=False, details=details)
    return open_versions(table, foreign).restore(wanted.kept, record, job_id, expected=versions[0].commit)


def plan_vacuum(table: Location, keep: int, older_than_days: float) -> Removal:
    """Say what a vacuum would remove: all but so many former versions, of those that were replaced long enough ago."""
    versions = list_versions(table)
    former = [(each.kept, after.commit) for after, each in pairwise(versions) if each.folder]
    limit = datetime.now(UTC) - timedelta(days=older_than_days)
    old = [each for each, after in former[keep:] if datetime.fromisoformat(after.created_at) <= limit]
    kept = open_versions(table)
    found = kept.removable(old)
    staying = [each.commit.number for each, _ in former if each not in old]
    in_use = len(old) - len(found.versions)
    return Removal(kept, found.versions, found.bytes, staying, in_use, found.only_copies)


def vacuum(removal: Removal) -> Sequence[str]:
    """Remove what was planned; return the folders in which something is left that is not Mason's.

    Raises:
        Conflict: a job is at work on the table.
    """
    return removal.table.remove([*removal.versions, *removal.only_copies])


def _find_version(versions: Sequence[Version], to: str) -> Version:
    found = _find(versions, to)
    if found.folder is None:
        raise VersionGone(f"The files of version {found.commit.number} ({found.commit.id}) were removed.")
    return found


def _find(versions: Sequence[Version], to: str) -> Version:
    found = [each for each in versions if each.commit.id.startswith(to)] if len(to) >= _SHORTEST_ID else []
    found = found or [each for each in versions if str(each.commit.number) == to]
    if len(found) != 1:
        listed = ", ".join(f"{each.commit.number} ({each.commit.id[:8]})" for each in versions if each.folder)
        reason = "is not unique" if found else "not found"
        raise NotFound(f'Version "{to}" {reason}.', hint=f"Kept: {listed}.")
    return found[0]


def column_types(commit: CommitRecord) -> Mapping[str, str]:
    """Return the columns of a version, each with its type."""
    return {each.name: str(each.type) for each in decode_schema(commit.schema)}


def column_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Say how columns with their types became others."""
    added = [f"{name} {new[name]} added" for name in new if name not in old]
    removed = [f"{name} {old[name]} removed" for name in old if name not in new]
    changed = [f"{name} {old[name]} became {new[name]}" for name in new if name in old and old[name] != new[name]]
    return [*added, *removed, *changed]


def _changes(before: CommitRecord | None, after: CommitRecord) -> Sequence[str]:
    return column_changes(column_types(before), column_types(after)) if before else []


def _sources(versions: Sequence[Version], wanted: Version) -> Mapping[str, Any]:
    """The files that the version was merged from, those of the versions it added to included."""
    sources: dict[str, Any] = {}
    for each in versions[versions.index(wanted) :]:
        sources = {**each.commit.details.get("sources", {}), **sources}
        if not each.commit.adds:
            break
    return sources
