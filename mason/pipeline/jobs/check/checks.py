"""One check as data: what is asked of a table, and what follows if it does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mason.errors import BadInput

BLOCK, WARN = "block", "warn"


class BadCheck(BadInput):
    """Raised when a check cannot be asked. 400 · exit 1"""


@dataclass(frozen=True)
class Kind:
    """What a kind of check takes beside its name and what follows if it fails."""

    columns: Literal["none", "one", "some"]
    required: Sequence[str] = ()
    optional: Sequence[str] = ()
    least_one: Sequence[str] = ()
    """Of these at least one is needed."""

    @property
    def arguments(self) -> Sequence[str]:
        return (*self.required, *self.optional, *self.least_one)


KINDS: Mapping[str, Kind] = {
    "not_null": Kind("some"),
    "unique": Kind("some"),
    "accepted_values": Kind("one", required=("values",)),
    "range": Kind("one", least_one=("min", "max")),
    "row_count": Kind("none", least_one=("min", "max")),
    "freshness": Kind("one", required=("max_age",)),
    "regular_expression": Kind("one", required=("pattern",)),
    "foreign_key": Kind("some", required=("references",), optional=("referenced_columns",)),
}
ROW_COUNT = "row_count"
OF_THE_TABLE = (ROW_COUNT, "freshness")
"""Kinds that say something of the table as a whole, and of no row."""

BY_KEYS = ("unique", "foreign_key")
"""Kinds that need to see more than one row to say something of it."""

LISTS = ("columns", "values", "referenced_columns")
"""What may be several; anything else is one."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check. Values and limits are texts: what they mean depends on the type of the column."""

    kind: str
    name: str
    columns: Sequence[str] = ()
    on_failure: str = BLOCK
    values: Sequence[str] = ()
    min: str = ""
    max: str = ""
    max_age: str = ""
    pattern: str = ""
    references: str = ""
    """The path of the table that has the keys."""
    referenced_columns: Sequence[str] = ()

    @property
    def column(self) -> str:
        return self.columns[0]

    @property
    def keys_there(self) -> Sequence[str]:
        """The columns of the other table that have the keys."""
        return self.referenced_columns or self.columns

    @property
    def blocks(self) -> bool:
        return self.on_failure == BLOCK

    def arguments(self) -> Iterator[tuple[str, Any]]:
        """Yield what it was given beside columns, by the names that a user writes."""
        for name in KINDS[self.kind].arguments:
            value = getattr(self, name)
            if value:
                yield name, value

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {"Name": self.name, "Check": self.kind, "OnFailure": self.on_failure}
        if self.columns:
            document["Columns"] = list(self.columns)
        words = {name: "".join(part.capitalize() for part in name.split("_")) for name, _ in self.arguments()}
        return document | {
            words[name]: list(value) if isinstance(value, list | tuple) else value for name, value in self.arguments()
        }


def format_check(check: Check) -> str:
    """Return a check as it is written on a command line, which is what it is called unless it has a name."""
    arguments = [
        f"{name}={'|'.join(value) if isinstance(value, list | tuple) else value}" for name, value in check.arguments()
    ]
    return " ".join([check.kind, *check.columns, *arguments])
