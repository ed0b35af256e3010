"""What a storage can do, as its `address` module declares it, and what the work on its files depends on.

Nothing asks whether a storage is a disk, but for one of these abilities: a storage of somebody else (a network share, a
store with folders) gets what it can do by declaring it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """Which of several ways a storage goes. What a module does not declare is that of an object store."""

    has_conditions: bool = True
    """Objects can be written on conditions (`open_objects`): of two writers one wins. Tables are committed so."""
    exchanges_folders: bool = False
    """Two folders change places in one step. Tables are committed so, and everybody sees the new files at once.

    Who declares it has the other three as well: the exchange is one of this machine, by the paths of folders.
    """
    creates_and_renames: bool = False
    """A file is created only if there is none, and renamed in one step. Objects need neither: they appear whole."""
    has_folders: bool = False
    """Folders have to be made, and may be empty."""
    opens_paths: bool = False
    """Any program on this machine opens its files by their paths, such as DuckDB, Spark, and Python's `open`."""
    is_near: bool = False
    """A request costs no way over a network: nothing is asked for ahead, or all at once."""

    def __post_init__(self) -> None:
        if self.exchanges_folders and not (self.has_folders and self.creates_and_renames and self.opens_paths):
            needed = "has_folders, creates_and_renames and opens_paths"
            raise ValueError(f"A storage that exchanges folders has {needed} as well: declare them, too.")

    @property
    def holds_tables(self) -> bool:
        """Whether a table can be committed: of two writers one wins. Any storage can be read."""
        return self.exchanges_folders or self.has_conditions


STORE = Abilities()
"""What a storage can do whose client declares nothing."""
