"""The values for which alone a column is text: a column of numbers with one `n/a` in it is worth a word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.delimited.records import QUOTED_EMPTY
from mason.pipeline.types.column_types import TEXT, decide, storable
from mason.pipeline.types.text_types import classify
from mason.pipeline.types.value_types import classify_values
from mason.util.words import counted

LEAST_VALUES = 10
NULL_MARK = "\\N"
"""What Hive, MySQL and PostgreSQL write for null."""
ODD_ONES = 0.1  # as many as a merge takes for exceptions by default
NULL_WORDS = frozenset(["n/a", "na", "#n/a", "null", "none", "nil", "nan", "-", "--", "?", ".", "n.a.", "k.a."])
_LONGEST_SHOWN = 60
_BEGINNING = 3
_DIGITS = re.compile(r"[+-]?[0-9._,]*[0-9][0-9._,]*([eE][+-]?[0-9]+)?").fullmatch


@dataclass(frozen=True, kw_only=True)
class OddValue:
    """A column that is text for few values: the first of them, and what the others are."""

    value: str
    record: int
    count: int
    others: str
    """The type that the column would have without them."""
    values: tuple[str, ...]
    """All of them, each once."""
    place: str = ""
    """Where the first stands, if that is not told by its record."""
    takes_nulls: bool = True
    """Whether words for null can be given for files of its format."""

    def describe(self, column: str) -> str:
        also = f" and {counted(self.count - 1, 'more value')}" if self.count > 1 else ""
        text = "empty text in quotes" if self.value == QUOTED_EMPTY else _render_text(self.value)
        value = f"{text} in {self.place or f'record {self.record:,}'}{also}"
        return f'column "{column}" is text for {value}: the others are {self.others}{self._remedy(column)}'

    def _remedy(self, column: str) -> str:
        """The words for null that make the column what the others are; none where one of the values is no such word."""
        if not self.takes_nulls:
            return f' (a schema with "{column} {self.others}" sends such records to the quarantine)'
        if not all(_means_null(each) for each in self.values):
            return ""
        words = ",".join(self.values)
        quote = "'" if QUOTED_EMPTY in self.values else '"'
        return f" (nulls:{quote}{words}{quote} makes {'it' if self.count == 1 else 'them'} null)"


@dataclass(frozen=True)
class Misfit:
    """The first value that the type which a column has by its sample does not hold, and where it stands."""

    file: str
    place: str
    value: str
    expected: str

    @property
    def is_decimal_expected(self) -> bool:
        return self.expected.startswith("decimal")

    def describe(self, column: str, chosen: pa.DataType) -> str:
        found = f"{self.value} in {self.place} of {self.file}"
        remedy = f'A schema with "{column} {self.expected}" sends such records to the quarantine.'
        types = f"{chosen}, not {self.expected} as in its sample"
        return f'Column "{column}" is {types}: {found} does not fit that. {remedy}'

    def to_dict(self) -> dict[str, str]:
        return dict(vars(self))

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Misfit:
        return cls(**value)


def _render_text(value: str) -> str:
    """A text; one that is kept with its quotes could mean something else without them."""
    is_quoted = len(value) > 2 and value[0] == '"' == value[-1]
    return f"{render_value(value)} in quotes" if is_quoted else f'"{render_value(value)}"'


def render_value(value: object) -> str:
    """Return a value as it is shown in a sentence."""
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def describe_null_mark(column: str) -> str:
    """Return what is to be said of a column that has the mark, which is text as long as nobody says otherwise."""
    return f'column "{column}" has {NULL_MARK}, as databases write null: it is text (nulls: {NULL_MARK} makes it null)'


def odd_value(values: Sequence[str], nulls: Collection[str], records: Sequence[int]) -> OddValue | None:
    """Return for which values a column that is text is so, if they are few among many of another type.

    `records` are the numbers of the values' records.

    Text of digits, such as postcodes with leading zeros, is no exception among numbers: there the column is right.
    """
    if len(values) < LEAST_VALUES or _begins_with_text(values, nulls):
        return None
    present = list(_present(values, nulls))
    most = int(len(present) * ODD_ONES)
    odd = list(islice((each for each in present if _is_text(each[1])), most + 1))
    if len(present) < LEAST_VALUES or not odd or len(odd) > most:
        return None
    texts = {value for _, value in odd}
    others = storable(decide(classify([value for _, value in present if value not in texts])))
    if others == "string" or all(map(_DIGITS, texts)):
        return None
    index, value = odd[0]
    return OddValue(
        value=value,
        record=records[index],
        count=len(odd),
        others=str(others),
        values=tuple(dict.fromkeys(value for _, value in odd)),
    )


def are_few(odd: int, values: int) -> bool:
    """Say whether some of the values of a column are exceptions."""
    return values >= LEAST_VALUES and 0 < odd <= int(values * ODD_ONES)


def odd_text(values: Sequence[Any], records: Sequence[int]) -> OddValue | None:
    """Return for which text alone values that have types of their own are text, as in JSON; no text is null there."""
    present = [(index, value) for index, value in enumerate(values) if value is not None]
    odd = [(index, value) for index, value in present if isinstance(value, str)]
    if not are_few(len(odd), len(present)):
        return None
    others = storable(decide(classify_values([value for _, value in present if not isinstance(value, str)])))
    if others == "string":
        return None
    index, value = odd[0]
    texts = tuple(dict.fromkeys(value for _, value in odd))
    return OddValue(
        value=value, record=records[index], count=len(odd), others=str(others), values=texts, takes_nulls=False
    )


def _means_null(value: str) -> bool:
    return value.lower() in NULL_WORDS or value == QUOTED_EMPTY


def _begins_with_text(values: Sequence[str], nulls: Collection[str]) -> bool:
    """Say whether more than one of the first values is text, as it is with nearly every column of text."""
    texts = 0
    for _, value in islice(_present(values, nulls), _BEGINNING):
        texts += _is_text(value)
        if texts > 1:
            return True
    return False


def _present(values: Sequence[str], nulls: Collection[str]) -> Iterator[tuple[int, str]]:
    return ((index, value) for index, value in enumerate(values) if value and value not in nulls)


def _is_text(value: str) -> bool:
    return classify((value,)) is TEXT
