"""Delimited text that tempts a reader to guess: headers, stray quotes, and values that look like others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tests.merge.corpus_writers.case import Case

VALUES: Mapping[str, Sequence[str]] = {
    "decimal-comma": ["1,5", "22,75", "-3,0"],
    "german-thousands": ["1.200,00", "12.345,67", "0,99"],
    "english-thousands": ["1,200.00", "12,345.67", "0.99"],
    "swiss-thousands": ["1'200.00", "12'345.67", "0.99"],
    "dollars": ["$1.50", "$20.00", "-$3.25"],
    "euros": ["1,50 €", "20,00 €", "3,25 €"],
    "percent": ["12%", "7.5%", "100%"],
    "times-of-day": ["09:30", "17:45:10", "00:00"],
    "german-dates": ["31.01.2024", "01.02.2024", "29.02.2024"],
    "american-dates": ["1/31/2024", "12/1/2023", "2/29/2024"],
    "months-by-name": ["31-Jan-2024", "01-Feb-2024", "29-Feb-2024"],
    "leading-zeros": ["007", "00501", "010"],
    "plus-signs": ["+5", "+43 1 234", "+0"],
    "exponents": ["1e5", "2E-3", "1e400"],
    "beyond-double": ["1e400", "-1e400", "1e-400"],
    "hexadecimal": ["0xFF", "0x10", "0x0"],
    "underscores": ["1_000", "2_000", "3_0"],
    "not-a-number": ["NaN", "inf", "-inf"],
    "null-words": ["NULL", "NA", "n/a"],
    "dashes": ["-", "--", "—"],
    "yes-and-no": ["yes", "no", "Y"],
    "parentheses": ["(1,200)", "(3)", "(0.5)"],
    "points-at-the-edge": [".5", "5.", "-.5"],
    "minus-zero": ["-0", "0", "-0.0"],
    "spaces-around": [" 5", "6 ", " 7 "],
    "dates-that-are-none": ["2024-02-30", "2023-02-29", "0000-00-00"],
    "nanoseconds": ["2024-01-01 00:00:00.123456789", "2024-01-01 00:00:00.000000001", "2024-01-01 00:00:01"],
    "versions": ["1.2.3", "1.10.0", "2.0.0"],
    "addresses": ["10.0.0.1", "192.168.1.1", "::1"],
    "hive-null": ["__HIVE_DEFAULT_PARTITION__", "\\N", "x"],
    "formulas": ["=1+1", "@SUM(A1)", "=cmd|' /C calc'!A0"],
    "markup": ["<b>x</b>", "{a}", "[1, 2]"],
    "forty-digits": ["1" * 40, "2" * 41, "3" * 40],
    "no-break-spaces": ["1\u00a0200", "2\u00a0300", "x\u00a0"],
    "combining-signs": ["e\u0301", "é", "\u200bx"],
    "emoji": ["😀", "👩‍🚀", "🇦🇹"],
    "right-to-left": ["שלום", "مرحبا", "\u202eabc"],
    "line-separators": ["a\u2028b", "c\u0085d", "e\u000bf"],
    "tabs": ["a\tb", "\tc", "d\t"],
    "iso-weeks": ["2024-W05", "2024-W06", "2024-W07"],
    "durations": ["PT5M", "1:02:03", "2 days"],
}
"""Text that is no plain number, date or boolean: it comes back as it is written."""

TYPED: Mapping[str, tuple[Sequence[str], Sequence[Any]]] = {
    "integers": (["1", "-20", "300"], [1, -20, 300]),
    "largest-integer": (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
    "beyond-64-bits": (["9223372036854775808", "1"], [Decimal(2**63), Decimal(1)]),
    "money": (["1.50", "20.00", "-3.25"], [Decimal("1.50"), Decimal("20.00"), Decimal("-3.25")]),
    "exact-digits": (["12345678901234567.89", "0.01"], [Decimal("12345678901234567.89"), Decimal("0.01")]),
    "booleans": (["true", "false", "true"], [True, False, True]),
    "dates": (["2024-02-29", "9999-12-31", "0001-01-01"], [date(2024, 2, 29), date(9999, 12, 31), date(1, 1, 1)]),
    "times": (
        ["2024-02-29 10:00:00", "1600-01-01 00:00:01.5"],
        [datetime(2024, 2, 29, 10), datetime(1600, 1, 1, 0, 0, 1, 500_000)],
    ),
}

HEADERS: Mapping[str, tuple[str, Sequence[str], Sequence[Sequence[Any]]]] = {
    "years": (
        "country,2023,2024\nAustria,1,2\nItaly,3,4\n",
        ["country", "2023", "2024"],
        [["Austria", 1, 2], ["Italy", 3, 4]],
    ),
    "year-above-nothing": (
        "country,2023,2024\nAustria,1,\nItaly,3,\n",
        ["country", "2023", "2024"],
        [["Austria", 1, None], ["Italy", 3, None]],
    ),
    "bank-without": (
        "01.02.2024;Miete;-1.200,00\n02.02.2024;Gas;-20,00\n",
        ["col_0", "col_1", "col_2"],
        [["01.02.2024", "Miete", "-1.200,00"], ["02.02.2024", "Gas", "-20,00"]],
    ),
    "zip-codes-without": (
        "00501,Holtsville\n00544,Holtsville\n",
        ["col_0", "col_1"],
        [["00501", "Holtsville"], ["00544", "Holtsville"]],
    ),
    "pandas-index": (",name,city\n0,a,b\n1,c,d\n", ["col_0", "name", "city"], [[0, "a", "b"], [1, "c", "d"]]),
    "empty-name-at-the-end": (
        "name,city,\na,b,\nc,d,\n",
        ["name", "city", "col_2"],
        [["a", "b", None], ["c", "d", None]],
    ),
    "row-names-of-r": (
        '"","2-9","10-19","20+"\n"Daily",43,16,3\n"Never",6,18,10\n',
        ["col_0", "2-9", "10-19", "20+"],
        [["Daily", 43, 16, 3], ["Never", 6, 18, 10]],
    ),
    "numbers-of-r": (
        '"","0","1","2"\n"0",27,29,10\n"1",59,53,14\n',
        ["col_0", "0", "1", "2"],
        [[0, 27, 29, 10], [1, 59, 53, 14]],
    ),
    "numbers-of-pandas": (",0,1\n0,5,6\n1,7,8\n2,9,9\n", ["col_0", "0", "1"], [[0, 5, 6], [1, 7, 8], [2, 9, 9]]),
    "name-that-is-a-value": (
        '"","y","week","place"\n"1","y",0,"city"\n"2","n",2,"state"\n"3","y",4,"place"\n',
        ["col_0", "y", "week", "place"],
        [[1, "y", 0, "city"], [2, "n", 2, "state"], [3, "y", 4, "place"]],
    ),
    "gap-without": (",5,6\n1,7,8\n2,9,9\n", ["col_0", "col_1", "col_2"], [[None, 5, 6], [1, 7, 8], [2, 9, 9]]),
    "numbers-without": ("1,2,3\n4,5,6\n", ["col_0", "col_1", "col_2"], [[1, 2, 3], [4, 5, 6]]),
    "dates-without": (
        "2024-01-01,5\n2024-01-02,6\n",
        ["col_0", "col_1"],
        [[date(2024, 1, 1), 5], [date(2024, 1, 2), 6]],
    ),
    "codes-without": (
        "DE-001,open\nDE-002,shut\nDE-003,open\n",
        ["col_0", "col_1"],
        [["DE-001", "open"], ["DE-002", "shut"], ["DE-003", "open"]],
    ),
    "names-of-signs": ("id,%,#\n1,2,3\n4,5,6\n", ["id", "%", "#"], [[1, 2, 3], [4, 5, 6]]),
    "names-with-digits": ("q1,q2,q3\n1,2,3\n4,5,6\n", ["q1", "q2", "q3"], [[1, 2, 3], [4, 5, 6]]),
    "names-with-units": ("length (m),weight [kg]\n1,2\n3,4\n", ["length (m)", "weight [kg]"], [[1, 2], [3, 4]]),
    "names-with-spaces": (
        "first name,last name,age\nA,B,1\nC,D,2\n",
        ["first name", "last name", "age"],
        [["A", "B", 1], ["C", "D", 2]],
    ),
    "names-of-one-letter": ("x,y,z\n1,2,3\n4,5,6\n", ["x", "y", "z"], [[1, 2, 3], [4, 5, 6]]),
    "names-in-cyrillic": ("имя,возраст\nАнна,5\nБорис,6\n", ["имя", "возраст"], [["Анна", 5], ["Борис", 6]]),
    "names-in-chinese": ("名字,年龄\n张,5\n王,6\n", ["名字", "年龄"], [["张", 5], ["王", 6]]),
    "names-as-emoji": ("id,👍\n1,5\n2,6\n", ["id", "👍"], [[1, 5], [2, 6]]),
    "names-with-dots": ("a.b,c\"d,e'f\n1,2,3\n4,5,6\n", ["a.b", 'c"d', "e'f"], [[1, 2, 3], [4, 5, 6]]),
    "quoted-delimiter": ('"last, first",n\n"B, A",1\n"D, C",2\n', ["last, first", "n"], [["B, A", 1], ["D, C", 2]]),
    "text-below": ("name,city\nAnn,Graz\nBob,Wien\n", ["name", "city"], [["Ann", "Graz"], ["Bob", "Wien"]]),
    "header-alone": ("name,city\n", ["name", "city"], []),
    "one-column-of-numbers": ("n\n1\n2\n", ["n"], [[1], [2]]),
    "one-column-of-words": ("name\nAnn\nBob\n", ["name"], [["Ann"], ["Bob"]]),
    "booleans-below": ("name,is_open\nA,true\nB,false\n", ["name", "is_open"], [["A", True], ["B", False]]),
    "nulls-below": ("name,n\nA,\nB,5\n", ["name", "n"], [["A", None], ["B", 5]]),
    "comment-sign-first": ("#id,name\n1,a\n2,b\n", ["#id", "name"], [[1, "a"], [2, "b"]]),
    "mixed-types-without": (
        "Ann,5,2024-01-01\nBob,6,2024-01-02\n",
        ["col_0", "col_1", "col_2"],
        [["Ann", 5, date(2024, 1, 1)], ["Bob", 6, date(2024, 1, 2)]],
    ),
}


def wild_cases() -> Iterator[Case]:
    yield from _values()
    yield from _headers()
    yield from _stray_quotes()
    yield from _odd_files()


GIVEN: Mapping[str, tuple[str, Sequence[str], Sequence[Any], str]] = {
    "german-numbers": ("decimal(12,2) 'de'", ["1.200,50", "-0,99"], [Decimal("1200.50"), Decimal("-0.99")], "1200,50"),
    "euros": ("decimal(12,2) 'de €'", ["1.200,50 €", "3,00 €"], [Decimal("1200.50"), Decimal("3.00")], "3,00"),
    "dollars": ("decimal(12,2) '$en'", ["$1,200.50", "-$3.00"], [Decimal("1200.50"), Decimal("-3.00")], "$1200.50"),
    "plain-comma": ("decimal(12,2) '1234,56'", ["1200,50", "3,5"], [Decimal("1200.50"), Decimal("3.50")], "1.200,50"),
    "swiss": ("bigint 'ch'", ["1'200", "7"], [1200, 7], "1'20"),
    "percent": ("double 'en%'", ["12.5%", "7%"], [12.5, 7.0], "12.5"),
    "german-dates": ("date 'dd.MM.yyyy'", ["31.01.2024", "29.02.2024"], ["2024-01-31", "2024-02-29"], "30.02.2024"),
    "short-dates": ("date 'd.M.yyyy'", ["31.1.2024", "9.12.2023"], ["2024-01-31", "2023-12-09"], "09.12.2023"),
    "american-dates": ("date 'MM/dd/yyyy'", ["01/31/2024", "02/29/2024"], ["2024-01-31", "2024-02-29"], "31/01/2024"),
    "months": ("date 'dd-MMM-yyyy'", ["31-Jan-2024", "01-Dec-2023"], ["2024-01-31", "2023-12-01"], "31-Jän-2024"),
    "moments": (
        "timestamp 'dd.MM.yyyy HH:mm'",
        ["31.01.2024 08:15", "01.02.2024 23:59"],
        ["2024-01-31T08:15:00", "2024-02-01T23:59:00"],
        "31.01.2024 24:00",
    ),
    "times": ("time 'HH:mm'", ["08:15", "23:59"], ["08:15:00", "23:59:00"], "8:15"),
}


def _given_patterns() -> Iterator[Case]:
    for name, (declared, values, meant, bad) in GIVEN.items():
        for ending, delimiter in (("csv", ";"), ("tsv", "\t")):
            texts = [*values * 10, bad]
            lines = [f"{number}{delimiter}{text}" for number, text in enumerate(texts, 1)]
            yield Case(
                name=f"patterns/{name}.{ending}",
                content="\n".join([f"id{delimiter}value", *lines, ""]).encode(),
                why="A given pattern is applied exactly: the text comes back, or the record is set aside.",
                columns=["id", "value"],
                rows=[[number, value] for number, value in enumerate(list(meant) * 10, 1)],
                rejects=[lines[-1]],
                options={"schema": f"value {declared}"},
            )


HINTS = {
    "decimal-comma": "value decimal(18,2) 'de'",
    "german-thousands": "value decimal(18,2) 'de'",
    "english-thousands": "value decimal(18,2) 'en'",
    "swiss-thousands": "value decimal(18,2) 'ch'",
    "dollars": "value decimal(18,2) '$en'",
    "euros": "value decimal(18,2) 'de €'",
    "percent": "value decimal(18,1) 'en%'",
    "german-dates": "value date 'dd.MM.yyyy'",
    "american-dates": "value date 'M/d/yyyy'",
    "months-by-name": "value date 'dd-MMM-yyyy'",
}


def _warnings(name: str) -> list[str]:
    if name == "hive-null":
        return [r'column "value" has \N, as databases write null']
    return [f"a merge with this schema reads it so: {HINTS[name]}"] if name in HINTS else []


def _values() -> Iterator[Case]:
    for name, values in VALUES.items():
        why = "Text that is no plain number or date comes back as it is written."
        rows = [[number, value] for number, value in enumerate(values, 1)]
        for ending, delimiter in (("csv", ","), ("tsv", "\t")):
            cells = [f'"{value}"' if delimiter in value else value for value in values]
            lines = [f"{number}{delimiter}{cell}" for number, cell in enumerate(cells, 1)]
            content = "\n".join([f"id{delimiter}value", *lines, ""]).encode()
            yield Case(
                name=f"values/{name}.{ending}",
                content=content,
                why=why,
                columns=["id", "value"],
                rows=rows,
                warnings=_warnings(name),
            )
    yield from _given_patterns()
    for name, (values, meant) in TYPED.items():
        content = "\n".join(["id,value", *(f"{number},{each}" for number, each in enumerate(values, 1)), ""])
        rows = [[number, each] for number, each in enumerate(meant, 1)]
        why = "A type is chosen from which each value comes back exactly."
        yield Case(name=f"values/{name}.csv", content=content.encode(), why=why, columns=["id", "value"], rows=rows)
    yield Case(
        name="values/given-nulls.csv",
        content=b"id,v\n1,NA\n2,5\n3,-\n",
        why="The user says which words mean null.",
        options={"nulls": ["NA", "-"]},
        columns=["id", "v"],
        rows=[[1, None], [2, 5], [3, None]],
    )
    yield Case(
        name="values/beyond-a-given-double.csv",
        content=b"id,v\n1,1.5\n2,1e400\n3,2.5\n",
        why="A number beyond all doubles is no infinity: its record is set aside.",
        options={"schema": "v double"},
        rejects=["2,1e400"],
        columns=["id", "v"],
        rows=[[1, 1.5], [3, 2.5]],
    )
    yield Case(
        name="values/one-word-among-numbers.csv",
        content="\n".join(["id,v", *(f"{n},{n}" for n in range(1, 30)), "30,n/a", ""]).encode(),
        why="One word among numbers makes the column text, and is told.",
        warnings=['"n/a"'],
        columns=["id", "v"],
        rows=[*([n, str(n)] for n in range(1, 30)), [30, "n/a"]],
    )


def _headers() -> Iterator[Case]:
    codes = ["AT", "BE", "CH", "DE", "ES", "FR", "GB", "HU", "ID", "IT", "JP"]
    yield Case(
        name="headers/name-that-is-a-key.csv",
        content="\n".join(["Group,ID", *(f"some,{code}" for code in codes), ""]).encode(),
        why="ID is a name above a key, although it is a value once: each value of a key is there once.",
        columns=["Group", "ID"],
        rows=[["some", code] for code in codes],
    )
    for name, (text, columns, rows) in HEADERS.items():
        why = "Names are told from records, and no record is lost as a name."
        hints = ["col_0 date 'dd.MM.yyyy', col_2 decimal(18,2) 'de'"] if name == "bank-without" else []
        file, content = f"headers/{name}.csv", text.encode()
        yield Case(name=file, content=content, why=why, columns=columns, rows=rows, warnings=hints)
    for sign, line_end in {"line-end": "\n", "return": "\r", "both": "\r\n"}.items():
        yield Case(
            name=f"headers/quoted-{sign}.csv",
            content=f'"first{line_end}name",n\nA,1\nB,2\n'.encode(),
            why="A line end in a name is told: whichever it is, it becomes \\n.",
            warnings=["has a line end in its name"],
            columns=["first\nname", "n"],
            rows=[["A", 1], ["B", 2]],
        )
    for given in (True, False):
        yield Case(
            name=f"headers/given-{str(given).lower()}.csv",
            content=b"a,b\nc,d\n",
            why="The user says whether the first record names the columns.",
            options={"parse_headers": given},
            columns=["a", "b"] if given else ["col_0", "col_1"],
            rows=[["c", "d"]] if given else [["a", "b"], ["c", "d"]],
        )


def _stray_quotes() -> Iterator[Case]:
    def lines(count: int, changed: Mapping[int, str], quoted: bool = True) -> bytes:
        usual = '"a, b"' if quoted else "ab"
        return "\n".join(["id,t", *(changed.get(n, f"{n},{usual}") for n in range(1, count + 1)), ""]).encode()

    for name, changed in {
        "text-behind": {5: '5,"quoted" thing'},
        "two-texts-behind": {5: '5,"quoted" thing', 7: '7,"so" it is'},
        "swallows-lines": {5: '5,"5 inch', 12: '12,"6 inch'},
        "opens-at-the-end": {20: '20,"5 inch'},
        "opens-within": {6: '6,"5 inch'},
    }.items():
        rows = [[n, "a, b"] for n in range(1, 21) if n not in changed]
        yield Case(
            name=f"stray-quotes/{name}.csv",
            content=lines(20, changed),
            why="A quote that is none swallows no other record: its own is set aside.",
            rejects=list(changed.values()),
            warnings=[f"record {min(changed) + 1} cannot be read"],
            columns=["id", "t"],
            rows=rows,
        )
    for name, value in {"inch": '5" pipe', "within": 'a"b', "at-the-end": 'say "hi"'}.items():
        yield Case(
            name=f"stray-quotes/plain-{name}.csv",
            content=lines(8, {3: f"3,{value}"}, quoted=False),
            why="A quote inside a field that does not begin with one is text.",
            columns=["id", "t"],
            rows=[[n, value if n == 3 else "ab"] for n in range(1, 9)],
        )
    letter = "Dear all,\nplease note:\n- one, two\n\nYours, Ann"
    yield Case(
        name="stray-quotes/a-letter.csv",
        content=f'id,note\n1,"{letter}"\n2,x\n'.encode(),
        why="Text in several lines is one field.",
        columns=["id", "note"],
        rows=[[1, letter], [2, "x"]],
    )


def _odd_files() -> Iterator[Case]:
    yield Case(name="odd/empty.csv", content=b"", why="A file without a byte has no rows.", error=["empty"])
    yield Case(
        name="odd/nul-bytes.csv",
        content=b"id,text\n1,alpha\n2,b\x00c\n3,delta\n4,epsilon\n",
        why="A NUL byte is a character of its field, and told.",
        warnings=["nul-bytes.csv: it has NUL bytes"],
        columns=["id", "text"],
        rows=[[1, "alpha"], [2, "b\x00c"], [3, "delta"], [4, "epsilon"]],
    )
    yield Case(
        name="odd/not-utf-8.csv",
        content="id,t\n1,Zoë\n2,Åse\n3,é\n".encode() + b"4,\xff\n5,x\n",
        why="One record with bytes that are no UTF-8 is set aside, with those bytes.",
        rejects=["4,\udcff"],
        warnings=["not valid UTF-8 at byte 26 (0xff)"],
        columns=["id", "t"],
        rows=[[1, "Zoë"], [2, "Åse"], [3, "é"], [5, "x"]],
    )
    for names, rows in (("exact", None), ("number", [[1, 2], [3, 4]])):
        yield Case(
            name=f"odd/name-twice-{names}.csv",
            content=b"a,a\n1,2\n3,4\n",
            why="A name that is there twice is refused, or gets a number.",
            options={"names": names},
            error=[] if rows else ["name-twice-exact.csv", '"a"'],
            warnings=['more than one column "a"'] if rows else [],
            columns=["a", "a_2"],
            rows=rows or [],
        )
