"""Records that are odd: lines that end otherwise, text in many lines, quotes that may be none, and their way back."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import SWALLOWS
from mason.pipeline.formats.json.digits import lose_digits
from mason.pipeline.formats.json.parse import split_lines
from mason.pipeline.formats.scanning.chunks import split_chunks
from mason.pipeline.formats.scanning.csv_parse import Layout, parse_chunk
from mason.pipeline.formats.scanning.record_scan import scan_records
from mason.pipeline.formats.scanning.splits import count_records
from mason.pipeline.reading.plan.inspection import PlanRefused
from tests.merge.conftest import Merge
from tests.merge.test_replay import export, mend, replay

SNIPPET = "name,city\nann,rome\nbob,oslo\ncid,bern\ndan,graz"


def read(merge: Merge, text: str, **options: Any) -> list[dict[str, Any]]:
    merge.given("a.csv", text)
    merge.run(csv=DelimitedOptions(**options), parse_headers=True)
    return list(merge.table().to_pylist())


# What is replayed is what the file says


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ('id,a,b\r1,x,y\r2,"it\'s, ok",""\rx3,"say ""hi""",""\r4,"",\r', {}, ('say "hi"', "")),
        ("id,a,b\r1,x,y\rx3,,''\r4,z,w\r", {"quote": "'"}, (None, "")),
        ("id,a,b\n1,x,y\nx3,'it''s, ok',''\n4,z,w\n", {"quote": "'"}, ("it's, ok", "")),
        ("id,a,b\r1,x,y\rx3,'it''s, \"ok\"',''\r4,z,w\r", {"quote": "'"}, ('it\'s, "ok"', "")),
        ('id,a,b\n1,x,y\nx3,"a\\"b, c",\\\\\n4,z,w\n', {"escape": "\\"}, ('a"b, c', "\\")),
        ('id,a,b\r1,x,y\rx3,"a\\"b, c",""\r4,z,w\r', {"escape": "\\"}, ('a"b, c', "")),
        ('id;a;b\n1;x;y\nx3;"a;""\n4;z;w\n', {"quote": "none"}, ('"a', '""')),
        ('id;a;b\r1;x;y\rx3;"a;""\r4;z;w\r', {"quote": "none"}, ('"a', '""')),
        ("id,a,b\n1,x,y\n# a note\nx3,c,d\n4,z,w\n", {"comment": "#"}, ("c", "d")),
        ("id,a,b\n1,x,y\n2,p,q\rx3,c,\n4,z,w\n", {}, ("c", None)),
        ("id,a,b\n1,x,y\n\n2,p,q\rx3,c,\n4,z,w\n", {}, ("c", None)),
    ],
)
def test_what_is_replayed_has_the_values_that_the_dialect_of_its_file_gives(
    merge: Merge, text: str, options: dict[str, Any], wanted: tuple[str | None, str | None]
) -> None:
    merge.given("a.csv", text)
    merge.run(csv=DelimitedOptions(**options), schema="id bigint, a string, b string")
    (reject,) = merge.rejects()
    assert reject.column == "id"
    assert text.encode()[reject.offset :].removeprefix(b"# a note\n").startswith(reject.raw.encode())
    file = export(merge)
    mend(file, ("x3", "3"))

    replay(merge, file)

    (row,) = [row for row in merge.table().to_pylist() if row["id"] == 3]
    assert (row["a"], row["b"]) == wanted


# Lines that end otherwise


def test_a_blank_line_is_a_null_though_another_line_ends_with_a_bare_return(merge: Merge) -> None:
    assert [row["x"] for row in read(merge, "x\n1\n\n2\r3\n")] == [1, None, 2, 3]


def test_a_bare_return_ends_a_record_wherever_the_text_is_cut() -> None:
    text = b'1,2\r3,"a\rb"\r\n\r5,6\r\r\n7,8\r'
    whole = scan_records(text, Dialect(), 2, final=True)

    assert whole.ends.tolist() == [4, 13, 14, 18, 20, 24]
    for size in range(1, len(text) + 2):
        blocks = [text[start : start + size] for start in range(0, len(text), size)]
        chunks = list(split_chunks(blocks, Dialect(), 2, size=size))
        assert [chunk.offset + end for chunk in chunks for end in chunk.scan.ends.tolist()] == whole.ends.tolist()
        assert count_records(blocks) == len(whole.ends)


# Text in many lines


@pytest.mark.parametrize(
    "note",
    [
        SNIPPET,
        f"{SNIPPET}\n",
        f"The list:\n{SNIPPET}",
        "Specs:\nColor, red\nSize, large\nWeight, 3 kg\nPrice, 5",
        SNIPPET.replace("ann", '"ann"'),
        "a,b,c\n" * 5,
    ],
)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("others", ["", '9,"5"" pipe"\n', 'x,"\n9,"\n'])
def test_a_pasted_table_in_a_field_stays_one_field(merge: Merge, note: str, place: int, others: str) -> None:
    quoted = '"' + note.replace('"', '""') + '"'
    record = f"{quoted},7" if place == 0 else f"7,{quoted}"

    rows = read(merge, f"a,b\n1,x\n{record}\n{others}2,y\n")

    assert note in [row["ab"[place]] for row in rows]


def test_a_pasted_table_with_other_kinds_of_values_stays_one_field(merge: Merge) -> None:
    note = "see\nred,1,x\nblue,2,y\ngreen,3,z\nblack,4"

    rows = read(merge, f'id,note,v\n1,x,5\n2,"{note}",6\n3,y,7\n')

    assert rows[1] == {"id": 2, "note": note, "v": 6}


def test_lines_that_look_like_records_in_all_they_have_are_set_aside_as_a_whole(merge: Merge) -> None:
    """Two stray quotes, or a text: nobody can tell. Nothing is torn or swallowed unseen, and it can go back."""
    record = '3,"5 inch\n4,x\n5,y\n6,z\n7,6"'
    merge.given("a.csv", f"id,size\n1,a\n2,b\n{record}\n8,c\n")

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (4, 3, 1)
    (reject,) = merge.rejects()
    assert (reject.reason, reject.raw) == (SWALLOWS, record)
    file = export(merge)
    mend(file, ("5 inch", "6 inch"))
    replay(merge, file)
    assert {"id": 3, "size": "6 inch\n4,x\n5,y\n6,z\n7,6"} in merge.table().to_pylist()


ROWS = "".join(f"{number},name{number},2026-01-02,2.5\n" for number in range(100, 140))


@pytest.mark.parametrize("inner", [1, 2, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_few_lines_that_a_stray_quote_swallowed_are_set_aside_as_a_whole(merge: Merge, inner: int, end: str) -> None:
    lines = "\n".join(f"{number},name{number},2026-01-02,1.5" for number in range(2, 2 + inner))
    record = f'1,"name1,2026-01-01,1.5\n{lines}\n9,name9",2026-01-02,1.5'
    merge.given("a.csv", f"id,name,day,v\n{ROWS}{record}\n10,x,2026-01-03,7.5\n".replace("\n", end))

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (42, 41, 1)
    assert [(each.reason, each.raw) for each in merge.rejects()] == [(SWALLOWS, record.replace("\n", end))]


@pytest.mark.parametrize(
    ("header", "record", "sound"),
    [
        ("id,size", '3,"5 inch\n4,x\n7,6"', "8,c"),
        ("name,city,land", 'Ann,"Rome,Italy\nBob,Oslo,Norway\nCid,Bern",Swiss', "Dan,Graz,Austria"),
        ("id,name,v", '1,"name1,1.5\n2,name2",2.5', "3,name3,3.5"),
    ],
)
def test_lines_that_may_be_records_are_counted_by_file(merge: Merge, header: str, record: str, sound: str) -> None:
    merge.given("a.csv", f"{header}\n" + f"{sound}\n" * 3 + f"{record}\n" * 2)
    merge.given("b.csv", f"{header}\n{sound}\n{record}\n")

    result = merge.run()

    assert (result.rows_out, result.quarantined) == (7, 0)
    assert [each for each in result.warnings if "look like records" in each] == [
        "a.csv: 2 records hold lines that look like records, and are read as text in quotes.",
        "b.csv: 1 record holds lines that look like records, and is read as text in quotes.",
    ]


@pytest.mark.parametrize(
    "note", ["Main St, 5\n10115, Berlin", "Dear all,\nthe parts, 5 of them, are late\nyours, Ann", "a,b\nc,d,e\nf,g"]
)
def test_prose_in_few_lines_is_text_without_a_word(merge: Merge, note: str) -> None:
    merge.given("a.csv", f'id,note,v\n1,x,5\n17,"{note}",6\n3,y,7\n')

    result = merge.run()

    assert {"id": 17, "note": note, "v": 6} in merge.table().to_pylist()
    assert [*result.plan.warnings, *result.warnings] == []


def test_a_stray_quote_tears_no_text_that_is_properly_closed_before_it(merge: Merge) -> None:
    record = '3,"a\nb,c,d\ne","f" g'
    merge.given("a.csv", f"id,t,u\n1,a,b\n{record}\n4,x,y\n5,x,y\n")

    merge.run()

    assert [each.raw for each in merge.rejects()] == [record]


def test_a_quote_that_opens_above_very_many_records_swallows_none_of_them(merge: Merge) -> None:
    lines = "".join(f"{number},x\n" for number in range(5_000))
    merge.given("a.csv", f'id,t\n-2,a\n-1,"5 inch\n{lines}5000,6"\n5001,y\n')

    result = merge.run()

    assert (result.rows_in, result.quarantined) == (5_004, 1)
    assert [each.raw for each in merge.rejects()] == ['-1,"5 inch']


PIECES = st.lists(
    st.sampled_from(
        [
            "1,2\n",
            "3,4\r\n",
            "5,6\r",
            '7,"8\n',
            '9,1"\n',
            '2,"a\nb"\n',
            f'3,"{SNIPPET}"\n',
            '"4",x\n',
            "\n",
            '5,"6" z\n',
            '6,"t\n1,2\n3,4\n5,6\n7,8"\n',
            '7,"é\r\n',
            ',"\n',
            '"\n',
        ]
    ),
    max_size=25,
)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.integers(1, 80), st.sampled_from([Dialect(), Dialect(escape="\\")]))
@example(['7,"8\n', *["1,2\n"] * 30, '9,1"\n'], 20, Dialect())
@example(['7,"8\n', *["1,2\n"] * 1_100], 4_000, Dialect())
@example(['7,"8\n', *["1,2\n"] * 1_100, '9,1"\n'], 4_300, Dialect())
@example(['7,"8\n', *["1,2\n"] * 1_100, '5,"6" z\n'], 4_300, Dialect(escape="\\"))
def test_what_is_a_record_does_not_depend_on_where_the_text_is_cut(
    pieces: list[str], size: int, dialect: Dialect
) -> None:
    text = "".join(pieces).encode() or b"1,2\n"
    blocks = [text[start : start + size] for start in range(0, len(text), size)]

    assert found(blocks, dialect, size) == found([text], dialect, len(text) + 1)


def found(blocks: list[bytes], dialect: Dialect, size: int) -> tuple[list[Any], list[Any]]:
    """The rows and the records that are none, by where they begin."""
    layout = Layout(dialect=dialect, width=2)
    rows: list[Any] = []
    bad: list[Any] = []
    for chunk in split_chunks(blocks, dialect, 2, size=size):
        parsed = parse_chunk(chunk, layout)
        starts = [chunk.offset, *(chunk.offset + chunk.scan.ends[:-1]).tolist()]
        values = [column.to_pylist() for column in parsed.columns]
        rows += [(starts[index], *(value[row] for value in values)) for row, index in enumerate(parsed.indices)]
        bad += [(starts[each.index], chunk.raw(each.index), each.reason) for each in parsed.bad]
    return rows, bad


# Bytes that are odd


LONG = "".join(f"{number},abc{number}\n" for number in range(100_000))


@pytest.mark.parametrize("rows", ["1,a\n2,b\n", "1,a\n2,b", LONG])
@pytest.mark.parametrize("marks", ["\x1a", "\x1a\x1a\x1a"])
def test_the_end_of_file_mark_of_dos_is_left_out_and_told(merge: Merge, rows: str, marks: str) -> None:
    merge.given("a.csv", f"id,t\n{rows}{marks}")

    result = merge.run()

    assert (result.rows_out, result.quarantined) == (rows.rstrip("\n").count("\n") + 1, 0)
    assert merge.table()["t"].to_pylist()[-1] == ("abc99999" if rows == LONG else "b")
    assert [*result.plan.warnings, *result.warnings] == [
        "a.csv: it ends with Ctrl-Z, the end-of-file mark of DOS, which is left out."
    ]


def test_the_end_of_file_mark_of_dos_behind_json_lines_is_left_out_and_told(merge: Merge) -> None:
    merge.given("a.jsonl", '{"a": 1}\r\n{"a": 2}\r\n\x1a')

    result = merge.run()

    assert merge.table()["a"].to_pylist() == [1, 2]
    assert "Ctrl-Z" in " ".join([*result.plan.warnings, *result.warnings])


@pytest.mark.parametrize("before", ["1,a\n", LONG])
def test_a_nul_byte_is_told_however_far_down_it_stands(merge: Merge, before: str) -> None:
    merge.given("a.csv", f"id,t\n{before}7,b\0c\n")

    result = merge.run()

    assert "b\0c" in merge.table()["t"].to_pylist()
    assert [*result.plan.warnings, *result.warnings] == ["a.csv: it has NUL bytes."]


def test_what_is_full_of_nul_bytes_is_refused_as_that_and_read_by_its_encoding(merge: Merge) -> None:
    merge.given("a.csv", "id,t\n1,жук\n2,Жак\n".encode("utf-16-le"))

    with pytest.raises(
        PlanRefused, match=r"a\.csv: it has NUL bytes: it is UTF-16 without a byte order mark, or no text"
    ):
        merge.run()
    assert merge.rows(encoding="utf-16-le") == [{"id": 1, "t": "жук"}, {"id": 2, "t": "Жак"}]


@pytest.mark.parametrize("end", ["\r", "\r\r", "\r\n"])
@pytest.mark.parametrize("count", [3, 50_000])
def test_json_lines_that_end_with_a_return_are_lines(merge: Merge, end: str, count: int) -> None:
    merge.given("a.jsonl", "".join(f'{{"a": {number}, "b": {{"c":\r 1}}}}{end}' for number in range(count)))

    assert merge.run().rows_out == count
    assert merge.table()["a"].to_pylist() == list(range(count))


def test_json_lines_that_end_with_a_return_are_lines_wherever_the_text_is_cut() -> None:
    text = b'{"a":1}\r{"a":[{"b":2},\r{"b":3}]} \r {"a":3}\r\n{"a":4}\r\r{"a":5}\r'
    for size in range(1, len(text) + 1):
        blocks = [text[start : start + size] for start in range(0, len(text), size)]
        whole = b"".join(each for each in split_lines(blocks, size) if isinstance(each, bytes))
        assert len(whole) == len(text)
        assert [line.strip()[:5] for line in whole.split(b"\n") if line.strip()] == [b'{"a":'] * 5


def test_a_column_with_the_null_of_databases_is_told_with_what_makes_it_null(merge: Merge) -> None:
    merge.given("a.csv", "id,t\n1,5\n2,\\N\n3,7\n")

    result = merge.run()

    said = 'a.csv: column "t" has \\N, as databases write null: it is text (nulls: \\N makes it null).'
    assert [*result.plan.warnings, *result.warnings] == [said]
    assert merge.rows(nulls=("\\N",))[1] == {"id": 2, "t": None}


# What is odd, and much of it


def test_texts_of_many_digits_in_a_long_line_take_no_minutes() -> None:
    line = b'{"t":["' + b'","'.join([b"a: 12345678901234567.89 ,"] * 20_000) + b'"],"a":1}\n'
    started = time.process_time()

    assert not lose_digits(line)
    assert lose_digits(line + b'{"t":[],"a":12345678901234567.89}\n')
    assert lose_digits(line.replace(b'"a":1', b'"a":12345678901234567.89'))
    assert time.process_time() - started < 10


def test_files_with_columns_of_their_own_take_no_minutes(merge: Merge) -> None:
    for number in range(300):
        merge.given(f"f{number:03}.csv", f"a{number},b{number}\n1,x\n2,y\n")
    started = time.process_time()

    assert merge.run().rows_out == 600
    assert time.process_time() - started < 20


def test_one_bare_return_makes_a_large_file_not_slow() -> None:
    text = b"".join(b"%d,pipe %d,abc\n" % (number, number) for number in range(500_000)) + b"1,2,3\r4,5,6\n"
    started = time.process_time()

    (chunk,) = split_chunks([text], Dialect(), 3)
    assert parse_chunk(chunk, Layout(dialect=Dialect(), width=3)).records == 500_002
    assert time.process_time() - started < 2


def test_looking_for_swallowed_lines_takes_as_long_as_the_text_is_long() -> None:
    letter = b'7,"Dear Sir,\nthank you, and\nbest wishes, Ann\nP.S., yes\nbye, bye\n"\n'

    def seconds(times: int) -> float:
        began = time.process_time()
        assert scan_records(letter * times, Dialect(), 2, final=True).records == times
        return time.process_time() - began

    seconds(100)
    assert seconds(16_000) < 40 * max(seconds(1_000), 0.005)  # 16 times as long, and some noise


# What is said of them


def test_records_in_the_quarantine_are_counted_by_their_reasons(merge: Merge) -> None:
    good = '{"a": 1}\n' * 8
    merge.given("a.jsonl", f'{good}nothing\n{{"a": 1, "a": 2}}\n{{"a": 1e400}}\nnone\n')

    result = merge.run()

    (planned,) = result.plan.warnings
    assert planned == "a.jsonl: line 9 is not a JSON object, and 3 more lines cannot be read."
    assert list(result.warnings) == [
        "a.jsonl: 4 records are in the quarantine: 2 (it is not a JSON object), "
        '1 (the key "a" occurs more than once), 1 (the number 1e400 is too large).'
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" occurs more than once'),
        ('{"a": 1e400}', "the number 1e400 is too large"),
        ('{"a": "\\ud800"}', "half of a surrogate pair stands in it, which is not a character"),
    ],
)
def test_a_line_of_json_that_no_table_can_hold_is_told_with_its_reason(merge: Merge, line: str, reason: str) -> None:
    merge.given("a.jsonl", '{"a": 1}\n' * 3 + f"{line}\n" * 2)

    result = merge.plan()

    assert list(result.warnings) == [f"a.jsonl: line 4 cannot be read: {reason}, and 1 more line cannot be read."]


def test_records_with_bytes_that_are_no_text_are_said_to_be_set_aside(merge: Merge) -> None:
    merge.given("a.csv", b"id,t\n" + "".join(f"{n},Grüße {n}\n" for n in range(50)).encode() + b"99,M\xfcller\n")

    result = merge.run()

    assert result.quarantined == 1
    (told,) = result.plan.warnings
    assert told.endswith("; records with such bytes are set aside.")


# Bytes that are no text


def parse(text: bytes, width: int) -> tuple[list[Any], list[tuple[int, str, str]]]:
    layout = Layout(dialect=Dialect(), width=width)
    rows: list[Any] = []
    bad = []
    for chunk in split_chunks([text], layout.dialect, width):
        parsed = parse_chunk(chunk, layout)
        rows += zip(*(each.to_pylist() for each in parsed.columns), strict=True)
        bad += [(each.index, each.reason, chunk.raw(each.index)) for each in parsed.bad]
    return rows, bad


def test_few_bytes_that_are_no_text_cost_their_records_and_little_time() -> None:
    clean = b"".join(b'%d,"name, number %d",x\n' % (number, number) for number in range(60_000))
    place = clean.index(b"name", len(clean) // 2)
    broken = clean[:place] + b"\xfc" + clean[place + 1 :]

    began = time.process_time()
    parse(clean, 3)
    between = time.process_time()
    rows, bad = parse(broken, 3)
    end = time.process_time()

    assert len(rows) == 59_999
    assert [reason for _, reason, _ in bad] == ["it is not valid UTF-8"]
    assert end - between < 8 * (between - began) + 0.2  # field by field it was thirty times as much


def test_records_with_bytes_that_are_no_text_are_told_from_those_around_them() -> None:
    text = b'1,a\n\xff,b\n3\n4,"c\xfe"\n5,"d\ne"\n6,"f" g\n7,\xc3\xa4\n8,h,i\n\xc3,j'
    filler = b"".join(b"%d,x\n" % number for number in range(100))

    rows, bad = parse(filler + text, 2)

    assert rows[100:] == [("1", "a"), ("5", "d\ne"), ("7", "ä")]
    assert [(index - 100, reason) for index, reason, _ in bad] == [
        (1, "it is not valid UTF-8"),
        (2, "1 field instead of 2"),
        (3, "it is not valid UTF-8"),
        (5, "text stands behind a closing quote"),
        (7, "3 fields instead of 2"),
        (8, "it is not valid UTF-8"),
    ]
    assert bad[0][2] == "\udcff,b"


@given(
    st.lists(st.sampled_from([b"1,a\n", b"\xff,b\n", b'2,"c\nd"\n', b"3\n", b'4,"e\xfe"\n', b"\n", b"5,\xc3\xa4\n"]))
)
@settings(max_examples=60, deadline=None)
def test_bytes_that_are_no_text_change_nothing_for_other_records(lines: list[bytes]) -> None:
    sound = [line for line in lines if b"\xff" not in line and b"\xfe" not in line]

    rows, bad = parse(b"".join(lines), 2)

    assert rows == parse(b"".join(sound), 2)[0]
    assert sum("UTF-8" in reason for _, reason, _ in bad) == len(lines) - len(sound)


@pytest.mark.parametrize("records", [10, 5_000])
def test_an_empty_text_in_quotes_among_numbers_makes_them_text_wherever_it_stands(merge: Merge, records: int) -> None:
    merge.given("a.csv", "id,v\n" + "".join(f"{n},{n}.5\n" for n in range(records)) + '1,""\n2,\n')

    merge.run()

    assert merge.types() == {"id": "int64", "v": "string"}
    assert merge.table().to_pylist()[-3:] == [
        {"id": records - 1, "v": f"{records - 1}.5"},
        {"id": 1, "v": ""},
        {"id": 2, "v": None},
    ]
