"""Decimals that have more digits than a number of 64 bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

_EXACT = Context(prec=120)
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
        self.total = _EXACT.add(self.total, other.total)

    def unscaled(self, scale: int) -> int:
        """Return the sum without its point."""
        return int(self.total.scaleb(scale, context=_EXACT))

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
