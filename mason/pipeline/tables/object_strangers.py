"""What lies below a table's prefix on an object store and is not Mason's, and what others have written over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mason.pipeline.storage.object_store import ObjectStore, StoredObject
from mason.pipeline.tables.commit import STRANGERS, CommitRecord
from mason.pipeline.tables.foreign_files import START_BYTES, Strangers, is_foreign_data
from mason.pipeline.tables.object_view import is_shown, own_name, sizes_of, view_of
from mason.pipeline.tables.room import DATA, ROOMS

_SLACK_SECONDS = 2.0
"""Listings that are made one after the other do not count ages from the same second."""
_MOST_COMPARED = 256 * 1024 * 1024


@dataclass(frozen=True)
class Below:
    """What is seen below a table's prefix that is not of its current version, or is not as that has it."""

    strangers: Strangers
    left_over: Sequence[str]
    """Of former versions, and of tables below the table."""
    changed: Mapping[str, tuple[int, int]]
    """What others have written over, with the sizes that it has and had."""


@dataclass(frozen=True)
class Versions:
    """What is known of a table's versions to whoever looks below its prefix."""

    current: CommitRecord | None
    seen: Sequence[CommitRecord]
    """The newest version, and those before it back to the last that was shown whole."""
    shown_whole: int
    """The number of that one."""
    find_own: Callable[[set[str]], set[str]]
    """Return those of the names that any version has, or a table below the table."""
    shown_seconds_ago: Callable[[], float | None]
    """Return how long ago the current version was shown whole; nothing where it was not."""


def look_below(
    store: ObjectStore,
    table: str,
    there: Mapping[str, StoredObject],
    homes: Mapping[str, StoredObject],
    versions: Versions,
) -> Below:
    """Tell what is of no version from what is there of them, or is just being moved aside or removed.

    `there` is all that a listing shows below the table's folder, by its paths below that; `homes` what it shows of
    the files where jobs wrote them, by the paths that `own_name` gives.
    """
    current = versions.current
    unknown = {name for name in there if is_shown(name)}.difference(files_of_version(current) if current else ())
    for each in versions.seen:
        unknown.difference_update(view_of(each))
        unknown.difference_update(each.aside if each.number > versions.shown_whole else ())
    known: Iterable[str] = current.details.get(STRANGERS, ()) if current else unknown
    left_over = versions.find_own(unknown.difference(known))
    found = Strangers.of(unknown - left_over, lambda name: _read_start(store, there[name]))
    inserted = _find_inserted(store, table, homes, current) if current else []
    strangers = Strangers([*found.data, *inserted], found.others)
    return Below(strangers, sorted(left_over), _find_changed(store, table, there, homes, versions) if current else {})


def files_of_version(record: CommitRecord) -> set[str]:
    """Return what is of a version below the table's folder. Of tables of an explode the files themselves are there."""
    return {*view_of(record), *(each.path for each in record.files)}


def _find_inserted(
    store: ObjectStore, table: str, homes: Mapping[str, StoredObject], current: CommitRecord
) -> list[str]:
    """The data files of others in the folder of the version itself, by the paths that `own_name` gives.

    A catalog names that folder, so whoever inserts rows by way of it writes there. What tasks of the job have left
    that went on after its commit has the job in its name, and what was copied there for the catalog is the version's.
    """
    folder, view = f"{own_name(table, DATA)}/{current.id}/", view_of(current)
    own = {own_name(table, each) for each in (*view.values(), *current.beside.values())}
    own |= {f"{folder}{name}" for name in view}
    names = [name for name in homes if name.startswith(folder) and name not in own]
    known = [name for name in current.details.get(STRANGERS, ()) if name.startswith(f"{ROOMS}/") and name in homes]
    found = [
        name
        for name in names
        if not is_own_name(name, current.id)
        and is_foreign_data(name.removeprefix(folder), lambda _, name=name: _read_start(store, homes[name]))  # type: ignore[misc]
    ]
    return sorted({*found, *known})


def is_own_name(name: str, job: str) -> bool:
    """Say whether a file has the name that a job of Mason's gives its files."""
    return name.rpartition("/")[2].startswith(f"part-{job}-")


def _find_changed(
    store: ObjectStore,
    table: str,
    there: Mapping[str, StoredObject],
    homes: Mapping[str, StoredObject],
    versions: Versions,
) -> Mapping[str, tuple[int, int]]:
    """What others have written over: copies that have another size than their files, or another content.

    Most stores give a copy the tag of its source. Where they do not, since it is encrypted or was uploaded in parts,
    one that was not written after the version was shown whole is the one that Mason has made; another is compared.
    """
    assert versions.current is not None
    view = view_of(versions.current)
    copies = {name: size for name, size in sizes_of(versions.current).items() if name in there}
    changed = {name: (there[name].size, size) for name, size in copies.items() if there[name].size != size}
    places = {name: own_name(table, view[name]) for name in copies.keys() - changed.keys() if name in view}
    found = {name: homes[place] for name, place in places.items() if place in homes}
    odd = {name: home for name, home in found.items() if there[name].tag != home.tag}
    shown_ago = versions.shown_seconds_ago() if odd else None
    for name, home in odd.items():
        copy = there[name]
        is_late = shown_ago is not None and copy.age_seconds <= shown_ago + _SLACK_SECONDS
        if is_late and copy.size <= _MOST_COMPARED and _content(store, copy) != _content(store, home):
            changed[name] = (copy.size, copies[name])
    return changed


def _content(store: ObjectStore, found: StoredObject) -> bytes:
    read = store.read(found.path)
    return read[0] if read else b""


def _read_start(store: ObjectStore, found: StoredObject) -> bytes:
    return store.read_start(found.path, START_BYTES) if found.size else b""
