"""How two tables differ: row by row, cell by cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from mason.operators.operator_tests.cells import cell_key, render_cell

Row = Mapping[str, Any]


def row_differences(
    expected: Sequence[Row], actual: Sequence[Row], *, ordered: bool, words: tuple[str, str] = ("expected", "got")
) -> Iterator[str]:
    """Yield how the rows differ; `words` says whose the two are. Without an order only how often each row is there."""
    pairs = list(zip_longest(expected, actual)) if ordered else _pair_rows(expected, actual)
    for number, (one, other) in enumerate(pairs, 1):
        if one is None:
            yield f"a row that only {_who(words[1])}: {render_cell(other)}"
        elif other is None:
            yield f"a row that only {_who(words[0])}: {render_cell(one)}"
        else:
            yield from _cell_differences(number if ordered else None, one, other, words)


def _who(word: str) -> str:
    return {"expected": "was expected", "got": "was got"}.get(word, f"{word} has")


def _cell_differences(number: int | None, one: Row, other: Row, words: tuple[str, str]) -> Iterator[str]:
    names = [name for name in {**one, **other} if cell_key(one.get(name)) != cell_key(other.get(name))]
    if not names:
        return
    cells = "; ".join(
        f"{name}: {words[0]} {render_cell(one.get(name))}, {words[1]} {render_cell(other.get(name))}" for name in names
    )
    yield f"row {number}: {cells}" if number else f"row {render_cell(one)}: {cells}"


def _pair_rows(expected: Sequence[Row], actual: Sequence[Row]) -> list[tuple[Row | None, Row | None]]:
    """Pair what is not the same on both sides: each row with the one that it is most like."""
    left: dict[Hashable, list[Row]] = defaultdict(list)
    for row in actual:
        left[cell_key(row)].append(row)
    missing = [row for row in expected if not _take_equal(left, row)]
    unexpected = [row for rows in left.values() for row in rows]
    pairs: list[tuple[Row | None, Row | None]] = []
    for row in missing:
        near = max(unexpected, key=lambda each: _likeness(row, each), default=None)
        if near is None or not _likeness(row, near):
            pairs.append((row, None))
        else:
            unexpected.remove(near)
            pairs.append((row, near))
    return [*pairs, *((None, row) for row in unexpected)]


def _take_equal(left: dict[Hashable, list[Row]], row: Row) -> bool:
    rows = left.get(cell_key(row))
    if not rows:
        return False
    rows.pop()
    return True


def _likeness(one: Row, other: Row) -> int:
    return sum(cell_key(one[name]) == cell_key(other.get(name)) for name in one)
