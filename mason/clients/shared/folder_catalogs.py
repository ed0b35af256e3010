"""Catalogs of folders: a database is a folder; its tables are what lies in it, or entries that were saved there.

The rules are the same on a disk and in an object store; how names are listed and entries are read is each client's own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table
from mason.errors import Conflict, UnreadableFile
from mason.pipeline.storage.format_names import name_without_format

OWN_FOLDER = ".mason"
"""The folder of a database in which entries and deleted tables are kept."""


def is_visible(name: str) -> bool:
    """Say whether what has this name may be a table: what begins with . or _ is hidden from programs like Mason."""
    return not name.startswith((".", "_"))


def name_tables(folders: Iterable[str], files: Iterable[str]) -> dict[str, str]:
    """Return the names of tables, each with that of its folder or file: a file's goes without its ending.

    Of `orders.csv` beside `orders.json` or `orders`, each file keeps its ending.
    """
    folders, files = list(folders), list(files)
    times = Counter([*folders, *map(name_without_format, files)])
    unique = {(plain if times[plain := name_without_format(file)] == 1 else file): file for file in files}
    return {**{name: name for name in folders}, **unique}


def check_only_owner(table: str, others: Sequence[str], *, has_entry: bool) -> None:
    """See that deleting a table takes no data of others; an entry alone may go.

    Raises:
        Conflict: its data are also those of the others.
    """
    if others and not has_entry:
        raise Conflict(f'The data of "{table}" are also those of {", ".join(others)}.', hint="Delete that first.")


def trash_name(name: str) -> str:
    """Return what a deleted table is called among those that are kept: none has the name of another."""
    return f"{_now().replace(':', '')}-{name}"


def stamp_table(table: Table) -> Table:
    """Return a table with when and by whom its entry is saved."""
    return replace(table, created_at=_now(), created_by=table.created_by or "mason")


def encode_entry(table: Table) -> bytes:
    """Return the entry of a table as it is kept."""
    from mason.engines.metastore.models.table_entry import entry_of  # imports pyarrow, which a listing does without

    return json.dumps(entry_of(table), indent=1, ensure_ascii=False).encode()


def parse_entry(place: str, content: bytes) -> Mapping[str, Any]:
    """Return what an entry says.

    Raises:
        UnreadableFile: it is damaged.
    """
    try:
        entry = json.loads(content)
    except ValueError as error:
        raise describe_damaged_entry(place, error) from error
    if not isinstance(entry, dict):
        raise describe_damaged_entry(place, "it is not a mapping")
    return entry


def describe_damaged_entry(place: str, reason: object) -> UnreadableFile:
    """Return the error of an entry that cannot be read."""
    return UnreadableFile(place, f"is not the entry of a table: {reason}.", hint="Infer the table again.")


def sort_partitions(partitions: Iterable[Partition]) -> list[Partition]:
    """Return partitions in the order of their values."""
    return sorted(partitions, key=lambda each: [str(value) for value in each.values.values()])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
