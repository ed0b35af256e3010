"""What readers see who only list a table's prefix on an object store: copies of the newest version's files.

Mason itself reads the files where they were written, so that no commit takes them away from a reader. Others get
copies, made after the commit; then the former version's copies are deleted. In between they see both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from mason.pipeline.storage.object_store import ObjectStore, StoredObject
from mason.pipeline.tables.commit import ADOPTED, CommitRecord
from mason.pipeline.tables.room import COMMITS, DATA, KEPT, QUARANTINE, RECORD, ROOMS, kept_name, room_of

_AT_ONCE = 16


def view_of(record: CommitRecord) -> Mapping[str, str]:
    """Return what others see of a version, and where each of it lies: by paths below the table's folder and its room.

    The records of the tables that came with it are seen, too: these are read by the copies of their files.
    """
    files = {each.path: each.home for each in record.files if each.home}
    return {**files, **{name: home for name, home in record.beside.items() if not name.startswith(f"{QUARANTINE}/")}}


def list_visible(store: ObjectStore, table: str) -> dict[str, StoredObject]:
    """Return what others see below a table's folder at this moment."""
    return {name: each for name, each in list_all(store, table).items() if is_shown(name)}


def list_all(store: ObjectStore, table: str) -> dict[str, StoredObject]:
    """Return all that is below a table's folder, by its paths below that."""
    return {each.path[len(table) + 1 :]: each for each in store.below(table)}


def list_homes(store: ObjectStore, table: str) -> dict[str, StoredObject]:
    """Return what jobs have written into a table's room, by its paths below the folder that the table lies in."""
    room = room_of(table)
    start = len(room) - len(own_name(table, ""))
    return {each.path[start:]: each for each in store.below(f"{room}/{DATA}")}


def own_name(table: str, home: str) -> str:
    """Return what lies in a table's room as a path below the folder that the table lies in."""
    return f"{ROOMS}/{table.rstrip('/').rpartition('/')[2]}" + (f"/{home}" if home else "")


def sizes_of(record: CommitRecord) -> Mapping[str, int]:
    """Return the sizes of the data files that others see of a version, those of the tables below it included."""
    sizes = {each.path: each.bytes for each in record.files}
    for child in record.details.get("tables", {}).values():
        sizes |= {f"{child['folder']}/{each['path']}": each["bytes"] for each in child["files"]}
    return sizes


def is_shown(name: str) -> bool:
    """Say whether a path below a table's folder is that of something that others see of it.

    Of the rooms of the tables that came with it those are the records.
    """
    is_own = name.startswith(f"{ROOMS}/") and not (f"/{COMMITS}/" in name and name.endswith(RECORD))
    return bool(name) and not name.endswith("/") and not is_own


def show(store: ObjectStore, table: str, record: CommitRecord, former: Iterable[CommitRecord]) -> None:
    """Make others see a version, whatever of it was done before; `former` are those that they may still see."""
    wanted = view_of(record)
    there = {name: each.size for name, each in list_visible(store, table).items()}
    sizes = {each.path: each.bytes for each in record.files}
    room = room_of(table)
    kept = f"{room}/{KEPT}/{record.id}"
    missing = {
        f"{table}/{name}": home
        for name, home in wanted.items()
        if there.get(name, -1) != sizes.get(name, -2) or name in record.aside
    }
    # What others have written over is copied once, before it is mended: from then on it is Mason's again.
    copied = list_all(store, kept) if record.aside else {}
    aside = [
        name
        for name in record.aside
        if name in there and (kept_name(name) not in copied if name in wanted else _is_still(record, name, there))
    ]
    strangers = [name for name in aside if name not in wanted]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda name: store.copy(f"{table}/{name}", f"{kept}/{kept_name(name)}"), aside))
        # The tables below a table are read by their copies: a record comes after what it names, and goes before it.
        for part in _split_names(missing, last=_is_record):
            list(pool.map(lambda name: store.copy(f"{room}/{missing[name]}", name), part))
    old = {name for each in former for name in view_of(each)} - set(wanted)
    for part in _split_names([*sorted(old & set(there)), *strangers], last=lambda name: not _is_record(name)):
        store.delete(f"{table}/{name}" for name in part)


def _is_still(record: CommitRecord, name: str, there: Mapping[str, int]) -> bool:
    """Say whether what is at a name is what the version has adopted, as far as its size tells, or need not be."""
    return bool(there[name] == record.details.get(ADOPTED, {}).get(name, there[name]))


def _is_record(name: str) -> bool:
    return f"/{COMMITS}/" in name


def _split_names(names: Iterable[str], last: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    first: list[str] = []
    then: list[str] = []
    for name in names:
        (then if last(name) else first).append(name)
    return first, then
