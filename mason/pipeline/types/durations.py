"""Lengths of time as text: `36:00:00`, as spreadsheets show them, and as times of day are written beside them."""

from __future__ import annotations

import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def duration_texts(values: pa.Array) -> pa.Array:
    """Return lengths of time as hours, minutes and seconds, with as many decimals as there are."""
    per_second = _PER_SECOND[values.type.unit]
    counts = values.cast(pa.int64()).to_pylist()
    return pa.array([None if each is None else _text(each, per_second) for each in counts], pa.string())


def _text(count: int, per_second: int) -> str:
    seconds, rest = divmod(abs(count), per_second)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    decimals = f".{rest:0{len(str(per_second)) - 1}}".rstrip("0") if rest else ""
    return f"{'-' if count < 0 else ''}{hours:02}:{minute:02}:{second:02}{decimals}"
