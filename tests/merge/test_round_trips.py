"""Tables written in dialects at random, and in other formats, come back the same, or it is said what does not."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mason.engines.storage.models.infer_options import DelimitedOptions
from tests.merge.conftest import Merge

NAMES = ["id", "name", "note"]
MANY = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
FEWER = settings(MANY, max_examples=40)

Row = Sequence[str]


@dataclass(frozen=True)
class Written:
    """A dialect as a program that writes files has it. `quote` and `escape` may be none."""

    delimiter: str
    quote: str
    escape: str
    end: str
    header: bool
    titles: int
    trailing: bool
    encoding: str

    def content(self, rows: Sequence[Row]) -> bytes:
        records = [NAMES, *rows] if self.header else rows
        lines = [f"Title {number} of this file" for number in range(self.titles)]
        lines += [self.delimiter.join(map(self.field, record)) + self.delimiter * self.trailing for record in records]
        return "".join(line + self.end for line in lines).encode(self.encoding)

    def field(self, text: str) -> str:
        if not self.quote:
            return text
        special = (*self.delimiter, self.quote, self.escape or self.quote, "\n", "\r")
        if text and text == text.strip() and not any(each in text for each in special):
            return text
        inner = text.replace(self.escape, self.escape * 2) if self.escape else text
        return self.quote + inner.replace(self.quote, (self.escape or self.quote) + self.quote) + self.quote

    @property
    def options(self) -> dict[str, Any]:
        csv = DelimitedOptions(quote=self.quote or "none", escape=self.escape or "none", skip_rows=self.titles)
        encoding = {"utf-8-sig": "", "utf-16": ""}.get(self.encoding, self.encoding)
        return {"delimiter": self.delimiter, "parse_headers": self.header, "encoding": encoding, "csv": csv}


def dialects(delimiters: Sequence[str], quotes: Sequence[str], escapes: Sequence[str]) -> st.SearchStrategy[Written]:
    return st.builds(
        Written,
        delimiter=st.sampled_from(delimiters),
        quote=st.sampled_from(quotes),
        escape=st.sampled_from(escapes),
        end=st.sampled_from(["\n", "\r\n"]),
        header=st.booleans(),
        titles=st.integers(0, 3),
        trailing=st.booleans(),
        encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    )


ANY_DIALECT = dialects([",", ";", "\t", "|", "||", "|~|", "::", "\x01", "^"], ['"', "'", ""], ["", "\\"])
TAME_DIALECT = dialects([",", ";", "\t", "|"], ['"'], [""])
HARD_TEXT = st.text("ab é,;|\"'\\\n~:^\t#0", max_size=8)
PLAIN_TEXT = st.text("abcé 05-", min_size=1, max_size=8).map(str.strip).filter(bool)
WORDS = st.sampled_from(["Ann", "Zoë", "the sea", "saw", "Köln", "x, y", 'say "so"', "a;b", "c|d", "tab\there"])


@given(dialect=ANY_DIALECT, data=st.data())
@MANY
def test_what_a_dialect_says_comes_back_where_it_is_given(dialect: Written, data: st.DataObject) -> None:
    """Text without a quote around it cannot hold what is special, so none is drawn there."""
    text = HARD_TEXT if dialect.quote else PLAIN_TEXT
    drawn = data.draw(st.lists(st.tuples(text, text), min_size=1, max_size=6))
    rows = [[f"n{number}", *each] for number, each in enumerate(drawn)]

    found, _, rejects = read(dialect.content(rows), **dialect.options)

    assert rejects == 0
    assert [row[:3] for row in found] == rows
    assert all(cell is None for row in found for cell in row[3:])


@given(dialect=TAME_DIALECT, texts=st.lists(st.tuples(WORDS, WORDS), min_size=3, max_size=8))
@MANY
def test_a_tame_file_is_read_right_or_a_warning_names_it(dialect: Written, texts: list[tuple[str, str]]) -> None:
    rows = [[str(number), *each] for number, each in enumerate(texts, 1)]

    found, warnings, rejects = read(dialect.content(rows))

    same = [row[:3] for row in found] == rows and rejects == 0
    assert same or any("a.csv" in each for each in warnings), found
    if dialect.header and not dialect.trailing:
        assert same, (found, warnings)


@given(
    rows=st.lists(st.dictionaries(st.sampled_from(NAMES), HARD_TEXT | st.none(), min_size=1), min_size=1, max_size=6)
)
@FEWER
def test_json_lines_come_back(rows: list[dict[str, str | None]]) -> None:
    content = "".join(json.dumps(row, ensure_ascii=len(row) > 1) + "\n" for row in rows).encode()

    assert _without_nulls(read_rows("a.jsonl", content)) == _without_nulls(rows)


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.none()
DOUBLES = st.floats(allow_nan=False) | st.none()
TABLES = st.lists(
    st.fixed_dictionaries({"id": NUMBERS, "name": HARD_TEXT | st.none(), "note": DOUBLES}), min_size=1, max_size=6
)


@given(rows=TABLES)
@FEWER
def test_parquet_comes_back(rows: list[dict[str, Any]]) -> None:
    schema = pa.schema({"id": pa.int64(), "name": pa.string(), "note": pa.float64()})
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), stream)

    assert read_rows("a.parquet", stream.getvalue()) == rows


@given(rows=TABLES, codec=st.sampled_from(["null", "deflate", "bzip2", "xz"]))
@FEWER
def test_avro_comes_back(rows: list[dict[str, Any]], codec: str) -> None:
    kinds = {"id": "long", "name": "string", "note": "double"}
    fields = [{"name": name, "type": ["null", kind]} for name, kind in kinds.items()]
    stream = io.BytesIO()
    schema = fastavro.parse_schema({"type": "record", "name": "T", "fields": fields})
    fastavro.writer(stream, schema, rows, codec=codec)

    assert read_rows("a.avro", stream.getvalue()) == rows


def read(content: bytes, **options: Any) -> tuple[list[list[str | None]], list[str], int]:
    """The rows of a file of delimited text, each value as its text, all warnings, and how many are set aside.

    Nothing is null in what is written, so that an empty field that is not quoted is empty text.
    """
    with tempfile.TemporaryDirectory() as folder:
        merge = Merge(Path(folder))
        merge.given("a.csv", content)
        result = merge.run(**options)
        table = merge.table()
    given = ["" if number < 3 else None for number in range(table.num_columns)]
    rows = [
        [otherwise if cell is None else str(cell) for cell, otherwise in zip(row.values(), given, strict=True)]
        for row in table.to_pylist()
    ]
    return rows, [*result.plan.warnings, *result.warnings], result.quarantined


def read_rows(name: str, content: bytes) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        merge = Merge(Path(folder))
        merge.given(name, content)
        return merge.rows()


def _without_nulls(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """JSON has no columns: a key that is missing and one that is null are the same."""
    return [{name: value for name, value in row.items() if value is not None} for row in rows]
