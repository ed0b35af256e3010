"""A column of a file on its way into a table: how it becomes the table's type, and what it says if it does not fit."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from itertools import accumulate, chain
from typing import Any, Protocol
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.formats.json.values import dump
from mason.pipeline.types.column_types import INSTANT, Evidence, decide, evidence_of, merge, storable
from mason.pipeline.types.given_types import Fitted, fit_given_text, fit_given_values
from mason.pipeline.types.python_values import python_value, python_values
from mason.pipeline.types.text_fit import evidence_in, fit_text
from mason.pipeline.types.text_types import integer
from mason.pipeline.types.time_text import duration_texts
from mason.pipeline.types.value_types import classify_values
from mason.pipeline.types.zones import instants_of

_PLAIN: Mapping[pa.DataType, set[type]] = {
    pa.string(): {str},
    pa.bool_(): {bool},
    pa.int64(): {int},
    pa.float64(): {int, float},
}
_LARGEST = {pa.int64(): 2**63 - 1, pa.float64(): 2**53}  # integers that the type holds as they are


def row_numbers(numbers: Sequence[int]) -> pa.Array:
    """Return numbers as an array; Arrow would import pandas to look at the list, and small jobs have no use for it."""
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(array("q", numbers))])


class Source(Protocol):
    """The values of one column in one batch."""

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        """Return the values in the type, or None when some value does not fit it."""

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        """Return the values in a type that the user gave, and which of them do not fit it."""

    def evidence(self) -> Evidence:
        """Return what the values say of their type."""

    def value(self, index: int) -> Any:
        """Return one of the values."""

    def take(self, indices: Sequence[int]) -> Source:
        """Return some of the values."""

    def or_else(self, other: Source) -> Source | None:
        """Return these values and, where they are null, the other's; None if a record has both."""


@dataclass(frozen=True)
class TextSource:
    """Fields of delimited text."""

    values: pa.Array

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        return fit_text(self.values, target, timezone)

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        return fit_given_text(self.values, target, timezone)

    def evidence(self) -> Evidence:
        return evidence_in(self.values)

    def value(self, index: int) -> Any:
        return self.values[index].as_py()

    def take(self, indices: Sequence[int]) -> Source:
        return TextSource(self.values.take(row_numbers(indices)))

    def or_else(self, other: Source) -> Source | None:
        return None


@dataclass(frozen=True)
class ArrowSource:
    """Values of a format that declares its types."""

    values: pa.Array

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        return _fit_declared(self.values, target, timezone)

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        if self.values.type.equals(target):
            return Fitted(self.values)
        if _is_text(self.values.type):
            return fit_given_text(self.values.cast(pa.string()), target, timezone)
        return fit_given_values(self.values, lambda part: _convert_declared(part, target, timezone), target)

    def evidence(self) -> Evidence:
        declared = evidence_of(self.values.type)
        if not pa.types.is_integer(self.values.type):
            return declared
        # Only the values tell whether a double would hold them.
        ends = [end for end in pc.min_max(self.values).as_py().values() if end is not None]
        return reduce(merge, map(integer, ends), declared)

    def value(self, index: int) -> Any:
        return python_value(self.values[index])

    def take(self, indices: Sequence[int]) -> Source:
        return ArrowSource(self.values.take(row_numbers(indices)))

    def or_else(self, other: Source) -> Source | None:
        return None


@dataclass(frozen=True)
class ValueSource:
    """Values of JSON or Msgpack; a missing key is None."""

    values: Sequence[Any]

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        if pa.types.is_string(target):
            return _texts(self.values)
        if _are_of(target, self.values):
            return pa.array(self.values, target)
        if storable(decide(merge(evidence_of(target), self.evidence()))) != target:
            return None
        try:
            return pa.array(with_text_inside(self.values, target), target)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        if all(value is None or isinstance(value, str) for value in self.values):
            return fit_given_text(pa.array(self.values, pa.string()), target, timezone)
        return fit_given_values(self.values, lambda part: _convert_values(part, target, timezone), target)

    def evidence(self) -> Evidence:
        return classify_values(self.values)

    def value(self, index: int) -> Any:
        return self.values[index]

    def take(self, indices: Sequence[int]) -> Source:
        return ValueSource([self.values[index] for index in indices])

    def or_else(self, other: Source) -> Source | None:
        if not isinstance(other, ValueSource):
            return None
        both = list(zip(self.values, other.values, strict=True))
        if any(one is not None and two is not None for one, two in both):
            return None
        return ValueSource([two if one is None else one for one, two in both])


def _are_of(target: pa.DataType, values: Collection[Any]) -> bool:
    """Say whether values are plainly of the type, as nearly all are: that is quicker to see than all that they show."""
    kinds = set(map(type, values)) - {type(None)}
    if target in _PLAIN:
        return kinds <= _PLAIN[target] and (int not in kinds or _are_within(_LARGEST[target], values))
    present = [value for value in values if value is not None]
    if pa.types.is_list(target):
        return kinds <= {list} and _are_of(target.value_type, list(chain.from_iterable(present)))
    if not pa.types.is_struct(target) or not kinds <= {dict} or not set().union(*present) <= set(target.names):
        return False
    return all(_are_of(field.type, [value.get(field.name) for value in present]) for field in target)


def _are_within(largest: int, values: Collection[Any]) -> bool:
    integers = [value for value in values if type(value) is int]
    return -largest <= min(integers) and max(integers) <= largest


def _convert_values(values: Sequence[Any], target: pa.DataType, timezone: str) -> pa.Array:
    """Text is read as text in a file would be, inside something nested too; all else must be of the type already."""
    if pa.types.is_string(target):
        return _must_fit(_texts(values))
    if pa.types.is_map(target):
        return _convert_maps([_pairs(value) for value in values], target, timezone)
    if pa.types.is_list(target):
        inside = _convert_values(list(chain.from_iterable(_all_of(list, values))), target.value_type, timezone)
        return pa.ListArray.from_arrays(_offsets(values), inside, type=target)
    if pa.types.is_struct(target):
        return _convert_structs(values, target, timezone)
    texts = pa.array([value if isinstance(value, str) else None for value in values], pa.string())
    others = [None if isinstance(value, str) else _exactly(value, target) for value in values]
    if texts.null_count == len(texts):
        return pa.array(others, target)
    fitted = fit_given_text(texts, target, timezone)
    return pc.coalesce(_must_fit(None if fitted.bad else fitted.values), pa.array(others, target))


def _convert_maps(pairs: Sequence[Any], target: pa.DataType, timezone: str) -> pa.Array:
    flat = list(chain.from_iterable(_all_of(list, pairs)))
    keys = _convert_values([key for key, _ in flat], target.key_type, timezone)
    items = _convert_values([item for _, item in flat], target.item_type, timezone)
    return pa.MapArray.from_arrays(_offsets(pairs), keys, items, type=target)


def _convert_structs(values: Sequence[Any], target: pa.DataType, timezone: str) -> pa.Array:
    if not set().union(*_all_of(dict, values)) <= set(target.names):
        raise pa.ArrowInvalid("it has other fields")
    missing = [value is None for value in values]
    inside = [
        _convert_values([(value or {}).get(each.name) for value in values], each.type, timezone) for each in target
    ]
    return pa.StructArray.from_arrays(inside, fields=list(target), mask=pa.array(missing, pa.bool_()))


def _all_of(kind: type, values: Sequence[Any]) -> Sequence[Any]:
    """The values that are there, if they are of the kind."""
    present = [value for value in values if value is not None]
    if not all(isinstance(value, kind) for value in present):
        raise pa.ArrowInvalid("it is nothing nested, or nested otherwise")
    return present


def _offsets(values: Sequence[Any]) -> pa.Array:
    """Where each of the lists begins in all of them together, and the last one ends; null for one that is missing."""
    ends = list(accumulate((len(value) if value is not None else 0 for value in values), initial=0))
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    return pa.array([*starts, ends[-1]], pa.int32())


def _pairs(value: Any) -> Any:
    """A map, which JSON has as an object or, for keys that are no text, as a list of pairs."""
    if isinstance(value, dict):
        return list(value.items())
    if value is None or (isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)):
        return value
    raise pa.ArrowInvalid("it is not a map")


def _exactly(value: Any, target: pa.DataType) -> Any:
    """A value as Arrow takes it for what it is: it would make 1 of 1.5 for an integer, and a date of a number."""
    if isinstance(value, bool) != pa.types.is_boolean(target) and value is not None:
        raise pa.ArrowInvalid("a truth value is not a number")
    if isinstance(value, int | float | Decimal) and pa.types.is_temporal(target):
        raise pa.ArrowInvalid("a number is not a time")
    if isinstance(value, datetime) and pa.types.is_date(target) and value.time() != time():
        raise pa.ArrowInvalid("a moment is not a day")
    if not isinstance(value, float | Decimal):
        return value
    if pa.types.is_integer(target):
        if value != value // 1:
            raise pa.ArrowInvalid(f"{value} is not a whole number")
        return int(value)
    return _number_for(value, target)


def _convert_declared(values: pa.Array, target: pa.DataType, timezone: str) -> pa.Array:
    """Arrow's casts of single values lose nothing; something nested must have the type already, or a narrower one."""
    if pa.types.is_nested(target) and storable(decide(merge(evidence_of(target), evidence_of(values.type)))) != target:
        raise pa.ArrowInvalid("it has other fields")
    if pa.types.is_temporal(target) and not pa.types.is_temporal(values.type):
        raise pa.ArrowInvalid("a number is not a time")
    if pa.types.is_nested(target) or pa.types.is_string(target) or pa.types.is_timestamp(target):
        return _must_fit(_fit_declared(values, target, timezone))
    if pa.types.is_boolean(values.type) != pa.types.is_boolean(target):
        raise pa.ArrowInvalid("a truth value is not a number")
    if pa.types.is_decimal(target) and not pa.types.is_decimal(values.type):
        # Straight on, Arrow would round floats, and want room for the largest of all integers.
        return values.cast(pa.string()).cast(target)
    if pa.types.is_date(target) or pa.types.is_time(target):
        return _day_or_clock(values, target)
    is_decimal = pa.types.is_decimal(values.type) and pa.types.is_floating(target)
    return _nearest_floats(values, target) if is_decimal else values.cast(target)


def _day_or_clock(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Days and times of day; a moment is a day at midnight only, and no time of day: Arrow would drop the rest."""
    if pa.types.is_timestamp(values.type) and pa.types.is_time(target):
        raise pa.ArrowInvalid("a moment is not a time of day")
    fitted = values.cast(target)
    if pa.types.is_timestamp(values.type) and not pc.all(pc.equal(fitted.cast(values.type), values)).as_py():
        raise pa.ArrowInvalid("a moment is not a day")
    return fitted


def _must_fit(fitted: pa.Array | None) -> pa.Array:
    if fitted is None:
        raise pa.ArrowInvalid("some value does not fit")
    return fitted


def _fit_declared(values: pa.Array, target: pa.DataType, timezone: str) -> pa.Array | None:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.type.equals(target):
        return values
    if timezone and target == INSTANT and _shows_a_clock(values.type):
        return instants_of(values, timezone)
    if pa.types.is_string(target) and not _is_text(values.type):
        return _declared_to_text(values)
    if pa.types.is_decimal(values.type) and pa.types.is_floating(target):
        return _nearest_floats(values, target)
    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return _fit_by_value(values, target)


def _nearest_floats(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Decimals as the floats next to them: Arrow's own cast is off by a last digit for every third of them."""
    return values.cast(pa.string()).cast(target)


def _fit_by_value(values: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Structs that lack fields or have unions, and times finer than a microsecond, which Arrow does not cast."""
    if pa.types.is_timestamp(values.type) and pa.types.is_timestamp(target):
        # Only what is too fine may be cut off; what is too far away would come out as another time.
        return values.cast(target, safe=False) if values.type.unit == "ns" else None
    try:
        return pa.array(with_text_inside(values.to_pylist(), target), target)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None


def _declared_to_text(values: pa.Array) -> pa.Array | None:
    if isinstance(values.type, pa.UuidType):
        return _texts(values.to_pylist())
    if pa.types.is_nested(values.type):
        return _texts(python_values(values))
    if pa.types.is_duration(values.type):
        return duration_texts(values)
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _texts(values: Sequence[Any]) -> pa.Array | None:
    try:
        return pa.array([_as_text(value) for value in values], pa.string())
    except UnicodeDecodeError:
        return None


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes | UUID):
        return _as_json_text(value)
    if isinstance(value, date | time):  # as a column of them would be, and without the quotes of JSON
        return str(pa.scalar(value).cast(pa.string()))
    return dump(value, _as_json_text)


def _as_json_text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def with_text_inside(values: Sequence[Any], target: pa.DataType) -> Sequence[Any]:
    """Values whose nested fields came out as text, because files disagree on them, have these as JSON text.

    And numbers are of the kind that Arrow takes for the type; that they are the same there was seen before.
    """
    if pa.types.is_struct(target):
        return [None if value is None else _struct_values(value, target) for value in values]
    if pa.types.is_list(target):
        return [None if value is None else with_text_inside(value, target.value_type) for value in values]
    if pa.types.is_map(target):
        return [None if value is None else _map_values(value, target) for value in values]
    if pa.types.is_string(target):
        return [_as_text(value) for value in values]
    other = float if pa.types.is_decimal(target) else Decimal
    return [_number_for(value, target) for value in values] if other in set(map(type, values)) else values


def _number_for(value: Any, target: pa.DataType) -> Any:
    if pa.types.is_decimal(target) and isinstance(value, float):
        return Decimal(repr(value))
    return float(value) if pa.types.is_floating(target) and isinstance(value, Decimal) else value


def _struct_values(value: Any, target: pa.DataType) -> dict[str, Any]:
    return {field.name: with_text_inside([value.get(field.name)], field.type)[0] for field in target}


def _map_values(value: Any, target: pa.DataType) -> list[tuple[Any, Any]]:
    pairs = list(value.items() if isinstance(value, dict) else value)
    return list(
        zip([key for key, _ in pairs], with_text_inside([each for _, each in pairs], target.item_type), strict=True)
    )


def _shows_a_clock(declared: pa.DataType) -> bool:
    return bool(pa.types.is_date(declared) or (pa.types.is_timestamp(declared) and not declared.tz))


def _is_text(declared: pa.DataType) -> bool:
    return bool(pa.types.is_string(declared) or pa.types.is_large_string(declared) or pa.types.is_string_view(declared))
