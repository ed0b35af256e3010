"""Where the rows of a job went: each that was read is in the table, or is not for a reason that was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mason.errors import MasonError

QUARANTINED = "Quarantined"


class RowsLost(MasonError):
    """Raised when the sums do not hold: nothing was committed. 500 · exit 1"""


@dataclass(frozen=True)
class LeftOut:
    """Rows that were read and are not in the table."""

    name: str
    """What became of them, as records have it: `Quarantined` is `RowsQuarantined` there."""
    rows: int
    words: str = ""
    """The same in a sentence; the name in small letters by default."""

    def __str__(self) -> str:
        return f"{self.rows:,} {self.words or self.name.lower()}"


@dataclass(frozen=True)
class RowSums:
    """How many rows came, how many are in the files, and what became of the others.

    `rows_in` is counted by whoever reads, `rows_out` is what the written files themselves say: two counts that know
    nothing of each other.
    """

    rows_in: int
    rows_out: int
    left_out: Sequence[LeftOut] = ()
    came: str = "records were read"
    """What `rows_in` counts, in a sentence."""

    @property
    def quarantined(self) -> int:
        return self.count(QUARANTINED)

    def count(self, name: str) -> int:
        """Return how many rows were left out for a reason: `count("Filtered")`."""
        return sum(each.rows for each in self.left_out if each.name == name)

    def check(self) -> None:
        """See that no row is missing, and that there is none too many.

        Raises:
            RowsLost: the sums do not hold.
        """
        if self.rows_in == self.rows_out + sum(each.rows for each in self.left_out):
            return
        *others, last = [f"{self.rows_out:,} were written", *map(str, self.left_out)]
        went = f"{', '.join(others)} and {last}" if others else last
        raise rows_lost(f"{self.rows_in:,} {self.came}, but {went}.")

    def to_dict(self) -> dict[str, int]:
        """Return the part of a job's record that says where the rows went."""
        others = {f"Rows{each.name}": each.rows for each in self.left_out}
        return {"RowsIn": self.rows_in, "RowsOut": self.rows_out, **others}


def rows_lost(problem: str) -> RowsLost:
    """Return the error for sums that do not hold, before anything is committed."""
    return RowsLost(problem, hint="Nothing was committed. This is a defect of the job: please report it.")
