"""JSON, JSON lines and Msgpack: numbers, nesting, several ways to put records one after the other."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgpack

from tests.merge.corpus_writers.case import Case

PEOPLE = ["id", "name", "city"]
PERSONS = [[1, "Ann", "Graz"], [2, "Zoë", None], [3, 'say "hi"\n', ""]]
RECORDS = [dict(zip(PEOPLE, row, strict=True)) for row in PERSONS]

NUMBERS: Mapping[str, tuple[Sequence[str], Sequence[Any]]] = {
    "integers": (["1", "-20", "0"], [1, -20, 0]),
    "largest": (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
    "doubles": (["0.1", "1e10", "-2.5e-3"], [0.1, 1e10, -2.5e-3]),
    "beyond-64-bits": (["18446744073709551616", "1"], [Decimal(2**64), Decimal(1)]),
    "exact": (["12345678901234567.89", "0.01"], [Decimal("12345678901234567.89"), Decimal("0.01")]),
    "large-beside-fraction": (["9007199254740993", "0.5"], [Decimal("9007199254740993.0"), Decimal("0.5")]),
    "not-a-number": (["NaN", "1.5"], ["NaN", 1.5]),
    "booleans": (["true", "false", "null"], [True, False, None]),
    "strings": (['"007"', '"1.50"', '"true"'], ["007", "1.50", "true"]),
    "lists": (["[1, 2]", "[]", "null"], [[1, 2], [], None]),
    "objects": (['{"a": 1}', '{"a": null}', "null"], [{"a": 1}, {"a": None}, None]),
    "escapes": ([r'"\u00e9\n"', r'"\ud83d\ude00"', r'"\\\/"'], ["é\n", "😀", "\\/"]),
    "hive-null": (['"__HIVE_DEFAULT_PARTITION__"', '"x"'], ["__HIVE_DEFAULT_PARTITION__", "x"]),
    "german-numbers": (['"1.200,00"', '"0,99"'], ["1.200,00", "0,99"]),
    "dates-as-text": (['"2024-02-29"', '"2024-02-30"'], ["2024-02-29", "2024-02-30"]),
}


def record_cases() -> Iterator[Case]:
    yield from _layouts()
    yield from _values()
    yield from _bad_lines()
    yield from _msgpack()


def _layouts() -> Iterator[Case]:
    lines = [json.dumps(each, ensure_ascii=False) for each in RECORDS]
    pretty = json.dumps(RECORDS, ensure_ascii=False, indent=2)
    contents = {
        "lines.jsonl": "\n".join(lines) + "\n",
        "lines-no-end.jsonl": "\n".join(lines),
        "lines-crlf.jsonl": "\r\n".join(lines) + "\r\n",
        "lines-blank.jsonl": "\n\n".join(lines) + "\n\n\n",
        "lines.json": "\n".join(lines) + "\n",
        "lines.ndjson": "\n".join(lines) + "\n",
        "lines-named.csv": "\n".join(lines) + "\n",
        "array.json": json.dumps(RECORDS),
        "array-pretty.json": pretty,
        "array.jsonl": json.dumps(RECORDS) + "\n",
        "array-with-mark.json": "\ufeff" + pretty,
        "lines-with-mark.jsonl": "\ufeff" + "\n".join(lines),
    }
    for name, text in contents.items():
        why = "Records of JSON, whatever stands between them."
        yield Case(name=f"json/{name}", content=text.encode(), why=why, columns=PEOPLE, rows=PERSONS)
        squeezed = gzip.compress(text.encode(), mtime=0)
        file = f"json/{name}.gz"
        yield Case(name=file, content=squeezed, why=f"{why[:-1]}, compressed.", columns=PEOPLE, rows=PERSONS)
    unread = {
        "concatenated.json": "".join(lines),
        "concatenated-pretty.json": "\n".join(json.dumps(each, indent=1) for each in RECORDS),
        "two-arrays.json": json.dumps(RECORDS[:2]) + "\n" + json.dumps(RECORDS[2:]),
        "behind-an-empty-array.json": "[]\n" + json.dumps(RECORDS),
    }
    for name, text in unread.items():
        yield Case(
            name=f"json/{name}",
            content=text.encode(),
            why="Records that follow one another are read, or the file is refused: none is dropped.",
            columns=PEOPLE,
            rows=PERSONS,
            or_error=[] if name.startswith("concatenated") else [name],
        )


def _values() -> Iterator[Case]:
    for name, (texts, meant) in NUMBERS.items():
        rows = [[number, each] for number, each in enumerate(meant, 1)]
        records = [f'{{"id": {number}, "v": {text}}}' for number, text in enumerate(texts, 1)]
        why = "Values of JSON are what they are written as, to the last digit."
        for ending, text in (("jsonl", "\n".join(records) + "\n"), ("json", f"[{', '.join(records)}]")):
            file = f"json-values/{name}.{ending}"
            yield Case(name=file, content=text.encode(), why=why, columns=["id", "v"], rows=rows)


def _bad_lines() -> Iterator[Case]:
    good = [f'{{"id": {number}}}' for number in range(1, 8)]
    rows = [[number] for number in range(1, 8)]
    bad = {
        "cut-off": '{"id": 8, "x',
        "scalar": "17",
        "list": "[1, 2]",
        "garbage": "<html>",
        "single-quotes": "{'id': 8}",
        "trailing-comma": '{"id": 8,}',
        "two-in-a-line": '{"id": 8} {"id": 9}',
        "comment": "// {}",
    }
    for name, line in bad.items():
        text = "\n".join([*good[:4], line, *good[4:], ""])
        yield Case(
            name=f"json-bad/{name}.jsonl",
            content=text.encode(),
            why="A line that is no record is set aside, and the others are read.",
            rejects=[line],
            warnings=["line 5 is not a JSON object"],
            columns=["id"],
            rows=rows,
        )
    yield Case(
        name="json-bad/both-spellings.jsonl",
        content="\n".join([*good, '{"id": 8, "ID": 9}', ""]).encode(),
        why="A record with two spellings of one name is set aside where these are one column.",
        options={"names": "fold"},
        warnings=['"id" and "ID" differ only in case'],
        rejects=['{"id": 8, "ID": 9}'],
        columns=["id"],
        rows=rows,
    )


def _msgpack() -> Iterator[Case]:
    why = "Maps of Msgpack, one after the other or in one array."
    maps = b"".join(map(msgpack.packb, RECORDS))
    contents = {"maps.msgpack": maps, "array.msgpack": msgpack.packb(RECORDS), "maps.mpk": maps}
    for name, content in contents.items():
        yield Case(name=f"msgpack/{name}", content=content, why=why, columns=PEOPLE, rows=PERSONS)
        file = f"msgpack/{name}.gz"
        yield Case(name=file, content=gzip.compress(content, mtime=0), why=why, columns=PEOPLE, rows=PERSONS)
    values: Mapping[str, Sequence[Any]] = {
        "integers": [1, -20, 2**40],
        "doubles": [0.1, 1e300, -2.5],
        "booleans": [True, False, None],
        "strings": ["007", "é😀", ""],
        "bytes": [b"\x00\xff", b"", b"x"],
        "lists": [[1, 2], [], None],
        "objects": [{"a": 1}, {"a": None}, None],
        "hive-null": ["__HIVE_DEFAULT_PARTITION__", "x"],
        "german-numbers": ["1.200,00", "0,99"],
    }
    for name, each in values.items():
        rows = [[number, value] for number, value in enumerate(each, 1)]
        content = b"".join(msgpack.packb({"id": number, "v": value}) for number, value in rows)
        why = "Values of Msgpack keep what they are."
        yield Case(name=f"msgpack/{name}.msgpack", content=content, why=why, columns=["id", "v"], rows=rows)
