"""Draws the pictures of the guides as SVG: `python -m scripts.draw_pictures`. A test compares them.

A picture is boxes on a grid and arrows between them. The one of the engines is made from the roles and clients that are
there; the others say in boxes what the ten lines in docs/architecture.md say in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

from mason.clients.discovery import client_names, find_client
from mason.clients.engines.roles import roles

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

WIDTH, GAP_ACROSS, GAP_DOWN, MARGIN = 210, 60, 44, 24
TITLE, LINE, PADDING = 20, 17, 12
STROKES = {"step": "#4a6fa5", "data": "#3f8f5f", "side": "#b0792b", "role": "#7a5ca8"}
FILLS = {"step": "#eef3fa", "data": "#edf7f0", "side": "#fbf4e8", "role": "#f4effa"}


@dataclass(frozen=True, kw_only=True)
class Box:
    """A box at a place of the grid: what it is, and a few lines about it.

    Attributes:
        kind: `step` for what happens, `data` for what lies somewhere, `side` for what does not always happen.
    """

    at: tuple[float, float]
    title: str
    lines: Sequence[str] = ()
    kind: str = "step"

    @property
    def height(self) -> int:
        return PADDING * 2 + TITLE + LINE * len(self.lines)


@dataclass(frozen=True)
class Arrow:
    """From one box to another, with a word on it; one that goes back is dashed and leaves room below the boxes."""

    start: str
    end: str
    word: str = ""
    is_back: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Boxes by their names, and the arrows between them."""

    title: str
    boxes: Mapping[str, Box]
    arrows: Sequence[Arrow] = field(default_factory=list)

    def to_svg(self) -> str:
        """Return the picture as an SVG document that needs no font, style or script of anybody else."""
        tops = self._find_tops()
        bottom = max(tops[box.at[1]] + box.height for box in self.boxes.values())
        width = int(max(_left(box) + WIDTH for box in self.boxes.values()) + MARGIN)
        height = bottom + MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            ' font-family="Helvetica, Arial, sans-serif" font-size="13">',
            f"<title>{escape(self.title)}</title>",
            '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto">'
            '<path d="M0,0 L9,4.5 L0,9 z" fill="#555"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<text x="{MARGIN}" y="{MARGIN + 6}" font-size="16" font-weight="bold" fill="#222">',
            f"{escape(self.title)}</text>",
            *(_draw_arrow(self.boxes[each.start], self.boxes[each.end], each, tops, bottom) for each in self.arrows),
            *(_draw_box(box, tops[box.at[1]]) for box in self.boxes.values()),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _find_tops(self) -> Mapping[float, int]:
        """Return where each row begins: below the highest box of the row above it."""
        tops: dict[float, int] = {}
        y = MARGIN + 30
        for row in sorted({box.at[1] for box in self.boxes.values()}):
            tops[row] = y
            y += max(box.height for box in self.boxes.values() if box.at[1] == row) + GAP_DOWN
        return tops


def _left(box: Box) -> float:
    return MARGIN + box.at[0] * (WIDTH + GAP_ACROSS)


def _draw_box(box: Box, top: int) -> str:
    x, middle = _left(box), _left(box) + WIDTH / 2
    texts = [
        f'<rect x="{x:g}" y="{top}" width="{WIDTH}" height="{box.height}" rx="6" fill="{FILLS[box.kind]}"'
        f' stroke="{STROKES[box.kind]}" stroke-width="1.4"/>',
        f'<text x="{middle:g}" y="{top + PADDING + 13}" text-anchor="middle" font-weight="bold" fill="#222">'
        f"{escape(box.title)}</text>",
    ]
    for number, line in enumerate(box.lines, 1):
        y = top + PADDING + 13 + LINE * number + 2
        texts.append(f'<text x="{middle:g}" y="{y}" text-anchor="middle" fill="#444">{escape(line)}</text>')
    return "\n".join(texts)


def _draw_arrow(start: Box, end: Box, arrow: Arrow, tops: Mapping[float, int], bottom: int) -> str:
    if arrow.is_back:
        path, x, y = _bend_below(start, end, tops, bottom)
    elif start.at[1] == end.at[1]:
        path, x, y = _go_across(start, end, tops)
    else:
        path, x, y = _go_down(start, end, tops)
    dashes = ' stroke-dasharray="5 4"' if arrow.is_back else ""
    line = f'<path d="{path}" fill="none" stroke="#555" stroke-width="1.4"{dashes} marker-end="url(#tip)"/>'
    if not arrow.word:
        return line
    return (
        f'{line}\n<text x="{x:g}" y="{y:g}" text-anchor="middle" font-size="12" fill="#555">{escape(arrow.word)}</text>'
    )


def _go_across(start: Box, end: Box, tops: Mapping[float, int]) -> tuple[str, float, float]:
    y = tops[start.at[1]] + min(start.height, end.height) / 2
    forward = end.at[0] > start.at[0]
    here = _left(start) + (WIDTH if forward else 0)
    there = _left(end) + (0 if forward else WIDTH)
    return f"M{here:g},{y:g} L{there:g},{y:g}", (here + there) / 2, y - 6


def _go_down(start: Box, end: Box, tops: Mapping[float, int]) -> tuple[str, float, float]:
    here, there = _left(start) + WIDTH / 2, _left(end) + WIDTH / 2
    if end.at[1] > start.at[1]:
        first, last = tops[start.at[1]] + start.height, tops[end.at[1]]
    else:
        first, last = tops[start.at[1]], tops[end.at[1]] + end.height
    if here == there:
        return f"M{here:g},{first:g} L{there:g},{last:g}", there + 44, (first + last) / 2 + 4
    if end.at[1] < start.at[1]:  # by the side, so that it meets none that comes from above
        y = tops[start.at[1]] + start.height / 2
        return f"M{_left(start) + WIDTH:g},{y:g} L{there:g},{y:g} L{there:g},{last:g}", there, y + 16
    half = last - GAP_DOWN / 2
    path = f"M{here:g},{first:g} L{here:g},{half:g} L{there:g},{half:g} L{there:g},{last:g}"
    return path, (here + there) / 2, half - 6


def _bend_below(start: Box, end: Box, tops: Mapping[float, int], bottom: int) -> tuple[str, float, float]:
    here, there = _left(start) + WIDTH / 4, _left(end) + WIDTH / 2
    first, last, y = tops[start.at[1]] + start.height, tops[end.at[1]] + end.height, bottom - 14
    return f"M{here:g},{first:g} L{here:g},{y:g} L{there:g},{y:g} L{there:g},{last:g}", (here + there) / 2, y - 6


def picture_of_engines() -> Picture:
    """Return who fills which role, from the folders of the clients."""
    names = list(roles())
    middle = (len(names) - 1) / 2
    clients = [client for name in client_names() if (client := find_client(name))]
    boxes = {
        "operator": Box(at=(middle, 0), title="operator", lines=["for whom do what:", "it names no technology"]),
        "configuration": Box(
            at=(middle, 1), title="configuration", lines=["which client fills which role"], kind="data"
        ),
    }
    for column, name in enumerate(names):
        filling = [client.name for client in clients if name in client.roles]
        boxes[name] = Box(at=(column, 2), title=f"{name} engine", lines=filling, kind="role")
    arrows = [Arrow("operator", "configuration"), *(Arrow("configuration", name) for name in names)]
    return Picture(
        title="An operator, a configuration, and the clients that fill its roles", boxes=boxes, arrows=arrows
    )


def picture_of_merge() -> Picture:
    """Return the way of a merge."""
    boxes = {
        "files": Box(at=(0, 0), title="files", lines=["any format, any folder,", "on any storage"], kind="data"),
        "plan": Box(at=(1, 0), title="plan", lines=["list, look at a sample,", "one type for each column"]),
        "tasks": Box(at=(2, 0), title="tasks", lines=["read a split, fit it", "to the schema, count"]),
        "sums": Box(at=(3, 0), title="sums", lines=["records in =", "rows out + quarantined"]),
        "table": Box(at=(4, 0), title="table", lines=["old version or new one,", "by one commit"], kind="data"),
        "quarantine": Box(at=(3, 1), title="quarantine", lines=["records that do not fit"], kind="side"),
    }
    arrows = [
        Arrow("files", "plan"),
        Arrow("plan", "tasks", "splits"),
        Arrow("tasks", "sums", "counts"),
        Arrow("tasks", "quarantine"),
        Arrow("sums", "table", "commit"),
        Arrow("tasks", "plan", "a type is too narrow: again", is_back=True),
    ]
    return Picture(title="table merge: every record is accounted for", boxes=boxes, arrows=arrows)


def picture_of_query() -> Picture:
    """Return the way of a query."""
    boxes = {
        "sql": Box(at=(0, 0), title="statement", lines=["Spark SQL,", "parameters by name"], kind="data"),
        "check": Box(at=(1, 0), title="check", lines=["allow-lists of what may", "be in a query"]),
        "plan": Box(at=(2, 0), title="plan", lines=["tables of the metastore,", "by their newest commits"]),
        "spark": Box(at=(3, 0), title="Spark or Athena", lines=["the text, written from", "the checked tree"]),
        "local": Box(at=(3, 1), title="DuckDB, on local", lines=["a translation with the", "same rows, or a refusal"]),
        "rows": Box(at=(4, 0), title="rows", lines=["in the response, or", "committed as a table"], kind="data"),
    }
    arrows = [
        Arrow("sql", "check"),
        Arrow("check", "plan"),
        Arrow("plan", "spark"),
        Arrow("plan", "local"),
        Arrow("spark", "rows"),
        Arrow("local", "rows"),
    ]
    return Picture(title="table query: one statement, the same answer on every engine", boxes=boxes, arrows=arrows)


def picture_of_dedupe() -> Picture:
    """Return the way of a dedupe."""
    boxes = {
        "table": Box(
            at=(0, 0), title="table or files", lines=["every row has a place:", "file and number"], kind="data"
        ),
        "find": Box(at=(1, 0), title="find", lines=["tasks read only keys,", "order and places"]),
        "order": Box(
            at=(1, 1), title="total order", lines=["order_by, nulls last,", "then file, then row"], kind="side"
        ),
        "gone": Box(at=(2, 0), title="rows that go", lines=["as file and number"]),
        "write": Box(at=(3, 0), title="write", lines=["tasks copy the rows", "that stay, and count"]),
        "result": Box(at=(4, 0), title="table", lines=["one row of each key,", "by one commit"], kind="data"),
        "duplicates": Box(
            at=(4, 1), title="duplicates", lines=["a table of their own,", "if it is asked for"], kind="side"
        ),
    }
    arrows = [
        Arrow("table", "find"),
        Arrow("order", "find"),
        Arrow("find", "gone"),
        Arrow("gone", "write"),
        Arrow("write", "result", "sums"),
        Arrow("write", "duplicates"),
    ]
    return Picture(title="table dedupe: which row stays is never left to chance", boxes=boxes, arrows=arrows)


def picture_of_summarize() -> Picture:
    """Return the way of a summary."""
    boxes = {
        "table": Box(at=(0, 0), title="table or files", lines=["read once"], kind="data"),
        "tasks": Box(at=(1, 0), title="tasks", lines=["keep no row,", "a sketch per column"]),
        "sketches": Box(
            at=(2, 0),
            title="sketches",
            lines=["moments", "distinct: bottom-k", "quantiles: KLL", "frequent: Misra-Gries"],
            kind="data",
        ),
        "merge": Box(at=(3, 0), title="driver", lines=["merges them,", "in any order"]),
        "json": Box(at=(4, 0), title="summary", lines=["JSON, a picture,", "a page, a table"], kind="data"),
    }
    names = list(boxes)
    arrows = [Arrow(start, end) for start, end in pairwise(names)]
    return Picture(title="table summarize: one pass, however large the table", boxes=boxes, arrows=arrows)


def draw_pictures() -> Mapping[str, str]:
    """Return every picture by the name of its file."""
    pictures = {
        "engines": picture_of_engines(),
        "merge": picture_of_merge(),
        "query": picture_of_query(),
        "dedupe": picture_of_dedupe(),
        "summarize": picture_of_summarize(),
    }
    return {f"{name}.svg": picture.to_svg() for name, picture in pictures.items()}


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, text in draw_pictures().items():
        (PICTURES / name).write_text(text, encoding="utf-8")
