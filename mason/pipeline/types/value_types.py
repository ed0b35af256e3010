"""Which type the values of a column have where the format has types of its own: JSON and Msgpack.

A string stays a string there, even if it looks like a date or a number: who writes JSON had the choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import reduce
from typing import Any

import pyarrow as pa

from mason.pipeline.types.column_types import NOTHING, TEXT, Evidence, merge
from mason.pipeline.types.number_types import Digits
from mason.pipeline.types.text_types import BOOLEANS, INSTANTS, integer

_BYTES = Evidence(frozenset([pa.binary()]))
_NOT_A_NUMBER = Evidence(frozenset([pa.float64()]))


def classify_records(records: Iterable[Mapping[Any, Any]]) -> dict[str, Evidence]:
    """Return what was seen of each key, in the order in which the keys first appear."""
    columns: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            columns.setdefault(str(name), []).append(value)
    return {name: classify_values(values) for name, values in columns.items()}


def classify_values(values: Sequence[Any]) -> Evidence:
    """Return what these values say of their column's type. A key that is missing counts as null."""
    by_kind: dict[type, list[Any]] = {}
    for value in values:
        by_kind.setdefault(type(value), []).append(value)
    return reduce(merge, (_classify_kind(kind, same) for kind, same in by_kind.items()), NOTHING)


def _classify_kind(kind: type, values: list[Any]) -> Evidence:
    if kind is type(None):
        return NOTHING
    if kind is str:
        return TEXT
    if kind is bool:
        return BOOLEANS
    if kind is int:
        return reduce(merge, {integer(min(values)), integer(max(values))})
    if kind is float:
        return reduce(merge, {_double(value) for value in values})
    if kind is Decimal:
        return reduce(merge, {_fraction(value) for value in values})
    if kind is dict:
        return Evidence(fields=classify_records(values))
    if kind is list:
        return Evidence(element=classify_values([value for each in values for value in each]))
    return INSTANTS if kind is datetime else _BYTES


def _double(value: float) -> Evidence:
    """The digits that Python prints are the fewest that give the same double back."""
    if value != value or value in (float("inf"), float("-inf")):
        return _NOT_A_NUMBER
    return _fraction(Decimal(repr(value)), fit_double=True)


def _fraction(value: Decimal, *, fit_double: bool | None = None) -> Evidence:
    """What a fraction of JSON shows; it is a decimal only if a double would be another number, or all of them are."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # only NaN and infinity have another one
    fits = Decimal(repr(float(value))) == value if fit_double is None else fit_double
    return Evidence(frozenset([Digits(max(len(digits) + exponent, 1), max(-exponent, 0), fits, are_doubles=True)]))
