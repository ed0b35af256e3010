"""Where Mason keeps what belongs to a table and is not its data: beside the table's folder, never inside of it.

The room of `<parent>/<table>` is `<parent>/.mason/tables/<table>/`. Whoever lists the table's folder, by whatever
pattern, finds its data files and nothing else. What lies in the room has names that end in no data format, so that a
pattern over the whole parent counts each row once, too.
"""

from __future__ import annotations

import hashlib

OWN_FOLDER = ".mason"
"""The folder in which Mason keeps what is its own: beside tables, and in what a job stages."""
ROOMS = f"{OWN_FOLDER}/tables"
FORMER_FOLDER = "_mason"
"""Where the records lay in the former layout: inside of the table's folder."""

# Below the room:
COMMITS = "commits"
DATA = "data"
"""On an object store: the folders in which jobs write, one each, and where their files stay."""
CATALOGS = "catalogs"
"""On an object store: which entries of catalogs show the table."""
LEASES = "leases"
"""On an object store: which jobs are at work on the table."""
KEPT = "kept"
"""What was in the table's folder before a commit, in a folder for each."""
ASIDE = "aside"
"""The records of a table whose folder was deleted or moved by hand, where another has begun at its path."""

# In what a job stages:
QUARANTINE = f"{OWN_FOLDER}/quarantine"
"""The records that did not fit."""

RECORD = ".commit"
REJECTS = ".rejects"
LEASE = ".lease"
ENTRY = ".entry"
_KEPT = ".kept"
_LONGEST_NAME = 255
"""In bytes: what file systems take for the name of a file."""


def room_of(table: str) -> str:
    """Return the folder beside a table in which Mason keeps what is not its data.

    A whole bucket is no table, and nothing is beside it: the folder that is returned is one that nobody writes.
    """
    parent, slash, name = table.rstrip("/").rpartition("/")
    return f"{parent}{slash}{ROOMS}/{name}"


def kept_name(path: str) -> str:
    """Return what a file is called while it is kept: by its name nobody takes it for data."""
    folder, slash, name = path.rpartition("/")
    if len(name.encode(errors="surrogateescape")) + len(_KEPT) > _LONGEST_NAME:
        content = name.encode(errors="surrogateescape")
        name = f"{content[:200].decode(errors='ignore')}~{hashlib.sha256(content).hexdigest()[:12]}"
    return f"{folder}{slash}{name}{_KEPT}"
