"""Folders for what a job needs only while it runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from mason.errors import Unsupported


@contextmanager
def scratch_folder(storage: str) -> Iterator[str]:
    """Give a folder that tasks on this storage can write to; it is removed at the end.

    Raises:
        Unsupported: there is no such folder in this storage yet.
    """
    if not storage.startswith("file:"):
        raise Unsupported("What needs a place for rows in between works on local files only, as yet.")
    with tempfile.TemporaryDirectory(prefix="mason-") as folder:
        yield folder
