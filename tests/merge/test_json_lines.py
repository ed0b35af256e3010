"""What the fast parser of JSON lines gives is what `json` gives, line by line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import mason.pipeline.formats.json.parse as json_parse
import mason.pipeline.formats.scanning.splits as line_splits
import mason.pipeline.reading.tasks.json_batches as json_batches
import mason.pipeline.reading.tasks.text_blocks as text_blocks
from mason.pipeline.formats.json.parse import ParsedLines, parse_lines, split_lines
from mason.pipeline.formats.sources import Source, ValueSource
from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.tasks.readers import read_batches
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, merge, storable
from mason.pipeline.types.value_types import classify_records
from tests.merge.conftest import LOCAL, Merge

KEYS = st.sampled_from(["a", "b", "c", "d", "e", ""])
NUMBERS = st.one_of(
    st.integers(-9, 9),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63, 10**25]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.5, 1e20, 5e-324]),
)
TEXTS = st.one_of(
    st.text(max_size=4), st.sampled_from(["2024-01-31", "12", "ä", "😀", "\x00\x1f\x7f", "\u2028", "}\n{"])
)
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
USUAL = st.fixed_dictionaries(
    {},
    optional={
        "a": st.one_of(st.none(), st.integers(-9, 9)),
        "b": st.one_of(st.none(), st.integers(-9, 9), st.sampled_from([1.5, -0.0, 0.25])),
        "c": st.one_of(st.none(), TEXTS),
        "d": st.one_of(st.none(), st.fixed_dictionaries({}, optional={"x": st.integers(0, 9), "y": TEXTS})),
        "e": st.one_of(st.none(), st.lists(st.one_of(st.none(), st.floats(-1, 1)), max_size=2)),
    },
)
RECORDS = st.one_of(USUAL, USUAL, USUAL, st.dictionaries(KEYS, ANY, max_size=4))
OBJECTS = st.builds(lambda value, plain: json.dumps(value, ensure_ascii=plain).encode(), RECORDS, st.booleans())
ODD_LINES = [
    b"",
    b" \t",
    b"\r",
    b"\x0c",
    b"{}",
    b"{",
    b"}",
    b"[1]",
    b"3",
    b"nonsense",
    b'{"a":',
    b"1}",
    b'{"a":1',
    b'{"a":1}{"a":2}',
    b'{"a":\n1}{"a":2}',
    b'{"d":{"y":"2024-01-31T00:00:00"}}',
    b'{"a":1} {"a":2}',
    b'{"a":1},{"a":2}',
    b'{"a":1}}',
    b'{"a":1,}',
    b'{"a":1,"a":2}',
    b'{"a":1,"\\u0061":null}',
    b'{"d":{"x":1,"x":2}}',
    b' {"a":1}',
    b'{"a":1} ',
    b'{"a":1}\r',
    b'{"a":1}\r{"a":2}',
    codecs.BOM_UTF8,
    codecs.BOM_UTF8 + b'{"a":1}',
    b'{"a":1}\x00}',
    b'{"c":"\x00"}',
    b'{"c":"\x01"}',
    b'{"c":"\xff"}',
    b'{"c":"\xc3\\u00a4"}',
    b'{"c":"\xc3"}',
    b'{"d":{"y":"\xff"}}',
    b'{"\xff":1}',
    b'{"a":1\xff}',
    b'{"c":"\xed\xa0\x80"}',
    b'{"c":"\\ud800"}',
    b'{"\\ud800":1}',
    b'{"c":"\\ud83d\\ude00"}',
    b'{"c":"\\u0000"}',
    b'{"b":-0}',
    b'{"b":-0.0}',
    b'{"a":-0,"b":-0.0}',
    b'{"b":-1e-400}',
    b'{"b":12345678901234567.89}',
    b'{"b":1234567890123.45678}',
    b'{"b":0.12345678901234567890123}',
    b'{"b":0.10000000000000001}',
    b'{"b":1.2345678901234567e-5}',
    b'{"b":12345678901234567890e-5}',
    b'{"c":"1, 12345678901234567.89, 2"}',
    b'{"e":[0.25,0.30000000000000004,1.00000000000000000001]}',
    b'{"b":1e400}',
    b'{"b":NaN}',
    b'{"b":-NaN}',
    b'{"b":Inf}',
    b'{"b":-Infinity}',
    b'{"b":007}',
    b'{"b":1.}',
    b'{"b":9007199254740993}',
    b'{"e":[1,-9007199254740993]}',
    b'{"b":' + b"1" * 5000 + b"}",
    b'{"a":12345678901234567890}',
    b'{"a":1e2}',
    b'{"a":1.0}',
    b'{"c":12}',
    b'{"c":true}',
    b'{"c":{"x":1}}',
    b'{"d":{"z":1}}',
    b'{"d":{}}',
    b'{"e":[]}',
    b'{"e":[[1]]}',
    b'{"new":1}',
    b'{"a":' + b"[" * 100_000 + b"}",
]
LINES = st.lists(st.one_of(OBJECTS, OBJECTS, OBJECTS, OBJECTS, st.sampled_from(ODD_LINES)), min_size=1, max_size=12)
PIECES = st.lists(st.binary(max_size=8).map(lambda text: text.replace(b"\xff", b"\n")))
USUAL_LINES = st.lists(USUAL.map(lambda value: json.dumps(value, ensure_ascii=False).encode()), max_size=6)
USUAL_SCHEMA = pa.schema(
    {
        "a": pa.int64(),
        "b": pa.float64(),
        "c": pa.string(),
        "d": pa.struct([("x", pa.int64()), ("y", pa.string())]),
        "e": pa.list_(pa.float64()),
    }
)
TYPES = st.sampled_from(
    [
        pa.string(),
        pa.bool_(),
        pa.int64(),
        pa.int32(),
        pa.uint64(),
        pa.float64(),
        pa.float32(),
        pa.date32(),
        pa.timestamp("us"),
        pa.timestamp("us", "UTC"),
        pa.decimal128(18, 2),
        pa.binary(),
        pa.list_(pa.string()),
        pa.list_(pa.date32()),
        pa.map_(pa.string(), pa.int64()),
        pa.struct([("x", pa.string()), ("y", pa.date32())]),
        pa.struct([("y", pa.string()), ("x", pa.float64())]),
    ]
)
RANDOM_FILES = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@dataclass
class Outcome:
    """All that a merge takes from a file. Values are shown, since 0.0 and -0.0, and 1 and 1.0, are equal in Python."""

    rows: int = 0
    records: int = 0
    rejects: list[Reject] = field(default_factory=list)
    places: list[Reject] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    given: dict[str, list[str]] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as context:
        yield context


@RANDOM_FILES
@given(st.data(), LINES, st.sampled_from([b"\n", b"\n", b"\r\n"]), st.sampled_from([64, 200, 1 << 20]), st.booleans())
def test_the_fast_parser_changes_nothing(
    tmp_path: Path, data: st.DataObject, lines: list[bytes], line_end: bytes, block: int, ends: bool
) -> None:
    sample = lines[: data.draw(st.integers(0, len(lines)))]
    others = data.draw(st.dictionaries(KEYS, TYPES, max_size=2))
    constants = data.draw(st.sampled_from([{}, {}, {"a": "7"}, {"c": "x", "b": None}]))
    file = written(tmp_path, line_end.join(lines) + line_end * ends, constants)

    assert_same(file, pa.schema(list((decided(sample) | others).items())), block)


@RANDOM_FILES
@given(
    USUAL_LINES,
    st.lists(st.sampled_from(ODD_LINES), min_size=1, max_size=2),
    USUAL_LINES,
    st.sampled_from([64, 1 << 20]),
)
def test_odd_lines_among_usual_ones_are_what_they_are(
    tmp_path: Path, before: list[bytes], odd: list[bytes], after: list[bytes], block: int
) -> None:
    file = written(tmp_path, b"\n".join([*before, *odd, *after]))

    assert_same(file, USUAL_SCHEMA, block)


@pytest.mark.parametrize("target", [pa.string(), pa.float64(), pa.timestamp("us")])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_each_odd_line_is_what_it_is(tmp_path: Path, target: pa.DataType, line_end: bytes) -> None:
    schemas = [USUAL_SCHEMA, pa.schema(dict.fromkeys("abcde", target))]
    for line in ODD_LINES:
        for text in (line, line + line_end, b"{}" + line_end + line, line_end.join([line, line, b"{}", b""])):
            for schema in schemas:
                assert_same(written(tmp_path, text), schema)


@RANDOM_FILES
@given(st.lists(USUAL, min_size=1, max_size=20), st.sampled_from([64, 1 << 20]))
@example([{"b": -0.0}, {"b": 1}], 64)
def test_lines_of_the_usual_kind_are_never_left_to_the_slow_parser(
    tmp_path: Path, patch: pytest.MonkeyPatch, records: list[dict[str, Any]], block: int
) -> None:
    lines = [json.dumps(each).encode() for each in records]
    file = written(tmp_path, b"\n".join(lines))

    assert_same(file, USUAL_SCHEMA, block)
    with pytest.MonkeyPatch.context() as context:
        taken = watched(context)
        read(file, USUAL_SCHEMA, block)
    assert None not in taken and sum(each.rows for each in taken if each) == len(records)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (pa.string(), b'{"a": 12}'),
        (pa.string(), b'{"a": true}'),
        (pa.struct([("x", pa.string())]), b'{"a": {"x": 12}}'),
        (pa.list_(pa.string()), b'{"a": [true, null]}'),
        (pa.date32(), b'{"a": "2024-01-31"}'),
        (pa.decimal128(18, 2), b'{"a": 3}'),
        (pa.timestamp("us", "UTC"), b"{}"),
    ],
)
def test_values_of_one_kind_are_read_fast_even_if_the_table_has_another(
    tmp_path: Path, patch: pytest.MonkeyPatch, target: pa.DataType, line: bytes
) -> None:
    file = written(tmp_path, (line + b"\n") * 3)

    assert_same(file, pa.schema({"a": target}))
    taken = watched(patch)
    read(file, pa.schema({"a": target}))
    assert None not in taken


def test_a_key_that_the_folder_gives_as_well_may_be_of_any_type(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, b'{"a": 1, "day": "x"}\n{"day": "y"}\n', {"day": "2024-01-31"})
    schema = pa.schema({"a": pa.int64(), "day": pa.date32()})

    assert_same(file, schema)
    taken = watched(patch)
    read(file, schema)
    assert None not in taken


def test_only_the_chunk_with_the_odd_line_is_read_slowly(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    lines = [b'{"n": %d, "padding": "%s"}' % (number, b"x" * 50) for number in range(20)]
    lines[7] = b"nonsense"
    file = written(tmp_path, b"\n".join(lines))
    schema = pa.schema({"n": pa.int64(), "padding": pa.string()})

    assert_same(file, schema, 100)
    taken = watched(patch)
    outcome = read(file, schema, 100)

    assert taken.count(None) == 1
    assert [(each.record, each.offset, each.raw) for each in outcome.rejects] == [
        (8, len(b"\n".join(lines[:7])) + 1, "nonsense")
    ]


def test_a_file_that_is_odd_all_over_is_not_tried_for_ever(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, b'{"n": [1, "x"]}\n' * 100)
    taken = watched(patch)

    read(file, pa.schema({"n": pa.string()}), 64, misses=3)

    assert taken == [None, None, None]


def always(*_: object) -> bool:
    return True


def count_braces(text: bytes) -> tuple[int, int]:
    return text.count(b"{"), text.count(b"\n")


@pytest.mark.parametrize(
    ("check", "blind", "target", "lines"),
    [
        ("_are_exact", always, pa.float64(), [b'{"a": 9007199254740993}']),
        ("_are_exact", always, pa.float64(), [b'{"a": -0}']),
        ("_are_exact", always, pa.float64(), [b'{"a": Inf}']),
        ("_are_exact", always, pa.list_(pa.float64()), [b'{"a": [9007199254740993]}']),
        ("_are_exact", always, pa.struct([("x", pa.float64())]), [b'{"a": {"x": 9007199254740993}}']),
        ("_have_their_digits", always, pa.float64(), [b'{"a": 90071992547409.93}']),
        ("_have_their_digits", always, pa.list_(pa.float64()), [b'{"a": [0.5, 1.00000000000000000001]}']),
        ("_count_objects", count_braces, pa.int64(), [b'{"a": 1}{"a": 2}']),
        ("_count_objects", count_braces, pa.int64(), [b'{"a":', b"1}"]),
        ("_count_objects", count_braces, pa.int64(), [b'{"a":', b'1}{"a": 2}']),
        ("_is_unicode", always, pa.string(), [b'{"a": "\xff"}']),
        ("_SAME_AS_TEXT", {pa.float64()}, pa.string(), [b'{"a": 1e-7}']),
        ("_SAME_AS_JSON", {pa.timestamp("us")}, pa.timestamp("us"), [b'{"a": "2024-01-31T00:00:00"}']),
        ("_SAME_AS_JSON", {pa.int32()}, pa.struct([("x", pa.int32())]), [b'{"a": {"x": 1}}']),
    ],
)
def test_without_one_of_its_checks_the_fast_parser_would_change_something(
    tmp_path: Path, patch: pytest.MonkeyPatch, check: str, blind: Any, target: pa.DataType, lines: list[bytes]
) -> None:
    file = written(tmp_path, b"\n".join(lines))
    assert_same(file, pa.schema({"a": target}))

    patch.setattr(json_parse, check, blind)
    with pytest.raises((AssertionError, UnicodeDecodeError, IndexError)):  # a row without a line has no place
        assert_same(file, pa.schema({"a": target}))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_lines_in_other_encodings_are_read_fast(tmp_path: Path, patch: pytest.MonkeyPatch, encoding: str) -> None:
    file = written(tmp_path, ('{"a": "Schön"}\n' * 100).encode(encoding), encoding=encoding)
    taken = watched(patch)

    outcome = read(file, pa.schema({"a": pa.string()}), 200)

    assert outcome.values["a"] == ["'Schön'"] * 100
    assert len(taken) > 1 and None not in taken


def test_a_mark_of_utf_8_at_the_beginning_is_no_part_of_the_text(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, codecs.BOM_UTF8 + b'{"a": 1}\n')
    taken = watched(patch)

    assert read(file, pa.schema({"a": pa.int64()})).values == {"a": ["1"]}
    assert None not in taken


@given(PIECES, st.integers(1, 10))
def test_chunks_of_lines_tile_the_text_and_end_behind_a_line(blocks: list[bytes], size: int) -> None:
    chunks = list(split_lines(blocks, size))

    assert b"".join(chunks) == b"".join(blocks)
    assert all(chunk.endswith(b"\n") for chunk in chunks[:-1])


def test_a_range_of_a_file_is_read_as_if_it_stood_in_the_file(tmp_path: Path) -> None:
    lines = [b'{"n": %d}' % number for number in range(100)]
    lines[41] = b"nonsense"
    whole = written(tmp_path, b"\n".join(lines))
    schema = pa.schema({"n": pa.int64()})
    ranges = line_splits.find_line_ranges(LOCAL, whole.path, whole.size, 100)
    parts = [replace(whole, offset=each.offset, length=each.length) for each in ranges]

    outcomes = [read(each, schema, 64) for each in parts]

    expected = read(whole, schema)
    assert len(parts) > 5
    assert [value for each in outcomes for value in each.values["n"]] == expected.values["n"]
    (reject,) = [reject for each in outcomes for reject in each.rejects]
    (alone,) = expected.rejects
    assert (alone.record, alone.raw) == (42, "nonsense")
    begin = max(each.offset for each in ranges if each.offset <= reject.offset)
    counted = reject.record + line_splits.number_of_lines(LOCAL, whole.path, begin)
    assert replace(reject, record=counted) == alone, "a task counts from where its range begins"


def test_keys_that_have_another_name_in_the_table_are_read_fast(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, b'{"A": 1, "a": "x"}\n', renames={"A": "a_2"})
    taken = watched(patch)

    (batch,) = read_batches(LOCAL, file, [], pa.schema({"a": pa.string(), "a_2": pa.int64()}))

    assert None not in taken
    assert {name: source.value(0) for name, source in batch.columns.items()} == {"a": "x", "A": 1}


def test_half_a_surrogate_pair_goes_to_the_quarantine_and_stops_nothing(merge: Merge) -> None:
    merge.given("a.jsonl", '{"a": "x"}\n{"a": "\\ud83d"}\n{"a": "\\ud83d\\ude00"}\n')

    assert merge.rows() == [{"a": "x"}, {"a": "😀"}]
    (reject,) = merge.rejects()
    assert (reject.record, reject.raw) == (2, '{"a": "\\ud83d"}')
    assert "surrogate" in reject.reason


def test_a_merge_of_lines_in_many_chunks_is_the_lines(merge: Merge, patch: pytest.MonkeyPatch) -> None:
    records = [
        {"id": number, "tags": ["ä"] * (number % 3), "place": {"zip": f"{number:05}", "at": number / 8}}
        for number in range(3_000)
    ]
    merge.given("a.jsonl", "\n".join(json.dumps(each) for each in records))
    patch.setattr(text_blocks, "BLOCK", 10_000)
    patch.setattr(json_batches, "BLOCK", 10_000)
    taken = watched(patch)

    assert merge.rows() == records
    assert len(taken) > 10 and None not in taken


def assert_same(file: FileInTask, schema: pa.Schema, block: int = 1 << 20) -> None:
    """Hold what the fast parser gives, where it may, against what the slow one gives alone."""
    assert read(file, schema, block) == read(file, schema, block, misses=0)


def read(file: FileInTask, schema: pa.Schema, block: int = 1 << 20, misses: int = 1_000) -> Outcome:
    outcome = Outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK", block)
        patch.setattr(json_batches, "BLOCK", block)
        patch.setattr(json_batches, "MOST_MISSES", misses)
        for batch in read_batches(LOCAL, file, [], schema):
            outcome.rows += batch.rows
            outcome.records += batch.records
            outcome.rejects += batch.rejects
            outcome.places += [batch.describe(file.name, index) for index in range(batch.rows)]
            take_columns(outcome, file, batch, schema)
    return outcome


def take_columns(outcome: Outcome, file: FileInTask, batch: Batch, schema: pa.Schema) -> None:
    missing = ValueSource([None] * batch.rows)
    for column in schema:
        source = batch.columns.get(column.name, missing)
        outcome.given.setdefault(column.name, []).extend(shown_as_given(source, column.type))
        fitted = source.fit(column.type)
        if fitted is None:
            note(outcome, column.name, source.evidence())
        else:
            assert fitted.type == column.type
            outcome.values.setdefault(column.name, []).extend(map(repr, fitted.to_pylist()))
    for name in batch.columns.keys() - set(schema.names) - set(file.constants):
        note(outcome, name, batch.columns[name].evidence())


def shown_as_given(source: Source, target: pa.DataType) -> list[str]:
    """Return what becomes of the values where the user gave the type."""
    try:
        fitted = source.fit_given(target)
    except ValueError as error:
        return [repr(error)]
    assert fitted.values.type == target
    bad = [False] * len(fitted.values) if fitted.bad is None else fitted.bad.to_pylist()
    return [repr(each) for each in zip(fitted.values.to_pylist(), bad, strict=True)]


def note(outcome: Outcome, name: str, seen: Evidence) -> None:
    outcome.evidence[name] = merge(outcome.evidence.get(name, NOTHING), seen)


def watched(patch: pytest.MonkeyPatch) -> list[ParsedLines | None]:
    """Return what the fast parser will have said of each chunk."""
    said: list[ParsedLines | None] = []

    def parse(
        text: bytes, targets: Mapping[str, pa.DataType], others: Sequence[str] = (), *, own: bool = False
    ) -> ParsedLines | None:
        said.append(parse_lines(text, targets, others, own=own))
        return said[-1]

    patch.setattr(json_batches, "parse_lines", parse)
    return said


def decided(lines: list[bytes]) -> dict[str, pa.DataType]:
    """Return the types that a plan would choose after it has seen these lines."""
    seen = classify_records(loaded(lines))
    return {name: storable(decide(each)) for name, each in seen.items()}


def loaded(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json_parse.load_object(line)
        except json_parse.NotAnObject:
            continue


def written(
    folder: Path,
    text: bytes,
    constants: Mapping[str, str | None] | None = None,
    encoding: str = "utf-8",
    renames: Mapping[str, str] | None = None,
) -> FileInTask:
    path = folder / "a.jsonl"
    path.write_bytes(text)
    status = path.stat()
    return FileInTask(
        storage="file:///",
        path=str(path),
        name="a.jsonl",
        size=status.st_size,
        stamp=status.st_mtime_ns,
        format="jsonl",
        encoding=encoding,
        columns=[],
        constants=constants or {},
        offset=0,
        length=status.st_size,
        renames=renames or {},
    )
