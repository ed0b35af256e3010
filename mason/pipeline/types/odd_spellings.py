"""Values of delimited text that are taken as they are written, or not quite: what a user may not expect is told."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from mason.pipeline.types.column_types import TEXT, Evidence, decide
from mason.pipeline.types.number_types import Digits

_LEAST_VALUES = 2
_MINUS_ZEROS = frozenset("-0." + "0" * digits for digits in range(1, 19))


def describe_odd_spellings(columns: Sequence[Sequence[str]], seen: Sequence[Evidence], quote: str) -> dict[int, str]:
    """Return what is to be said of columns, by their numbers, that look otherwise in a table, or may be expected to."""
    told = {}
    for number, (values, evidence) in enumerate(zip(columns, seen, strict=True)):
        if evidence is TEXT and quote != "'" and _are_wrapped(values):
            told[number] = """has values in ' quotes, which are part of them (quote:"'" takes them off)"""
        elif _has_decimals(evidence) and not _MINUS_ZEROS.isdisjoint(values) and pa.types.is_decimal(decide(evidence)):
            told[number] = "has -0.0, which is 0.0 in a decimal (the type double keeps the sign)"
    return told


def _has_decimals(evidence: Evidence) -> bool:
    return any(isinstance(each, Digits) and each.scale for each in evidence.scalars)


def _are_wrapped(values: Sequence[str]) -> bool:
    if not any(value[:1] == "'" for value in values[:_LEAST_VALUES]):
        return False
    present = list(filter(None, values))
    return len(present) >= _LEAST_VALUES and all(len(value) > 1 and value[0] == "'" == value[-1] for value in present)
