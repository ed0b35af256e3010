"""Text to a column's type, only where the text is exactly of that type.

The rules are those of `text_types`: what they would not have chosen the type for does not fit it. The checks here are
columnar; what they cannot settle is settled value by value, by those rules themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.types.column_types import INSTANT, Evidence, decide, storable
from mason.pipeline.types.number_types import EXACT_IN_DOUBLE, MONEY_SCALE, SHORT_DECIMAL, are_plain
from mason.pipeline.types.text_types import classify
from mason.pipeline.types.zones import NAIVE_TEXT, text_instants

_BOOLEANS = ("true", "false", "True", "False", "TRUE", "FALSE")
_PLAIN_TIMES = tuple(map(len, ("2026-01-31", "2026-01-31 12:30", "2026-01-31 12:30:00")))
_INTEGER = r"^(0|-?[1-9][0-9]*)$"
_NUMBER = r"^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]+)$"
_NAIVE = NAIVE_TEXT
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"

_REPETITIONS_THAT_PAY = 2
_TOO_FEW_TO_TELL = 1_000
_ENOUGH_TO_TELL = 32_768


def fit_text(values: pa.Array, target: pa.DataType, timezone: str = "") -> pa.Array | None:
    """Return the text as values of the type, or None when some of it is not exactly of that type.

    A date in a column of times is midnight of that day; an integer among fractions is one of them. Times without a zone
    are instants by the clock of `timezone`, if one is given.
    """
    if pa.types.is_string(target):
        return values
    if _is_costly(target) and _repeat(values):
        encoded = values.dictionary_encode()
        fitted = _fit(encoded.dictionary, target, timezone)
        return None if fitted is None else fitted.take(encoded.indices)
    return _fit(values, target, timezone)


def _fit(values: pa.Array, target: pa.DataType, timezone: str) -> pa.Array | None:
    if timezone and target == INSTANT:
        return _fit_clocks(values, timezone)
    if pa.types.is_decimal(target):
        return _fit_decimals(values, target)
    check = _CHECKS.get(target.id)
    if check is None or not check(values, target):
        return None
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        return None


def evidence_in(values: pa.Array) -> Evidence:
    """Return what the text of a column says of its type."""
    return classify([value for value in pc.unique(values).to_pylist() if value is not None and value != ""])


def fits(value: str, target: pa.DataType) -> bool:
    """Say whether one text is a value of the type: by the rules for text, or since a wider type holds it."""
    found = storable(decide(classify([value])))
    return found == target or fit_text(pa.array([value]), target) is not None


@cache
def _value_set(values: tuple[str | int, ...]) -> pa.Array:
    """Some values to look others up in; made when it is needed, for making an array of a list imports pandas."""
    return pa.array(values, pa.string() if isinstance(values[0], str) else pa.int32())


def _is_costly(target: pa.DataType) -> bool:
    """Say whether looking at a text of this type takes longer than finding out that it was there before."""
    return bool(pa.types.is_decimal(target) or pa.types.is_floating(target) or target == INSTANT)


def _repeat(values: pa.Array) -> bool:
    some = values.slice(0, _ENOUGH_TO_TELL)
    return len(some) >= _TOO_FEW_TO_TELL and pc.count_distinct(some).as_py() * _REPETITIONS_THAT_PAY <= len(some)


def _fit_clocks(values: pa.Array, timezone: str) -> pa.Array | None:
    if not _all_match(values, f"{_NAIVE}|{_ZONED}"):
        return None
    try:
        return text_instants(values, timezone)
    except pa.ArrowInvalid:
        return None


def _all_match(values: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def _are_integers(values: pa.Array, target: pa.DataType) -> bool:
    # Arrow reads 007, -0 and 0x1F as numbers: only what begins with 0 or - needs the slow look.
    doubtful = pc.or_(pc.starts_with(values, "0"), pc.starts_with(values, "-"))
    return not pc.any(doubtful).as_py() or _all_match(values.filter(doubtful), _INTEGER)


def _are_numbers_for_double(values: pa.Array, target: pa.DataType) -> bool:
    if not _all_match(values, _NUMBER):
        return False
    # A number of so many digits survives a double; longer ones are looked at one by one.
    long = pc.greater(pc.binary_length(values), EXACT_IN_DOUBLE)
    if not pc.any(long).as_py():
        return True
    return all(_survives_double(value) for value in values.filter(long).to_pylist())


def _survives_double(value: str) -> bool:
    return bool(pa.types.is_floating(decide(classify([value, "0.5", "0.00005"]))))


def _fit_decimals(values: pa.Array, target: pa.DataType) -> pa.Array | None:
    try:
        fitted = values.cast(target)
    except pa.ArrowInvalid:
        return None
    fits_all = are_plain(values, fitted) or (_are_decimals(values, target) and _have_room(values, target))
    return fitted if fits_all else None


def _have_room(values: pa.Array, target: pa.DataType) -> bool:
    """Long numbers count as ones of eighteen digits: such a one fits eighteen only if it shows all the decimals."""
    if target.precision > SHORT_DECIMAL:
        return True
    long = values.filter(pc.greater(pc.binary_length(values), EXACT_IN_DOUBLE))
    return all(
        sum(map(str.isdigit, value)) <= EXACT_IN_DOUBLE or len(value.partition(".")[2]) == target.scale
        for value in long.to_pylist()
        if value is not None
    )


def _are_decimals(values: pa.Array, target: pa.DataType) -> bool:
    if not target.scale:
        return _all_match(values, _INTEGER)
    # An integer counts as one of fifteen digits: where these and the decimals need more than eighteen, it does not fit.
    if target.scale <= min(MONEY_SCALE, target.precision - EXACT_IN_DOUBLE):
        return _all_match(values, rf"^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]{{1,{target.scale}}})$")
    if target.scale <= MONEY_SCALE:
        return _all_match(values, rf"^-?(0|[1-9][0-9]*)\.[0-9]{{1,{target.scale}}}$")
    if target.precision > SHORT_DECIMAL:  # long, or uneven: fewer decimals would not make it anything else
        return _all_match(values, rf"^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]{{1,{target.scale}}})$")
    return _all_match(values, rf"^-?(0|[1-9][0-9]*)\.[0-9]{{{target.scale}}}$")


def _are_dates(values: pa.Array, target: pa.DataType) -> bool:
    lengths = pc.min_max(pc.binary_length(values)).as_py()
    return lengths["min"] is None or (lengths["min"], lengths["max"]) == (10, 10)


def _are_times(values: pa.Array, target: pa.DataType) -> bool:
    if (
        not target.tz
        and pc.all(pc.is_in(pc.binary_length(values.drop_null()), value_set=_value_set(_PLAIN_TIMES))).as_py()
    ):
        return True  # of such a length Arrow takes nothing but what the pattern would take
    return _all_match(values, _ZONED if target.tz else _NAIVE)


def _are_booleans(values: pa.Array, target: pa.DataType) -> bool:
    return pc.all(pc.is_in(values.drop_null(), value_set=_value_set(_BOOLEANS))).as_py() is not False


_CHECKS: Mapping[int, Callable[[pa.Array, pa.DataType], bool]] = {
    pa.int64().id: _are_integers,
    pa.float64().id: _are_numbers_for_double,
    pa.date32().id: _are_dates,
    pa.timestamp("us").id: _are_times,
    pa.bool_().id: _are_booleans,
}
