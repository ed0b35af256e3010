"""Whether a table can be written to a prefix of an object store."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.commit import COMMITS, check_names, no_room

_TOLD = 5


def check_room_at(store: ObjectStore, path: str, *, is_table: bool) -> None:
    """See that no tables lie below a prefix, and that it is in none, unless it is a table already.

    Raises:
        BadPath: some do, it is in one, or it is a whole bucket.
    """
    if "/" not in path.strip("/"):
        raise no_room(path, "it is a whole bucket")
    check_names(path, path)
    if is_table:
        return
    if around := next(filter(partial(_is_table, store), map(str, PurePosixPath(path).parents[:-2])), ""):
        raise no_room(path, f"it lies in the table {around}")
    if tables := sorted(islice(_tables_below(store, path), _TOLD)):
        raise no_room(path, f"there are tables in it: {', '.join(tables)}")


def _is_table(store: ObjectStore, folder: str) -> bool:
    return any(True for _ in store.below(f"{folder}/{COMMITS}"))


def _tables_below(store: ObjectStore, path: str) -> Iterator[str]:
    """The tables of Mason's that lie below the prefix, each once, by their names below it."""
    met = set[str]()
    for each in store.below(path):
        table, found, _ = each.path[len(path) + 1 :].partition(f"/{COMMITS}/")
        if found and table not in met:
            met.add(table)
            yield table
