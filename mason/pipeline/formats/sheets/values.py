"""Values of cells: what each of them is, which type holds those of a column, and their way into a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from itertools import islice
from math import isinf
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.cell_source import CellSource
from mason.pipeline.formats.json.digits import exact_number
from mason.pipeline.formats.sheets.titles import is_there
from mason.pipeline.formats.sheets.xml import Place, SheetXml
from mason.pipeline.formats.sources import ArrowSource, Source, ValueSource
from mason.pipeline.types.column_types import NOTHING, TEXT, Evidence, evidence_of, merge
from mason.pipeline.types.number_types import MAX_PRECISION
from mason.pipeline.types.text_types import integer
from mason.pipeline.types.time_text import duration_texts

_EXACT = 2**53
_DIGITS_OF_EXCEL = 15  # no number has more of them there
_LONGEST_KEY = 10**20
_TYPES: Mapping[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    date: pa.date32(),
    datetime: pa.timestamp("us"),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
    str: pa.string(),
}
_NUMBERS = frozenset([int, float, Decimal])
_WIDER = {frozenset([int, float]): float, frozenset([date, datetime]): datetime}


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The cells of a sheet as values.

    A number without a fraction is an integer. One of so many digits that a double need not hold it is read from the
    XML, and so is a negative number that has the format of a date or a time, of which the reader makes another time.
    `negatives` are the places of these that have been met. `rounded` are those of long whole numbers that the XML has
    as doubles, too: who wrote them has lost digits.
    """

    sheet: Any
    xml: SheetXml
    nulls: Collection[str] = ()
    negatives: dict[Place, None] = field(default_factory=dict)
    rounded: dict[Place, None] = field(default_factory=dict)

    @property
    def first_column(self) -> int:
        return self.sheet.start[1] if self.sheet.start else 0

    def records(self, first_row: int) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield the rows from one on that are not empty, with their numbers as Excel has them."""
        rows = enumerate(islice(self.sheet.iter_rows(), first_row, None), first_row + 1)
        return ((number, row) for number, row in rows if any(map(is_there, row)))

    def value(self, number: int, row: Sequence[Any], place: int) -> Any:
        """Return the value at a place of a row; None if there is none, or a word for null."""
        cell: Any = row[place] if place < len(row) else None
        if not is_there(cell) or (self.nulls and cell in self.nulls):
            return None
        kind = type(cell)
        if kind is float:
            if abs(cell) < _EXACT:
                return int(cell) if cell == int(cell) else cell
            return self._long_number(cell, (number - 1, self.first_column + place))
        if kind is time and self.xml.has_negatives:
            return self._time_or_number(cell, (number - 1, self.first_column + place))
        return cell

    def _long_number(self, cell: float, place: Place) -> Any:
        digits = self.xml.numbers.get(place)
        if digits is None:
            if len(Decimal(repr(cell)).as_tuple().digits) >= _DIGITS_OF_EXCEL and abs(cell) < _LONGEST_KEY:
                self.rounded[place] = None
            return int(cell) if abs(cell) == _EXACT else cell
        if "." in digits:
            return exact_number(digits)
        # As in delimited text: what no decimal holds is text.
        return int(digits) if len(digits.lstrip("-0")) <= MAX_PRECISION else digits

    def _time_or_number(self, cell: time, place: Place) -> Any:
        digits = self.xml.numbers.get(place)
        if digits is None:
            return cell
        self.negatives[place] = None
        number = float(digits)
        return int(number) if not isinf(number) and number == int(number) else number


def evidence_of_cells(kinds: Collection[type], ends: Collection[int]) -> Evidence:
    """Return what cells of these kinds show, of which the smallest and the largest integers are given."""
    kind = kind_of({float if each is Decimal else each for each in kinds})
    if kind is None:
        return NOTHING
    if kind is int:
        return reduce(merge, map(integer, ends))
    return TEXT if kind is str else evidence_of(_TYPES[kind])


def need_digits(kinds: Collection[type], ends: Collection[int]) -> bool:
    """Say whether numbers of these kinds may be more than Arrow's integers and doubles hold together."""
    if not kinds or not _NUMBERS.issuperset(kinds):
        return False
    most = 2**63 - 1 if set(kinds) == {int} else _EXACT
    return Decimal in kinds or any(abs(end) > most for end in ends)


def kind_of(kinds: Collection[type]) -> type | None:
    """Return the kind that holds values of several; text holds all. None for no values."""
    if len(kinds) <= 1:
        return next(iter(kinds), None)
    return _WIDER.get(frozenset(kinds), str)


def source_of(values: Sequence[Any], *, exact: bool) -> Source:
    """Return the values of a column; `exact`: there are numbers in it, maybe not here, that need all their digits."""
    if exact:
        return ValueSource(values)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kind_of(kinds) is not str:
        return ArrowSource(_array(values))
    others = [_only(kind, values) for kind in sorted(kinds - {str}, key=str)]
    return CellSource(texts_of(values), _only(str, values), others)


def texts_of(values: Sequence[Any]) -> pa.Array:
    """Return values of several kinds as text, spelled as a column of their own kind would be."""
    return pa.array([_text(value) for value in values], pa.string())


def _only(kind: type, values: Sequence[Any]) -> pa.Array:
    return _array([value if type(value) is kind else None for value in values])


def _array(values: Sequence[Any]) -> pa.Array:
    kind = kind_of({type(value) for value in values if value is not None})
    if kind is None:
        return pa.nulls(len(values))
    if kind is datetime:
        values = [datetime.combine(each, time()) if type(each) is date else each for each in values]
    if kind is Decimal or (kind is int and any(each is not None and abs(each) >= 2**63 for each in values)):
        return pa.array([each if each is None else Decimal(each) for each in values])
    return pa.array(values, _TYPES[kind])


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal) or (type(value) is int and abs(value) >= 2**63):
        return str(value)
    scalars = pa.array([value], _TYPES[type(value)])
    spelled = duration_texts(scalars) if isinstance(value, timedelta) else scalars.cast(pa.string())
    text: str = spelled[0].as_py()
    return text
