"""Whether a table can be written to a folder on this machine, or to a prefix of an object store."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from mason.errors import BadPath, Forbidden
from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.commit import FormerLayout, check_names, no_room
from mason.pipeline.tables.room import COMMITS, FORMER_FOLDER, OWN_FOLDER, ROOMS, room_of
from mason.util.environment import MasonEnvironment

_SHOWN = 5


def check_folder(table: Path, *, is_table: bool) -> None:
    """See that neither tables nor somebody's home are in a folder, and that it is in no table itself.

    What is in it is moved aside. A folder in a table that is one already, as `table explode` makes them, may stay.

    Raises:
        BadPath: they are, or it is; or the folder is a mount point, which cannot be exchanged for another.
    """
    place = table.resolve()
    if not place.name or os.path.ismount(place):
        raise BadPath(
            f"{table} is a mount point: a version of a table replaces the former one by an exchange of folders, which "
            "no mount point allows.",
            hint="Give the output a folder below it.",
        )
    check_names(str(table), _below_home(place))
    homes = [str(each) for each in _homes() if each.is_relative_to(place)]
    if homes:
        raise no_room(str(table), f"your home {homes[0]} is in it")
    if is_table:
        return
    around = table_around(place)
    if around:
        raise no_room(str(table), f"it lies in the table {around}")
    tables = sorted(islice(_tables_below(table), _SHOWN))
    if tables:
        raise no_room(str(table), f"there are tables in it: {', '.join(tables)}")


def make_room(table: Path, room: Path) -> None:
    """Make the folder beside a table in which Mason keeps what is not its data.

    Raises:
        Forbidden: nothing may be written there.
    """
    try:
        room.mkdir(parents=True, exist_ok=True)
        writable = os.access(room, os.W_OK | os.X_OK) and os.access(table.parent, os.W_OK | os.X_OK)
    except PermissionError:
        writable = False
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        writable = False
    if not writable:
        raise Forbidden(
            f"{table.parent} cannot be written to: what belongs to the table {table.name} and is not its data, such as "
            f"its records, is kept there, in {ROOMS}/{table.name}, and its versions are exchanged there.",
            hint="Give write access to that folder, or the output a folder of its own in another one.",
        )


def _homes() -> Iterator[Path]:
    """The folders of this user and of Mason; a user of a container may have none."""
    for each in (os.path.expanduser("~"), MasonEnvironment.of().home):  # noqa: PTH111
        if Path(each).is_absolute():
            yield Path(each).resolve()


def table_around(place: Path) -> Path | None:
    """Return the table that a place lies in, of Mason's, Delta's or Iceberg's: the folder that is nearest to it."""
    return next((each for each in place.parents if _is_table(each)), None)


def has_records(folder: Path) -> bool:
    """Say whether Mason keeps records of a table at a folder."""
    room = Path(room_of(str(folder)))
    if not folder.name:
        return False
    return (room / COMMITS).is_dir() or any(room.glob("pending.*")) or (folder / FORMER_FOLDER / COMMITS).is_dir()


def _is_table(folder: Path) -> bool:
    if has_records(folder) or (folder / "_delta_log").is_dir():
        return True
    return any((folder / "metadata").glob("*.metadata.json"))


def _below_home(place: Path) -> str:
    """Return the part of a path that is below MASON_HOME, whose own name may look like that of a folder of Mason's."""
    home = MasonEnvironment.of().home.resolve()
    return str(place.relative_to(home)) if place.is_relative_to(home) else str(place)


def _tables_below(folder: Path) -> Iterator[str]:
    """Yield the tables of Mason's that lie in a folder, however deep, by their names in it."""
    for place, folders, _ in os.walk(folder):
        if Path(place) == folder and has_records(folder):  # it has just become a table itself
            return
        for name in list(folders):
            if name != OWN_FOLDER and has_records(Path(place) / name):
                yield str((Path(place) / name).relative_to(folder))
                folders.remove(name)


def check_prefix(store: ObjectStore, path: str, *, is_table: bool) -> None:
    """See that no tables lie below a prefix, and that it is in none, unless it is a table already.

    Raises:
        BadPath: some do, it is in one, or it is a whole bucket.
        FormerLayout: it is a table that has its records below the prefix.
    """
    if "/" not in path.strip("/"):
        raise no_room(path, "it is a whole bucket")
    check_names(path, path)
    if is_table:
        return
    if any(True for _ in store.below(f"{path}/{FORMER_FOLDER}/{COMMITS}")):
        raise FormerLayout(path)
    if around := next(filter(partial(_is_table_of, store), map(str, PurePosixPath(path).parents[:-2])), ""):
        raise no_room(path, f"it lies in the table {around}")
    if tables := sorted(islice(_tables_below_prefix(store, path), _SHOWN)):
        raise no_room(path, f"there are tables in it: {', '.join(tables)}")


def _is_table_of(store: ObjectStore, folder: str) -> bool:
    places = (f"{room_of(folder)}/{COMMITS}", f"{folder}/{FORMER_FOLDER}/{COMMITS}")
    return any(True for place in places for _ in store.below(place))


def _tables_below_prefix(store: ObjectStore, path: str) -> Iterator[str]:
    """The tables of Mason's that lie below the prefix, each once, by their names below it."""
    met = set[str]()
    for each in store.below(path):
        above, found, inside = f"/{each.path[len(path) + 1 :]}".partition(f"/{ROOMS}/")
        name, is_record, _ = inside.partition(f"/{COMMITS}/")
        table = f"{above}/{name}".lstrip("/")
        if found and is_record and table not in met:
            met.add(table)
            yield table
