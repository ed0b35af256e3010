"""Delimited text whose beginning tempts a reader to guess: headers that come again, titles in fields, tables of R."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.merge.corpus_writers.case import Case

DELIMITERS: Mapping[str, str] = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


def head_cases() -> Iterator[Case]:
    for name, delimiter in DELIMITERS.items():
        yield from _of_delimiter(name, delimiter)
    yield from _of_r()
    yield from _in_doubt()


def _of_delimiter(name: str, delimiter: str) -> Iterator[Case]:
    def case(file: str, text: str, **expected: object) -> Case:
        raw = {**expected, "rejects": [each.replace("^", delimiter) for each in expected.get("rejects", ())]}  # type: ignore[attr-defined]
        return Case(name=f"heads/{file}-{name}.csv", content=text.replace("^", delimiter).encode(), **raw)  # type: ignore[arg-type]

    yield case(
        "repeated",
        "id^name\n1^a\nid^name\n2^b\nid^name\n3^c\n4^d\n",
        why="Files that were put one behind the other: each brought its header.",
        columns=["id", "name"],
        rows=[[1, "a"], [2, "b"], [3, "c"], [4, "d"]],
        rejects=["id^name", "id^name"],
        warnings=["its header stands again as record 3"],
    )
    yield case(
        "pivot",
        "shop^2026-01-01^2026-01-02\nnorth^5^6\nsouth^7^8\n",
        why="Dates above numbers are names.",
        columns=["shop", "2026-01-01", "2026-01-02"],
        rows=[["north", 5, 6], ["south", 7, 8]],
    )
    yield case(
        "hardly-any",
        "Ann^^\nBob^3^x\nCid^4^y\n",
        why="A first record of which most cells are empty names nothing.",
        columns=["col_0", "col_1", "col_2"],
        rows=[["Ann", None, None], ["Bob", 3, "x"], ["Cid", 4, "y"]],
        warnings=["was taken for data, and could be the header"],
    )
    yield case(
        "keys-and-values",
        "Report^Sales\nDate^2026-01-01\n\nid^name\n1^saw\n2^axe\n3^nail\n",
        why="Words and their values stand before a blank line and the table.",
        columns=["id", "name"],
        rows=[[1, "saw"], [2, "axe"], [3, "nail"]],
        warnings=["its first 3 lines are not a record of 2 fields"],
    )
    yield case(
        "account",
        '"Account"^"12"^""\n"From"^"1.1."^""\n"To"^"31.1."^""\n"Balance"^"5"^""\n\nday^kind^payee^sum\n1^a^b^5\n2^c^d^6\n',
        why="More lines about the account than there are bookings.",
        columns=["day", "kind", "payee", "sum"],
        rows=[[1, "a", "b", 5], [2, "c", "d", 6]],
        warnings=["its first 5 lines are not a record of 4 fields"],
    )
    yield case(
        "title-of-two",
        "Members\nname^city\nAnn^Rome\nBob^Ulm\n",
        why="A title above a table of two columns of text.",
        columns=["name", "city"],
        rows=[["Ann", "Rome"], ["Bob", "Ulm"]],
        warnings=["its first line is not a record of 2 fields"],
    )
    yield case(
        "title-of-three",
        "Members^2026\nname^city^note\nAnn^Rome^x\nBob^Ulm^y\n",
        why="A title with a year, one field less than the table has.",
        columns=["name", "city", "note"],
        rows=[["Ann", "Rome", "x"], ["Bob", "Ulm", "y"]],
        warnings=["its first line is not a record of 3 fields"],
    )
    yield case(
        "comment-and-blank",
        "# made by x\n\nid^v\n1^2\n# between\n3^4\n",
        why="A blank line behind comments is no header.",
        options={"csv": {"comment": "#"}},
        columns=["id", "v"],
        rows=[[1, 2], [3, 4]],
    )
    yield case(
        "surplus-but-one",
        "n^c\n1^a^\n2^b^\nTotal\n3^c^\n4^d^\n",
        why="All records but a broken one end with a delimiter.",
        columns=["n", "c"],
        rows=[[1, "a"], [2, "b"], [3, "c"], [4, "d"]],
        rejects=["Total"],
        warnings=["its records end with a delimiter", "instead of 2"],
    )


def _of_r() -> Iterator[Case]:
    yield Case(
        name="heads/write-table.txt",
        content=b'"a" "b"\n"1" 1 "x y"\n"2" 2 "z"\n',
        why="write.table of R: spaces, and a header without a name for the names of rows.",
        columns=["col_0", "a", "b"],
        rows=[[1, 1, "x y"], [2, 2, "z"]],
        warnings=["called col_0"],
    )
    yield Case(
        name="heads/write-table-without-quotes.txt",
        content=b"a b\nr1 1 x\nr2 2 z\n",
        why="write.table of R with quote = FALSE.",
        columns=["col_0", "a", "b"],
        rows=[["r1", 1, "x"], ["r2", 2, "z"]],
        warnings=["called col_0"],
    )


def _in_doubt() -> Iterator[Case]:
    yield Case(
        name="heads/codes-in-another-case.csv",
        content=b"Ann,DE\nBob,FR\nCid,IT\n",
        why="Cells that are written in several ways, each like those below it, are rather values.",
        columns=["col_0", "col_1"],
        rows=[["Ann", "DE"], ["Bob", "FR"], ["Cid", "IT"]],
        warnings=['its first line, "Ann,DE", was taken for data'],
    )
    yield Case(
        name="heads/words-above-words.csv",
        content=b"Planet,Moon\nMars,Phobos\nEarth,Luna\n",
        why="Words above words: a header, because most files have one, and that is told.",
        columns=["Planet", "Moon"],
        rows=[["Mars", "Phobos"], ["Earth", "Luna"]],
        warnings=['its first line, "Planet,Moon", was taken for the header'],
    )
    yield Case(
        name="heads/words-in-another-case.csv",
        content=b"planet,moon\nMars,Phobos\nEarth,Luna\n",
        why="Names in another case than what stands below them.",
        columns=["planet", "moon"],
        rows=[["Mars", "Phobos"], ["Earth", "Luna"]],
    )
    yield Case(
        name="heads/excel-with-a-space.csv",
        content=b"sep=; \nid;v\n1;2\n3;4\n",
        why="The line of Excel ends with a space.",
        columns=["id", "v"],
        rows=[[1, 2], [3, 4]],
        warnings=['its first line says "sep=;"'],
    )
