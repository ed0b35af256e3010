"""A result as blocks that can be drawn: lines, and grids of cells. What is shown follows from the result's shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mason.cli.views.rows import Document, Rows, all_keys, find_rows
from mason.util.text_table import escape_controls
from mason.util.view import View
from mason.util.words import counted

MOST_ROWS = 50
_LONGEST_CELL = 200
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)").fullmatch


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Cells below their headers. A cell that has no room is folded where `folds`, and else cut.

    `left_out` are rows that there are besides, and `columns_left_out` columns; `numbers` are the columns that stand on
    the right.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    types: Sequence[str] = ()
    numbers: frozenset[int] = frozenset()
    left_out: int = 0
    columns_left_out: int = 0
    folds: bool = False
    can_be_csv: bool = False


@dataclass(frozen=True)
class Pairs:
    """Names with their values, a line each."""

    values: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Lines:
    """Lines that are drawn already."""

    lines: Sequence[str]


Block = Grid | Pairs | Lines


def result_blocks(data: Sequence[Any], view: View | None, width: int | None, said: Sequence[str] = ()) -> list[Block]:
    """Return what is shown of a result's data on a terminal of so many columns; what was `said` is not repeated."""
    found = find_rows(data, view)
    if found is None and len(data) > 1 and _are_alike(data):
        found = Rows(list(data[0]), data)
    if found is not None:
        return [rows_grid(found, width)] if data else []
    return [block for each in data[:MOST_ROWS] for block in _document_blocks(each, view, width, said)]


def rows_grid(rows: Rows, width: int | None, *, folds: bool = False, most: int = MOST_ROWS) -> Grid | Lines:
    """Return rows as a grid, the first of them; columns that a listing leaves empty everywhere are left out."""
    some = rows.values[:most]
    names = list(rows.columns)
    if not rows.types:
        names = [name for name in names if any(each.get(name) not in (None, "", [], {}) for each in some)]
    if not names:
        return Lines([f"{counted(len(rows.values), 'row')} without columns."])
    named = len(names)
    names = names if width is None else names[: max(width, 1)]
    return Grid(
        headers=[escape_controls(str(name)) for name in names],
        types=[escape_controls(rows.types.get(name, "")) for name in names] if rows.types else (),
        rows=[[_cell(each.get(name), rows) for name in names] for each in some],
        numbers=frozenset(number for number, name in enumerate(names) if _is_number(name, some, rows.types)),
        left_out=len(rows.values) - len(some),
        columns_left_out=named - len(names),
        folds=folds,
        can_be_csv=True,
    )


def _cell(value: object, rows: Rows) -> str:
    """Return a cell; where no types are told, which are those of data, a moment is short and empty text is nothing."""
    if rows.types or not isinstance(value, str):
        return cell_text(value)
    return f"{value[:10]} {value[11:19]}" if _MOMENT(value) else cell_text(value or None)


def cell_text(value: object) -> str:
    """Return a value in one line: null as nothing, empty text as quotes, nothing that would move the cursor."""
    if value is None:
        return ""
    if isinstance(value, str):
        return escape_controls(value[:_LONGEST_CELL]) if value else '""'
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return escape_controls(", ".join(value)[:_LONGEST_CELL])
    return escape_controls(json.dumps(value, ensure_ascii=False)[:_LONGEST_CELL])


def _are_alike(data: Sequence[Any]) -> bool:
    """Say whether these are documents of one kind: they have the same keys."""
    return all(isinstance(each, Mapping) and each.keys() == data[0].keys() for each in data)


def _is_number(name: str, rows: Sequence[Document], types: Mapping[str, str]) -> bool:
    """Say whether a column holds nothing but numbers; decimals are text in JSON, and known by their type."""
    if types.get(name, "").startswith("decimal"):
        return True
    values = [value for each in rows if (value := each.get(name)) is not None]
    return bool(values) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)


def _document_blocks(document: object, view: View | None, width: int | None, said: Sequence[str]) -> Iterator[Block]:
    """Yield a document: its values as pairs first, then each list of documents in it as a grid."""
    if not isinstance(document, Mapping):
        yield Lines([cell_text(document)])
        return
    parts = view.parts if view else None
    chosen = document if parts is None else {key: document[key] for key in parts if key in document}
    flat = _flat(chosen)
    cells = {key: cell_text(value) for key, value in flat.items() if not _is_grid(value) and value not in ("", None)}
    pairs = [(escape_controls(str(key)), cell) for key, cell in cells.items() if not any(cell in line for line in said)]
    if pairs:
        yield Pairs(pairs)
    grids = {key: value for key, value in flat.items() if _is_grid(value)}
    for key, value in grids.items():
        columns = (parts or {}).get(key) or all_keys(value)
        grid = rows_grid(Rows(columns, value), width)
        title = escape_controls(str(key)) if len(grids) > 1 else ""
        # Lists within a document are no rows that -o csv would print.
        yield replace(grid, title=title, can_be_csv=False) if isinstance(grid, Grid) else grid


def _flat(document: Document) -> dict[str, Any]:
    """Return a document with the documents in it opened up, one below the other."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, Mapping) and any(_is_grid(each) for each in value.values()):
            found.update(_flat(value))
        else:
            found[key] = value
    return found


def _is_grid(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)
