"""Values as a test file writes them, against the values of a table."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from mason.operators.operator_tests.cells import BadCell, arrow_type, cell_key, read_cell, render_cell

SAME = [
    ("int64", 1, 1),
    ("double", 1, 1.0),
    ("double", "NaN", float("nan")),
    ("double", ".nan", float("nan")),
    ("double", "-.inf", float("-inf")),
    ("double", -0.0, -0.0),
    ("float", 0.1, 0.10000000149011612),
    ("decimal(10,2)", 2.5, Decimal("2.50")),
    ("decimal(38,0)", "12345678901234567890123", Decimal("12345678901234567890123")),
    ("string", "1", "1"),
    ("boolean", True, True),
    ("date", "2026-01-31", date(2026, 1, 31)),
    ("timestamp[us]", "2026-01-31T12:30:00.000001", datetime(2026, 1, 31, 12, 30, 0, 1)),
    ("timestamp[us]", "2026-01-31", datetime(2026, 1, 31)),
    ("timestamp[us, tz=UTC]", "2026-01-31T12:30:00+02:00", datetime(2026, 1, 31, 10, 30, tzinfo=UTC)),
    ("time64[us]", "12:30:00", time(12, 30)),
    ("binary", "é", b"\xc3\xa9"),
    ("list<int64>", [1, None], [1, None]),
    ("struct<a: int64, b: string>", {"a": 1}, {"a": 1, "b": None}),
    ("map<string, int64>", {"a": 1}, [("a", 1)]),
    ("null", None, None),
]
DIFFERENT = [
    ("double", 0.0, -0.0),
    ("double", 1, float("nan")),
    ("double", None, float("nan")),
    ("int64", 0, None),
    ("string", "", None),
    ("string", "a", "a "),
    ("decimal(10,2)", 2.51, Decimal("2.50")),
    ("timestamp[us]", "2026-01-31T12:30:00", datetime(2026, 1, 31, 12, 30, 0, 1)),
    ("list<int64>", [], None),
    ("struct<a: double>", {"a": 0.0}, {"a": -0.0}),
]
UNFIT = [
    ("int64", "1"),
    ("int64", 1.0),
    ("int64", True),
    ("int8", 300),
    ("double", "1"),
    ("double", True),
    ("string", 1),
    ("string", True),
    ("boolean", 1),
    ("boolean", "true"),
    ("date", "31.01.2026"),
    ("date", 20260131),
    ("timestamp[us]", "2026-01-31T12:30:00Z"),
    ("timestamp[us, tz=UTC]", "2026-01-31T12:30:00"),
    ("decimal(10,2)", "two"),
    ("list<int64>", 1),
    ("struct<a: int64>", {"b": 1}),
    ("null", 1),
]


@pytest.mark.parametrize(("kind", "written", "found"), SAME)
def test_what_is_the_same(kind: str, written: Any, found: Any) -> None:
    a, b = (read_cell(value, arrow_type(kind)) for value in (written, found))

    assert cell_key(a) == cell_key(b)


@pytest.mark.parametrize(("kind", "written", "found"), DIFFERENT)
def test_what_is_different(kind: str, written: Any, found: Any) -> None:
    a, b = (read_cell(value, arrow_type(kind)) for value in (written, found))

    assert cell_key(a) != cell_key(b)
    assert render_cell(a) != render_cell(b)


@pytest.mark.parametrize(("kind", "written"), UNFIT)
def test_what_does_not_fit_its_type(kind: str, written: Any) -> None:
    with pytest.raises(BadCell, match="must be|has b, which"):
        read_cell(written, arrow_type(kind))


@pytest.mark.parametrize("word", ["int65", "", "list<", "int64, b int64", "decimal(99,2)"])
def test_what_is_no_type(word: str) -> None:
    with pytest.raises(BadCell, match="is not a type|more than one"):
        arrow_type(word)
