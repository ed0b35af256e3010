"""The disks of the machine for somebody who may use some folders only."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.fs as pafs


class ConfinedDisks(pafs.LocalFileSystem):  # type: ignore[misc] # it has no types
    """The disks of the machine for somebody who may use some folders only, themselves without links."""

    def __init__(self, roots: Sequence[str]) -> None:
        super().__init__()
        self.roots = tuple(roots)
