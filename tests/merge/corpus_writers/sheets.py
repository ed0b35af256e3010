"""Workbooks of Excel, written by hand: a library's would be five times as large as a file here may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from tests.merge.corpus_writers.archived import zipped
from tests.merge.corpus_writers.case import Case

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_Rows = Sequence[Sequence[Any]]


class Error(str):
    """The error that a formula gave."""


def sheet_cases() -> Iterator[Case]:
    """Yield the files."""
    people: _Rows = [["id", "name", "ok"], [1, "Ann", True], [2, "007", False]]
    read: Mapping[str, tuple[Mapping[str, _Rows], str, Sequence[str]]] = {
        "plain": ({"A": people}, "A cell has a type of its own: 007 is text, and 1 an integer.", []),
        "gap": ({"A": [people[0], [], people[1], [], people[2]]}, "An empty row is no record.", []),
        "title": ({"A": [["People"], [], *people]}, "A title above the table is no record.", ["is a title"]),
        "two-alike": ({"A": people[:2], "B": [people[0], people[2]]}, "Sheets of the same columns are a table.", []),
        "two-others": ({"A": people, "B": [["x"], [1]]}, "A sheet of other columns is left out, and told.", ['"B"']),
    }
    for name, (sheets, why, said) in read.items():
        content, file = workbook(sheets), f"sheets/{name}.xlsx"
        yield Case(name=file, content=content, why=why, columns=people[0], rows=people[1:], warnings=said)
    yield Case(
        name="sheets/errors.xlsx",
        content=workbook({"A": [["id", "n"], [1, Error("#N/A")], [2, 5.5]]}),
        why="An error is no value: it is null, and told.",
        columns=["id", "n"],
        rows=[[1, None], [2, 5.5]],
        warnings=["a cell holds an error (#N/A; the first is B2)"],
    )
    yield Case(
        name="sheets/given.xlsx",
        content=workbook({"A": people, "B": [["x"], [1]]}),
        why="The user says which sheet is meant.",
        columns=["x"],
        rows=[[1]],
        options={"csv": {"sheet": "B"}, "parse_headers": True},
    )
    yield Case(
        name="sheets/cut-off.xlsx",
        content=workbook({"A": people})[:-20],
        why="Half a workbook is none.",
        error=["cut-off.xlsx: not a complete xlsx file"],
    )


def workbook(sheets: Mapping[str, _Rows]) -> bytes:
    """Return a workbook with these sheets."""
    names = list(sheets)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>' for number, name in enumerate(names, 1)
    )
    related = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/s{number}.xml"/>'
        for number in range(1, len(names) + 1)
    )
    book = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
    start = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    members = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}">{start}</Relationships>',
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{related}</Relationships>',
    }
    for number, name in enumerate(names, 1):
        rows = "".join(map(_row, range(1, len(sheets[name]) + 1), sheets[name]))
        sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        members[f"xl/worksheets/s{number}.xml"] = sheet
    return zipped(members)


def _row(number: int, cells: Sequence[Any]) -> str:
    found = "".join(_cell(f"{letter}{number}", cell) for letter, cell in zip("ABCDEF", cells, strict=False))
    return f'<row r="{number}">{found}</row>'


def _cell(place: str, value: Any) -> str:
    if isinstance(value, Error):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
