"""The versions of a table: what each of them changed, going back to one, and removing what is kept of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from mason.errors import NotFound, Unprocessable
from mason.pipeline.evidence_json import decode_schema
from mason.pipeline.table_commit import OWN_FOLDER, CommitRecord
from mason.pipeline.table_folder import TableFolder

_SHORTEST_ID = 4


class VersionGone(Unprocessable):
    """422 · exit 1 · the files of that version are not kept any more"""


@dataclass(frozen=True)
class Version:
    """A version of a table, what it changed, and the folder that still holds it, if one does."""

    commit: CommitRecord
    changes: Sequence[str]
    folder: Path | None

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


@dataclass(frozen=True)
class Removal:
    """What a vacuum removes: former versions, and the bytes that nothing else uses."""

    versions: Sequence[Version]
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        return {"Removed": [each.commit.id for each in self.versions], "BytesFreed": self.bytes}


def list_versions(table: str) -> list[Version]:
    """Return the versions of a table, the newest first.

    Raises:
        NotFound: there is no table that Mason has made.
    """
    path = Path(table)
    history = list(TableFolder(table).history())
    if not history:
        raise NotFound(f"At {table} there is no table that Mason has made.", hint="Merge some files into it.")
    older: Sequence[CommitRecord | None] = [*history[1:], None]
    # A version is moved aside by the commit that follows it, and is kept under the name of that.
    newer = [None, *history[:-1]]
    return [
        Version(commit, _changes(before, commit), path if after is None else _kept(path, after))
        for commit, before, after in zip(history, older, newer, strict=True)
    ]


def find_version(table: str, to: str) -> Version:
    """Return a version by its number, or by the beginning of its commit's id, if its files are still there.

    Raises:
        NotFound: there is no such version, or more than one begins so.
        VersionGone: its files are not kept any more.
    """
    return _kept_version(list_versions(table), to)


def roll_back(table: str, to: str, job_id: str) -> CommitRecord:
    """Make an earlier version the table again, as a new version; what is there now is kept.

    Raises:
        NotFound: there is no such version, or more than one begins so.
        VersionGone: its files are not kept any more.
        Conflict: another job committed to the table meanwhile.
    """
    versions = list_versions(table)
    wanted = _kept_version(versions, to)
    current = versions[0].commit
    folder = TableFolder(table)
    with folder.stage(job_id) as staging:
        _link_all(wanted, Path(staging))
        details = {**wanted.commit.details, "rolled_back_to": wanted.commit.id, "sources": _sources(versions, wanted)}
        record = replace(wanted.commit, id=job_id, job=job_id, adds=False, details=details)
        return folder.publish(staging, record, expected=current)


def plan_vacuum(table: str, keep: int, older_than_days: float) -> Removal:
    """Say what a vacuum would remove: all but so many former versions, of those that were replaced long enough ago."""
    versions = list_versions(table)
    former = [(each, after.commit) for after, each in pairwise(versions) if each.folder]
    limit = datetime.now(UTC) - timedelta(days=older_than_days)
    old = [each for each, after in former[keep:] if datetime.fromisoformat(after.created_at) <= limit]
    return Removal(old, _bytes_freed([each.folder for each in old if each.folder]))


def vacuum(removal: Removal) -> None:
    """Remove what was planned."""
    for version in removal.versions:
        if version.folder:
            shutil.rmtree(version.folder)


def _kept_version(versions: Sequence[Version], to: str) -> Version:
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


def _kept(path: Path, after: CommitRecord) -> Path | None:
    folder = path / OWN_FOLDER / "kept" / after.id
    return folder if folder.is_dir() else None


def _changes(before: CommitRecord | None, after: CommitRecord) -> Sequence[str]:
    if before is None:
        return []
    old, new = decode_schema(before.schema), decode_schema(after.schema)
    added = [f"{name} {new.field(name).type} added" for name in new.names if name not in old.names]
    removed = [f"{name} {old.field(name).type} removed" for name in old.names if name not in new.names]
    changed = [
        f"{name} {old.field(name).type} became {new.field(name).type}"
        for name in new.names
        if name in old.names and old.field(name).type != new.field(name).type
    ]
    return [*added, *removed, *changed]


def _link_all(version: Version, staging: Path) -> None:
    assert version.folder is not None
    quarantine = (version.folder / OWN_FOLDER / "quarantine").glob("*")
    paths = [version.folder / each.path for each in version.commit.files]
    tables = version.commit.details.get("tables", {}).values()  # of an explode: each has a folder, and a record in it
    below = [file for each in tables for file in (version.folder / each["folder"]).rglob("*") if file.is_file()]
    for file in dict.fromkeys([*paths, *quarantine, *below]):
        place = staging / file.relative_to(version.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, place)


def _sources(versions: Sequence[Version], wanted: Version) -> Mapping[str, Any]:
    """The files that the version was merged from, those of the versions it added to included."""
    sources: dict[str, Any] = {}
    for each in versions[versions.index(wanted) :]:
        sources = {**each.commit.details.get("sources", {}), **sources}
        if not each.commit.adds:
            break
    return sources


def _bytes_freed(folders: Sequence[Path]) -> int:
    """Files are shared between versions: only those are freed whose every name is in what goes."""
    names: dict[tuple[int, int], list[os.stat_result]] = {}
    for folder in folders:
        for file in folder.rglob("*"):
            if file.is_file():
                found = file.stat()
                names.setdefault((found.st_dev, found.st_ino), []).append(found)
    return sum(same[0].st_size for same in names.values() if len(same) >= same[0].st_nlink)
