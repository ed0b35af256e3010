"""What a storage can do, as its `address` module declares it, and what the work on its files depends on.

Nothing asks whether a storage is a disk, but for one of these abilities: a storage of somebody else (a network share, a
store with folders) gets what it can do by declaring it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow.fs as pafs


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """Which of several ways a storage goes. What a module does not declare is that of an object store."""

    has_conditions: bool = True
    """Objects can be written on conditions (`open_objects`): of two writers one wins. Tables are committed so."""
    exchanges_folders: bool = False
    """Two folders change places in one step. Tables are committed so, and everybody sees the new files at once."""
    creates_and_renames: bool = False
    """A file is created only if there is none, and renamed in one step. Objects need neither: they appear whole."""
    has_folders: bool = False
    """Folders have to be made, and may be empty."""
    opens_paths: bool = False
    """Any program on this machine opens its files by their paths, such as DuckDB, Spark, and Python's `open`."""
    is_near: bool = False
    """A request costs no way over a network: nothing is asked for ahead, or all at once."""


DISKS = Abilities(
    has_conditions=False,
    exchanges_folders=True,
    creates_and_renames=True,
    has_folders=True,
    opens_paths=True,
    is_near=True,
)
STORE = Abilities()


def abilities_of_files(filesystem: pafs.FileSystem) -> Abilities:
    """Return what a file system that is open can do: Arrow's own one of the disks, or one of a storage elsewhere."""
    return DISKS if filesystem.type_name == "local" else STORE
