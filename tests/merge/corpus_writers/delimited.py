"""Delimited text: delimiters, quotes, line ends, encodings, titles, footers, rows off by one."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from typing import Any

import zstandard

from tests.merge.corpus_writers.case import Case

USUAL = {"comma": ",", "tab": "\t", "pipe": "|", "semicolon": ";"}
RARE = {"hive": "\x01", "unit": "\x1f", "caret": "^", "tilde": "~", "colon": ":"}
ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}

PEOPLE = ["id", "name", "city"]
PERSONS: list[list[Any]] = [[1, "Ann", "Graz"], [2, "Zoë", "Wien"], [3, "Bob", None], [4, "Đorđe", "Linz"]]
HARD: list[list[Any]] = [
    [1, "a,b;c|d\te", "plain"],
    [2, 'say "hi"', None],
    [3, "two\nlines", ""],
    [4, " spaced ", "007"],
]
LATIN: list[list[Any]] = [[1, "Zoë", "Köln"], [2, "François", "Málaga"], [3, "Åse", "Ærø"]]


def delimited_cases() -> Iterator[Case]:
    yield from _delimiters()
    yield from _encodings()
    yield from _compressions()
    yield from _long_delimiters()
    yield from _quotes()
    yield from _widths()
    for name, delimiter in USUAL.items():
        yield from _preambles(name, delimiter)
        yield from _footers(name, delimiter)
        yield from _off_by_one(name, delimiter)


def to_text(rows: Sequence[Sequence[Any]], delimiter: str = ",", end: str = "\n", quote: str = '"') -> str:
    """Write records by hand, and see with Python's csv that it reads them as they are meant."""
    text = end.join([delimiter.join(_field(cell, delimiter, quote) for cell in row) for row in rows]) + end
    if len(delimiter) == 1 and quote:
        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True))
        assert read == [["" if cell is None else str(cell) for cell in row] for row in rows], text
    return text


def _field(cell: Any, delimiter: str, quote: str) -> str:
    if cell is None:
        return ""
    text = str(cell)
    special = [delimiter, quote, "\n", "\r"]
    if quote and (text == "" or any(each in text for each in special)):
        return quote + text.replace(quote, quote * 2) + quote
    return text


def _delimiters() -> Iterator[Case]:
    for name, delimiter in {**USUAL, **RARE}.items():
        for end_name, end in ENDS.items():
            text = to_text([PEOPLE, *PERSONS], delimiter, end)
            why = f"The delimiter {delimiter!r} is found, with the line end {end!r}."
            yield Case(
                name=f"delimiters/{name}-{end_name}.csv", content=text.encode(), why=why, columns=PEOPLE, rows=PERSONS
            )
    for end_name, end in ENDS.items():
        rows: list[list[Any]] = [[1, "Ann", 10], [2, "Bob", 20], [3, "Cid", 30]]
        text = to_text([["id", "name", "n"], *rows], " ", end)
        why = "Single spaces cut every line into as many fields."
        yield Case(
            name=f"delimiters/space-{end_name}.csv",
            content=text.encode(),
            why=why,
            columns=["id", "name", "n"],
            rows=rows,
        )
    for name, delimiter in USUAL.items():
        for end_name, end in ENDS.items():
            text = to_text([PEOPLE, *HARD], delimiter, end)
            why = "Quoted fields hold delimiters, quotes and line ends; an empty quoted one is text, not null."
            file = f"quoted/{name}-{end_name}.csv"
            yield Case(name=file, content=text.encode(), why=why, columns=PEOPLE, rows=HARD)
        everything = _all_quoted([PEOPLE, *PERSONS], delimiter)
        why = "All fields are quoted, as databases export them: an empty quoted field is text."
        rows = [[number, person, city or ""] for number, person, city in PERSONS]
        yield Case(
            name=f"quoted/{name}-all.csv",
            content=everything.encode(),
            why=why,
            columns=PEOPLE,
            rows=rows,
        )
        text = to_text([PEOPLE, *PERSONS], delimiter)
        yield Case(
            name=f"delimiters/{name}-no-end.csv",
            content=text.rstrip("\n").encode(),
            why="The last line has no end.",
            columns=PEOPLE,
            rows=PERSONS,
        )
        yield Case(
            name=f"delimiters/{name}-bom.csv",
            content=b"\xef\xbb\xbf" + text.encode(),
            why="A byte order mark is no part of the first name.",
            columns=PEOPLE,
            rows=PERSONS,
        )
        yield Case(
            name=f"delimiters/{name}-blank-lines.csv",
            content=("\n\n" + text.replace("\n2", "\n\n\n2") + "\n\n").encode(),
            why="Blank lines are no records.",
            columns=PEOPLE,
            rows=PERSONS,
        )


def _all_quoted(rows: Sequence[Sequence[Any]], delimiter: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _encodings() -> Iterator[Case]:
    text = to_text([PEOPLE, *LATIN])
    marked = {"utf-8-sig": "utf-8-sig", "utf-16": "utf-16", "utf-32": "utf-32"}
    for name, codec in marked.items():
        why = "A byte order mark says the encoding."
        yield Case(name=f"encodings/{name}.csv", content=text.encode(codec), why=why, columns=PEOPLE, rows=LATIN)
    big = {"utf-16-be": b"\xfe\xff", "utf-32-be": b"\x00\x00\xfe\xff"}
    for name, mark in big.items():
        content = mark + text.encode(name)
        why = "A byte order mark says that the large half comes first."
        yield Case(name=f"encodings/{name}.csv", content=content, why=why, columns=PEOPLE, rows=LATIN)
    for name in ("utf-16-le", "utf-16-be"):
        why = "NULs in every other byte are UTF-16 without a mark."
        file = f"encodings/{name}-no-mark.csv"
        yield Case(name=file, content=text.encode(name), why=why, columns=PEOPLE, rows=LATIN)
    yield Case(
        name="encodings/windows-1252.csv",
        content=text.encode("cp1252"),
        why="No byte tells Windows-1252 from other encodings: it is read as such, and told.",
        columns=PEOPLE,
        rows=LATIN,
        warnings=["windows-1252.csv: "],
    )
    given = {
        "latin-1": LATIN,
        "cp850": LATIN,
        "iso8859-15": [[1, "5 €", "Köln"], [2, "œuvre", "Málaga"]],
        "shift_jis": [[1, "表計算", "東京"], [2, "ソート", "大阪"], [3, "能力", "京都"]],
        "gbk": [[1, "张伟", "北京"], [2, "王芳", "上海"]],
        "big5": [[1, "許功蓋", "臺北"], [2, "林", "高雄"]],
        "euc-kr": [[1, "김", "서울"], [2, "이", "부산"]],
        "cp1251": [[1, "Анна", "Москва"], [2, "Борис", "Киев"]],
        "koi8-r": [[1, "Анна", "Москва"], [2, "Борис", "Киев"]],
        "cp1253": [[1, "Άννα", "Αθήνα"], [2, "Νίκος", "Πάτρα"]],
        "gb18030": [[1, "𠀀张", "北京"], [2, "王芳", "上海"]],
    }
    for codec, rows in given.items():
        for name, delimiter in (("csv", ","), ("psv", "|")):
            why = f"The user says that the text is {codec}: bytes that look like delimiters inside characters are none."
            content = to_text([PEOPLE, *rows], delimiter).encode(codec)
            options = {"encoding": codec}
            file = f"encodings/given-{codec}.{name}"
            yield Case(name=file, content=content, why=why, columns=PEOPLE, rows=rows, options=options)


def _compressions() -> Iterator[Case]:
    text = to_text([PEOPLE, *PERSONS])
    squeeze = {
        "gz": lambda content: gzip.compress(content, mtime=0),
        "bz2": bz2.compress,
        "zst": zstandard.ZstdCompressor().compress,
    }
    for name, compress in squeeze.items():
        why = f"Compressed by {name}; its content is what counts."
        for ending, delimiter in (("csv", ","), ("tsv", "\t"), ("txt", ";")):
            content = compress(to_text([PEOPLE, *PERSONS], delimiter).encode())
            file = f"compressed/people.{ending}.{name}"
            yield Case(name=file, content=content, why=why, columns=PEOPLE, rows=PERSONS)
        yield Case(
            name=f"compressed/named-otherwise-{name}.csv",
            content=compress(text.encode()),
            why="The first bytes say that it is compressed, the name does not.",
            columns=PEOPLE,
            rows=PERSONS,
        )
        file = f"compressed/cut.csv.{name}"
        why = "The compressed stream is cut off: what is missing cannot be known."
        yield Case(name=file, content=compress(text.encode())[:-9], why=why, error=[f"cut.csv.{name}"])


def _long_delimiters() -> Iterator[Case]:
    rows: list[list[Any]] = [[1, "a|b", None], [2, "c:d", "x"], [3, "e\tf", "y"]]
    for number, delimiter in enumerate(["||", "|~|", "::", "<>", "#|#", "&&&", "\t|\t", "~^~"]):
        for quote in ("none", '"', "'"):
            sign = "" if quote == "none" else quote
            text = to_text([PEOPLE, *rows], delimiter, quote=sign)
            kind = {"none": "plain", '"': "double", "'": "single"}[quote]
            yield Case(
                name=f"long-delimiters/{number}-{kind}.csv",
                content=text.encode(),
                why=f"The delimiter {delimiter!r} is given; its single characters are text.",
                options={"delimiter": delimiter, "csv": {"quote": quote}},
                columns=PEOPLE,
                rows=rows,
            )
    yield Case(
        name="long-delimiters/found-pipes.csv",
        content=to_text([PEOPLE, *rows], "||").encode(),
        why="A doubled pipe is one delimiter, and found.",
        warnings=['found-pipes.csv: its delimiter is "||"'],
        columns=PEOPLE,
        rows=rows,
    )


def _quotes() -> Iterator[Case]:
    texts: list[list[Any]] = [[1, "a,b\tc|d;e", "it's"], [2, "x", "y"], [3, "say 'so', she said", "z"]]
    escaped: list[list[Any]] = [[1, 'say "hi", you', "a"], [2, "b", "c"], [3, 'the "end"', "d"]]
    plain: list[list[Any]] = [[1, '"Heroes" by Bowie', "1977"], [2, '5" pipe', "x"], [3, '"open', "y"], [4, "z", '"']]
    for name, delimiter in USUAL.items():
        single = to_text([PEOPLE, *texts], delimiter, quote="'").replace("\n2", "\n'2'")
        yield Case(
            name=f"quotes/single-given-{name}.csv",
            content=single.encode(),
            why="The user says that ' is the quote.",
            options={"csv": {"quote": "'"}},
            columns=PEOPLE,
            rows=texts,
        )
        found = delimiter.join(f"'{each}'" for each in PEOPLE) + "\n" + single.partition("\n")[2]
        yield Case(
            name=f"quotes/single-found-{name}.csv",
            content=found.encode(),
            why="Names in single quotes, and delimiters inside of them, show that ' is the quote.",
            warnings=["its quotes are '"],
            columns=PEOPLE,
            rows=texts,
        )
        backslash = "\n".join(
            delimiter.join(f'"{cell}"'.replace('"', '\\"')[1:-2] + '"' for cell in map(str, row)) for row in escaped
        )
        content = delimiter.join(PEOPLE) + "\n" + backslash + "\n"
        for how, options in (("given", {"csv": {"escape": "\\"}}), ("found", {})):
            yield Case(
                name=f"quotes/escape-{how}-{name}.csv",
                content=content.encode(),
                why="A backslash stands before quotes that are text.",
                warnings=[] if options else ["a backslash stands before quotes"],
                options=options,
                columns=PEOPLE,
                rows=escaped,
            )
        off = to_text([PEOPLE, *plain], delimiter, quote="")
        for how, options in (("given", {"csv": {"quote": "none"}}), ("found", {})):
            yield Case(
                name=f"quotes/off-{how}-{name}.csv",
                content=off.encode(),
                why="Quotes are plain characters, as in the TSV of ClickHouse and Wikipedia.",
                warnings=[] if options else ["its quotes are plain characters"],
                options=options,
                columns=PEOPLE,
                rows=plain,
            )
    yield Case(
        name="quotes/escape-at-the-end.csv",
        content=b"id,t\n1,a\n2,b\\",
        why="An escape that is the last character of a file escapes nothing: it is text.",
        options={"csv": {"escape": "\\"}},
        columns=["id", "t"],
        rows=[[1, "a"], [2, "b\\"]],
    )
    for name, delimiter in (("comma", ","), ("semicolon", ";"), ("pipe", "|")):
        spaced = "\n".join(f"{delimiter} ".join(map(str, row)) for row in [PEOPLE, [1, "Ann", "Graz"], [2, "Bo", "W"]])
        yield Case(
            name=f"quotes/space-behind-{name}.csv",
            content=f"{spaced}\n".encode(),
            why="A space behind every delimiter is no part of the values.",
            warnings=["spaces behind its delimiters"],
            columns=PEOPLE,
            rows=[[1, "Ann", "Graz"], [2, "Bo", "W"]],
        )


def _widths() -> Iterator[Case]:
    rows: list[list[Any]] = [[1, "Ann", "Graz"], [22, "Bobby", None], [333, "C D", "Wien"]]
    for widths in ((4, 6, 5), (3, 5, 4), (10, 10, 10)):
        lines = [
            "".join(f"{'' if cell is None else cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            for row in [PEOPLE, *rows]
        ]
        for end_name, end in (("lf", "\n"), ("crlf", "\r\n")):
            yield Case(
                name=f"widths/{'-'.join(map(str, widths))}-{end_name}.txt",
                content=(end.join(lines) + end).encode(),
                why="Fields of fixed width, cut by the widths that are given; a field of spaces is null.",
                options={"csv": {"widths": list(widths)}},
                columns=PEOPLE,
                rows=rows,
            )


def _preambles(name: str, delimiter: str) -> Iterator[Case]:
    text = to_text([PEOPLE, *PERSONS], delimiter)
    padded = f"Members{delimiter * 2}\n{delimiter * 2}\n"
    before = {
        "title": ("Members of 2024\n", "Members of 2024"),
        "title-and-blank": ("Members of 2024\n\n", "Members of 2024"),
        "three-titles": ("Members\nof 2024\nprinted by the office\n", "Members"),
        "blank-before": ("\n\nMembers of 2024\n\n", "Members of 2024"),
        "comments": ("# made by hand\n# in May\n", "# made by hand"),
        "slashes": ("// made by hand\n", "// made by hand"),
        "percent": ("% made by hand\n", "% made by hand"),
        "padded": (padded, f"Members{delimiter * 2}"),
    }
    for kind, (titles, shown) in before.items():
        yield Case(
            name=f"titles/{kind}-{name}.csv",
            content=(titles + text).encode(),
            why="Lines before the header are no records: they are skipped, and told.",
            warnings=[f'and skipped: "{shown}"'],
            columns=PEOPLE,
            rows=PERSONS,
        )
    yield Case(
        name=f"titles/excel-{name}.csv",
        content=(f"sep={delimiter}\n" + text).encode(),
        why="Excel's first line says the delimiter.",
        warnings=["its first line says"],
        columns=PEOPLE,
        rows=PERSONS,
    )
    yield Case(
        name=f"titles/given-{name}.csv",
        content=(f"any{delimiter}thing\nat all\n" + text).encode(),
        why="The user says how many lines to skip.",
        options={"csv": {"skip_rows": 2}},
        columns=PEOPLE,
        rows=PERSONS,
    )
    yield Case(
        name=f"titles/given-blank-{name}.csv",
        content=("\n\n" + text).encode(),
        why="Blank lines count among those that the user says to skip.",
        options={"csv": {"skip_rows": 2}},
        columns=PEOPLE,
        rows=PERSONS,
    )
    yield Case(
        name=f"titles/excel-behind-blank-{name}.csv",
        content=(f"\n\nsep={delimiter}\n" + text).encode(),
        why="Blank lines before Excel's first line change nothing.",
        warnings=["its first line says"],
        columns=PEOPLE,
        rows=PERSONS,
    )
    commented = text.replace("\n2", "\n# a note, with; signs|\n2") + "# the end\n"
    yield Case(
        name=f"titles/comments-between-{name}.csv",
        content=commented.encode(),
        why="The user says what comments begin with; they may stand anywhere.",
        options={"csv": {"comment": "#"}},
        columns=PEOPLE,
        rows=PERSONS,
    )


def _footers(name: str, delimiter: str) -> Iterator[Case]:
    text = to_text([PEOPLE, *PERSONS], delimiter)
    yield Case(
        name=f"footers/total-{name}.csv",
        content=(text + "4 records\n").encode(),
        why="A line with fewer fields at the end is no record: it is set aside, and told.",
        warnings=["record 6 has 1 field instead of 3"],
        rejects=["4 records"],
        columns=PEOPLE,
        rows=PERSONS,
    )
    for lines in (1, 2):
        for end in ("\n", ""):
            footer = "\n".join([f"Total{delimiter}4", "(end of report)"][:lines]) + end
            yield Case(
                name=f"footers/given-{lines}-{name}{'' if end else '-no-end'}.csv",
                content=(text + footer).encode(),
                why="The user says how many lines stand behind the records.",
                options={"csv": {"skip_footer": lines}},
                columns=PEOPLE,
                rows=PERSONS,
            )


def _off_by_one(name: str, delimiter: str) -> Iterator[Case]:
    def joined(*rows: str) -> bytes:
        return ("\n".join(rows) + "\n").replace(",", delimiter).encode()

    whole = [[1, "p"], [2, "q"], [3, "r"]]
    yield Case(
        name=f"off-by-one/trailing-{name}.csv",
        content=joined("n,c", "1,p,", "2,q,", "3,r,"),
        why="All records end with a delimiter that the header does not have.",
        warnings=["end with a delimiter"],
        columns=["n", "c"],
        rows=whole,
    )
    yield Case(
        name=f"off-by-one/row-names-{name}.csv",
        content=joined("mpg,cyl", "Mazda,21,6", "Datsun,22,4", "Fiat,32,4"),
        why="R writes the names of rows without a name for their column.",
        warnings=["called col_0"],
        columns=["col_0", "mpg", "cyl"],
        rows=[["Mazda", 21, 6], ["Datsun", 22, 4], ["Fiat", 32, 4]],
    )
    yield Case(
        name=f"off-by-one/header-trailing-{name}.csv",
        content=joined("n,c,", "1,p", "2,q", "3,r"),
        why="The header alone ends with a delimiter.",
        warnings=["its header ends with a delimiter"],
        columns=["n", "c"],
        rows=whole,
    )
    yield Case(
        name=f"off-by-one/short-{name}.csv",
        content=joined("n,c,x", "1,p", "2,q", "3,r"),
        why="All records lack the last field.",
        warnings=['"x" is null'],
        columns=["n", "c", "x"],
        rows=[[*row, None] for row in whole],
    )
    mixed = joined("n,c", "1,a", "2", "3,b,z", "4,d", "5,e", "6,f")
    kept = [[1, "a"], [4, "d"], [5, "e"], [6, "f"]]
    yield Case(
        name=f"off-by-one/mixed-{name}.csv",
        content=mixed,
        why="Where records differ here and there, each that does is set aside.",
        warnings=["instead of 2"],
        rejects=["2", f"3{delimiter}b{delimiter}z"],
        columns=["n", "c"],
        rows=kept,
    )
    yield Case(
        name=f"off-by-one/padded-{name}.csv",
        content=mixed,
        why="ragged: pad fills up short records; long ones are set aside.",
        options={"csv": {"ragged": "pad"}},
        warnings=["instead of 2"],
        rejects=[f"3{delimiter}b{delimiter}z"],
        columns=["n", "c"],
        rows=[kept[0], [2, None], *kept[1:]],
    )
    yield Case(
        name=f"off-by-one/cut-{name}.csv",
        content=mixed,
        why="ragged: cut fills up short records and cuts long ones.",
        options={"csv": {"ragged": "cut"}},
        warnings=["1 record lost fields"],
        columns=["n", "c"],
        rows=[kept[0], [2, None], [3, "b"], *kept[1:]],
    )
    yield Case(
        name=f"off-by-one/refused-{name}.csv",
        content=mixed,
        why="ragged: refuse ends the job at the first record that differs.",
        options={"csv": {"ragged": "refuse"}},
        error=[f"refused-{name}.csv", "record 3", "1 field instead of 2"],
    )
