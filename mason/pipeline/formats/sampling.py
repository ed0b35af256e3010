"""How much of a table is looked at, so that many files, or large ones, answer as fast as small ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

_ROWS = 20_000
_FILES = 1_000
_OBJECTS = 3  # over a network each costs two or three requests
_NAMELESS_OBJECTS = 2  # and what the first of them is must be found out
_ROWS_OF_ONE_FILE = (20, 1_000)
_FEW_FILES = 100
_EVERYTHING = 2**62

T = TypeVar("T")


@dataclass(frozen=True)
class Budget:
    """What may be read of one file: rows, bytes at a time, and bytes to look for the first `enough` rows in."""

    rows: int
    block: int
    most: int
    enough: int = 20

    @property
    def reads_all(self) -> bool:
        """Whether every row is looked at."""
        return self.rows == _EVERYTHING


def budget_for(files: int, *, read_all: bool, rows: int | None = None) -> Budget:
    """Return how much to read of each of so many files; `rows` says how many rows, where the user does."""
    if read_all:
        return Budget(rows=_EVERYTHING, block=1024 * 1024, most=256 * 1024 * 1024, enough=_EVERYTHING)
    if rows is not None:
        return Budget(rows, block=64 * 1024, most=256 * 1024 * 1024, enough=rows)
    fewest, most = _ROWS_OF_ONE_FILE
    rows = min(max(_ROWS // max(files, 1), fewest), most)
    if files <= _FEW_FILES:
        return Budget(rows, block=64 * 1024, most=4 * 1024 * 1024)
    return Budget(rows, block=16 * 1024, most=1024 * 1024)


def spread(files: Sequence[T], *, read_all: bool, local: bool = True, named: bool = True) -> Sequence[T]:
    """Return some of the files, evenly spread, the first and the last among them: of local ones a thousand.

    `named` says whether the files' names tell their formats.
    """
    most = _FILES if local else _OBJECTS if named else _NAMELESS_OBJECTS
    if read_all or len(files) <= most:
        return files
    last = len(files) - 1
    return [files[index * last // (most - 1)] for index in range(most)]
