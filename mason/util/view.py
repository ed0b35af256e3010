"""What people see of a kind of result; programs get all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class View:
    """The keys of a result's JSON that a terminal shows. A result without a view is shown whole.

    `columns` are those of a list of such results, one for each column. `parts` are those of a single result, below
    each other; a part that is a list names its columns. Empty columns stand for all that there are. A result that can
    draw a picture of itself shows this alone, except where the parts stand `beside_picture`.
    """

    columns: Sequence[str] = ()
    parts: Mapping[str, Sequence[str]] | None = None
    beside_picture: bool = False


@runtime_checkable
class Viewed(Protocol):
    """A result that says what people see of it."""

    @property
    def view(self) -> View: ...
