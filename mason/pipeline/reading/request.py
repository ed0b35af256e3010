"""What is to be read, and how: the files of a path, taken as one table, and the columns that a user names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import pyarrow as pa

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.engines.storage.models.location import Location
from mason.errors import Unprocessable
from mason.util.names import did_you_mean

MOST_BAD_SHARE = 0.1


class OnConflict(StrEnum):
    """What happens to a column whose files disagree."""

    WIDEN = "widen"
    STRING = "string"
    FAIL = "fail"


class OnBadRecord(StrEnum):
    """What happens to a record that does not fit; `null` is for single values, the rest of such a record is kept."""

    QUARANTINE = "quarantine"
    NULL = "null"
    FAIL = "fail"


class Names(StrEnum):
    """What happens to columns whose names cannot be told apart.

    `exact` refuses them; `number` adds a number to a name that a file has twice; `fold` does that, too, and takes names
    that differ only in case for one.
    """

    EXACT = "exact"
    NUMBER = "number"
    FOLD = "fold"


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How files are read and united; what is empty or None is detected."""

    input_format: str = ""
    parse_headers: bool | None = None
    delimiter: str = ""
    encoding: str = ""
    nulls: Sequence[str] = ()
    extract_paths: bool = False
    on_conflict: OnConflict = OnConflict.WIDEN
    on_bad_record: OnBadRecord = OnBadRecord.QUARANTINE
    names: Names = Names.EXACT
    schema: str = ""
    """Types that columns must have, as SQL declares them: `id bigint, price decimal(10,2)`."""
    timezone: str = ""
    """The zone of times that state none, where they meet times that do."""
    sample: int | None = None
    """How many records of each file are looked at for the plan; 0 for all."""
    most_bad_share: float = MOST_BAD_SHARE
    """The share of records, or of a column's values, that may be bad before the job fails."""
    csv: DelimitedOptions = field(default_factory=DelimitedOptions)


@dataclass(frozen=True)
class ReadRequest:
    """Read the files below a place."""

    location: Location
    options: ReadOptions = field(default_factory=ReadOptions)


_SHOWN = 50


class NoSuchColumn(Unprocessable):
    """Raised when a job names a column that its input does not have. 422 · exit 1"""


class OwnName(Unprocessable):
    """Raised when a column is called as one that Mason adds. 422 · exit 1"""


def choose_columns(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of these columns in this order; of all, if none are named.

    Raises:
        NoSuchColumn: one of them is not there.
    """
    for name in columns:
        if name not in schema.names:
            hint = did_you_mean(name, schema.names) or f"Columns: {', '.join(schema.names[:_SHOWN])}."
            raise NoSuchColumn(f'There is no column "{name}".', hint=hint)
    return pa.schema([schema.field(name) for name in dict.fromkeys(columns)]) if columns else schema


def refuse_own_names(schema: pa.Schema, own: Collection[str]) -> None:
    """See that the columns of a table can be told from those that a query of Mason's adds to them.

    Raises:
        OwnName: one of them cannot.
    """
    for name in schema.names:
        if name.casefold() in own:
            hint = "Give it another name first: table query can, with AS and an output_path."
            raise OwnName(f'Column "{name}" is called as one that Mason adds for this.', hint=hint)
