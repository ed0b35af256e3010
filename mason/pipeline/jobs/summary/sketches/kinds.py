"""What stands for the values of a type while they are counted, and how a number is shown as a value again.

Decimals may have more digits than a number of 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.summary.sketches.hashing import Numbers

NARROW_DIGITS = 18
"""Decimals of so many digits are numbers of 64 bits, without their point."""

_EXACT = Context(prec=100)
_MEAN_DIGITS = 6
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_DAY_IN_SECONDS = 86_400


@dataclass(frozen=True, kw_only=True)
class NumberKind:
    """A type whose values are numbers in some order: integers, decimals, dates and times as well as doubles."""

    type: pa.DataType
    dtype: str
    """What the numbers are while they are counted."""
    numbers: Callable[[pa.Array], Numbers]
    """Returns the numbers of an array without nulls."""
    show: Callable[[Any], Any]
    """Returns a number as the value that it stands for."""
    show_mean: Callable[[int | float, int], Any]
    """Returns the mean, given the total of so many values, or their mean and 1."""
    unit: float = 1.0
    """What a distance of one is in the unit that deviations are told in: seconds for times, days for dates."""

    @property
    def unit_name(self) -> str | None:
        """What that unit is called; None of plain numbers, which have none."""
        if pa.types.is_date(self.type):
            return "day"
        return "second" if pa.types.is_temporal(self.type) else None

    @property
    def is_whole(self) -> bool:
        return self.dtype != "f8"


def number_kind(kind: pa.DataType) -> NumberKind | None:
    """Return how a type is counted; None for one whose values are not numbers."""
    types = pa.types
    if types.is_boolean(kind):
        return NumberKind(
            type=kind,
            dtype="i8",
            numbers=lambda values: _numpy(values.cast(pa.int8())).astype("i8"),
            show=bool,
            show_mean=_mean,
        )
    if types.is_integer(kind):
        dtype = "u8" if kind == pa.uint64() else "i8"
        return NumberKind(
            type=kind, dtype=dtype, numbers=lambda values: _numpy(values).astype(dtype), show=int, show_mean=_mean
        )
    if types.is_floating(kind):
        return NumberKind(
            type=kind, dtype="f8", numbers=lambda values: _numpy(values).astype("f8"), show=float, show_mean=_mean
        )
    if types.is_decimal(kind):
        return _decimal_kind(kind)
    if types.is_date(kind):
        unit = 1.0 if types.is_date32(kind) else 1 / (_DAY_IN_SECONDS * 1000)
        return NumberKind(
            type=kind, dtype="i8", numbers=_integers, show=_renderer_of(kind), show_mean=_date_mean(unit), unit=unit
        )
    if types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind):
        show = _renderer_of(kind)
        return NumberKind(
            type=kind,
            dtype="i8",
            numbers=_integers,
            show=show,
            show_mean=lambda total, count: show(_divide_rounded(total, count)),
            unit=_SECONDS[kind.unit],
        )
    return None


def _decimal_kind(kind: pa.DataType) -> NumberKind:
    scale = kind.scale

    def show(number: int | float) -> Decimal:
        if isinstance(number, float):  # of more digits than a number has room for
            return Decimal(number).quantize(Decimal(1).scaleb(-scale), context=_EXACT)
        return Decimal(number).scaleb(-scale, context=_EXACT)

    def show_mean(total: int | float, count: int) -> Decimal:
        if isinstance(total, float):
            return show(total)
        exact = _EXACT.divide(Decimal(total).scaleb(-scale, context=_EXACT), Decimal(count))
        rounded = [exact.quantize(Decimal(1).scaleb(-scale - more), context=_EXACT) for more in range(_MEAN_DIGITS + 1)]
        return next(each for each in rounded if each == rounded[-1])  # no more zeros than the column has

    if kind.precision <= NARROW_DIGITS and kind.bit_width == 128:
        return NumberKind(type=kind, dtype="i8", numbers=_lower_halves, show=show, show_mean=show_mean)
    return NumberKind(
        type=kind, dtype="f8", numbers=lambda values: _numpy(values.cast(pa.float64())), show=show, show_mean=show_mean
    )


def _numpy(values: pa.Array) -> Numbers:
    numbers: Numbers = values.to_numpy(zero_copy_only=False)
    return numbers


def _integers(values: pa.Array) -> Numbers:
    """The numbers that dates and times are stored as."""
    width = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return _numpy(values.view(width)).astype("i8")


def _lower_halves(values: pa.Array) -> Numbers:
    """The lower half of each decimal: the upper one has only its sign."""
    content = np.frombuffer(values.buffers()[1], "<i8") if len(values) else np.zeros(0, "i8")
    return content[2 * values.offset : 2 * (values.offset + len(values)) : 2].astype("i8")


def _mean(total: int | float, count: int) -> float:
    return total / count


def _divide_rounded(total: int | float, count: int) -> int:
    return int(total) // count


def _date_mean(days: float) -> Callable[[int | float, int], Any]:
    """Dates may have a time between two of them as their mean."""
    show = _renderer_of(pa.timestamp("s"))
    return lambda total, count: show(math.floor(total / count * days * _DAY_IN_SECONDS))


def _renderer_of(kind: pa.DataType) -> Callable[[Any], Any]:
    def show(number: Any) -> Any:
        scalar = pa.scalar(int(number), kind)
        try:
            value = scalar.as_py()
            return value.isoformat() if hasattr(value, "isoformat") else str(value)
        except (ValueError, OverflowError):  # a year that Python has no word for
            return pc.cast(scalar, pa.string()).as_py()

    return show


_EXACT_SUMS = Context(prec=120)
_MOST_DIGITS = 76


@dataclass
class WideDecimals:
    """The extremes and the sum of decimals of any number of digits."""

    low: Decimal | None = None
    high: Decimal | None = None
    total: Decimal = Decimal(0)

    def add(self, values: pa.Array) -> None:
        extremes = pc.min_max(values)
        total = pc.sum(values.cast(pa.decimal256(_MOST_DIGITS, values.type.scale))).as_py()
        self.merge(WideDecimals(extremes["min"].as_py(), extremes["max"].as_py(), total))

    def merge(self, other: WideDecimals) -> None:
        self.low = min((each for each in (self.low, other.low) if each is not None), default=None)
        self.high = max((each for each in (self.high, other.high) if each is not None), default=None)
        self.total = _EXACT_SUMS.add(self.total, other.total)

    def to_unscaled(self, scale: int) -> int:
        """Return the sum without its point."""
        return int(self.total.scaleb(scale, context=_EXACT_SUMS))

    def to_dict(self) -> dict[str, str | None]:
        return {
            "low": None if self.low is None else str(self.low),
            "high": None if self.high is None else str(self.high),
            "total": str(self.total),
        }

    @classmethod
    def of(cls, value: Mapping[str, str | None]) -> WideDecimals:
        low, high = (None if (text := value[name]) is None else Decimal(text) for name in ("low", "high"))
        return cls(low, high, Decimal(value["total"] or 0))
