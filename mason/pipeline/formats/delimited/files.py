"""The columns of a delimited text file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from mason.errors import UnreadableFile
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.headers import Header, judge_header
from mason.pipeline.formats.delimited.options import CsvOptions
from mason.pipeline.formats.delimited.other_headers import describe_other_headers
from mason.pipeline.formats.delimited.reader import RecordReader
from mason.pipeline.formats.delimited.reading import CsvReading, text_without_footer
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY, in_quotes
from mason.pipeline.formats.delimited.shape import find_shape, mend_row
from mason.pipeline.formats.delimited.sniff import Asked, Sniffed, sniff
from mason.pipeline.formats.delimited.totals import describe_odd_lines, describe_total
from mason.pipeline.formats.file_schema import FileSchema, unique_names
from mason.pipeline.formats.odd_values import NULL_MARK, OddValue, describe_null_mark, odd_value
from mason.pipeline.formats.sampling import Budget
from mason.pipeline.formats.text_buffer import TextBuffer
from mason.pipeline.types.column_types import NOTHING, TEXT, Evidence, merge
from mason.pipeline.types.pattern_hints import PatternHint, find_hint, find_thousands
from mason.pipeline.types.text_types import classify, describe_odd_spellings

SHOWN_RECORDS = 3
LONGEST_CELL = 200


@dataclass(frozen=True)
class KnownHeader:
    """The first line of a file that turned out to be a header, how sure that is, and how that file is written."""

    dialect: Dialect
    names: Sequence[str]
    guess: Header


def read_csv(
    name: str, texts: Iterator[str], options: CsvOptions, budget: Budget, headers: dict[str, KnownHeader]
) -> FileSchema | None:
    """Return the columns of a text that comes block by block, or None if there is no record in it.

    `headers` are first lines of other files that turned out to be headers: who begins with the same line needs no
    second look. Records are numbered from 1, the header included.

    Raises:
        UnreadableFile: the first record has no end within reach.
    """
    warnings: list[str] = []
    buffer = TextBuffer(name, text_without_footer(texts, options.skip_footer), warnings)
    blank = 0 if options.asked.skip_rows else buffer.skip("\n")  # lines that are given are counted from the first on
    if not buffer.text:
        return None
    line = buffer.text.partition("\n")[0]
    sniffed = _sniff_file(buffer, options.asked, headers.get(line))
    warnings += sniffed.notes
    before = _skip_lines(buffer, sniffed.skip_rows) if sniffed.skip_rows else blank
    reader = RecordReader(buffer, sniffed.dialect, budget.most, warnings, options.nulls)
    rows = reader.next_rows(budget.rows + 1)
    if not rows and not buffer.is_exhausted():
        raise UnreadableFile(name, f"its first record does not end within {budget.most:,} characters.")
    if reader.first_problem and options.read_headers is not False:
        raise UnreadableFile(name, f"its first record cannot be read: {reader.first_problem}.")
    if not rows:
        return None
    rows[0] = _as_written(rows[0], options.nulls)
    guess = _judge(rows, options.read_headers, headers.get(line), sniffed)
    header = bool(options.read_headers) if guess is Header.GIVEN else guess.is_there
    if header and not sniffed.skip_rows:
        headers[line] = KnownHeader(sniffed.dialect, rows[0], guess)
    if header or guess is not Header.GIVEN:
        warnings += describe_other_headers(rows, reader.numbers, options.nulls, header=header)
    if not any('comment:"' in each for each in warnings):
        warnings += describe_odd_lines(rows, reader.numbers, header=header, quoted=reader.first_quoted)
    shape = find_shape(rows, header=header, first_quoted=reader.first_quoted)
    warnings += shape.notes
    names = unique_names(shape.names, warnings)
    reader.width = len(names) + shape.surplus
    first = _Batch(rows[1:], reader.numbers[1:]) if header else _Batch(rows[: budget.rows], reader.numbers, before)
    batches = _batches(reader, buffer, first, budget)
    ragged = options.ragged or shape.ragged
    skip_rows = blank + sniffed.skip_rows if sniffed.skip_rows else 0
    reading = CsvReading(
        dialect=sniffed.dialect,
        header=header,
        skip_rows=skip_rows,
        skip_footer=options.skip_footer,
        surplus=shape.surplus,
        ragged=ragged,
    )
    reading = replace(reading, all_quoted=reader.all_quoted)
    reading = _with_header(reading, rows, first.numbers, names, warnings) if header else reading
    seen = _classify_batches(batches, names, rows[0], options.nulls, warnings, reading)
    count = seen.count
    if buffer.is_exhausted() and count == len(rows) - header:
        warnings += describe_total(rows, header=header)
    if header and not count and not buffer.is_exhausted():
        warnings.append(f"no record below its header ends within {budget.most:,} characters")
    return FileSchema(
        format="csv",
        columns=dict(zip(names, seen.columns, strict=True)),
        rows=count,
        complete=buffer.is_exhausted(),
        warnings=warnings,
        csv=reading,
        guess=guess,
        first_records=[_clip_row(row, len(names)) for row in (rows[1:] if header else rows)[:SHOWN_RECORDS]],
        quoted=buffer.quoted,
        odd_values={names[number]: each for number, each in seen.odd.items()},
        hints={names[number]: each for number, each in seen.hints.items()},
        thousands={names[number]: each for number, each in seen.thousands.items()},
        spellings={names[number]: each for number, each in seen.spellings.items()},
    )


def _sniff_file(buffer: TextBuffer, asked: Asked, known: KnownHeader | None) -> Sniffed:
    signs = (known.dialect.quote, "'", f"\\{known.dialect.delimiter}") if known else ()  # the next one may be another
    if known and not asked.delimiter and known.dialect.is_simple and not any(sign in buffer.text for sign in signs):
        return Sniffed(known.dialect)
    return sniff(buffer.text, asked, final=buffer.at_end)


def _skip_lines(buffer: TextBuffer, lines: int) -> int:
    """Skip lines, and blank ones behind them, of which the number is returned."""
    for _ in range(lines):
        while "\n" not in buffer.text and not buffer.at_end:
            buffer.read_on()
        buffer.text = buffer.text.partition("\n")[2]
    return buffer.skip("\n")


def _as_written(cells: list[str], nulls: Collection[str]) -> list[str]:
    """A record that may be the header: a name that is a word for null needs no quotes to be text."""
    marked = {in_quotes(word): word for word in nulls if word != QUOTED_EMPTY}
    return [marked.get(cell, cell) for cell in cells]


def _judge(rows: list[list[str]], read_headers: bool | None, known: KnownHeader | None, sniffed: Sniffed) -> Header:
    if read_headers is not None:
        return Header.GIVEN
    if known and known.guess is Header.SURE and known.names == rows[0] and not sniffed.skip_rows:
        return Header.SURE
    return judge_header(rows)


def _with_header(
    reading: CsvReading, rows: list[list[str]], numbers: Sequence[int], names: Sequence[str], warnings: list[str]
) -> CsvReading:
    """The reading with how its header is told where it stands again among the records.

    In one column of text it may be a value.
    """
    header = rows[0]
    if len(header) != len(names):
        return reading
    cells = tuple("" if cell == QUOTED_EMPTY else cell for cell in header)
    reading = replace(reading, cells=() if cells == tuple(names) else cells)
    repeated = _as_repeated(header)
    if not any(each in rows[1:] for each in repeated):
        return reading
    again = numbers[next(n for n, row in enumerate(rows[1:]) if row in repeated)]
    if len(names) == 1 and classify([row[0] for row in rows if row not in repeated]) in (TEXT, NOTHING):
        warnings.append(
            f"its header stands again as record {again:,}: of one column of text it may be a value, and is read"
        )
        return reading
    warnings.append(f"its header stands again as record {again:,}: such records are set aside")
    return replace(reading, repeats=True)


def _as_repeated(header: Sequence[str]) -> list[list[str]]:
    """The header as it may stand again: as it is, or behind the byte order mark of the file that it began."""
    return [list(header), [f"\ufeff{header[0]}", *header[1:]]]


def _clip_row(row: list[str], width: int) -> list[str]:
    return [cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…" for cell in row[:width]]


@dataclass(frozen=True)
class _Batch:
    """Some records with their numbers. `before` are blank lines before the first, if that is no header."""

    rows: list[list[str]]
    numbers: Sequence[int]
    before: int = 0

    def number_of(self, index: int) -> int:
        return self.before + self.numbers[index]


def _batches(reader: RecordReader, buffer: TextBuffer, first: _Batch, budget: Budget) -> Iterator[_Batch]:
    """Yield the records of the first block, and more as long as the budget wants them."""
    count, batch = 0, first
    while True:
        if batch.rows:
            yield batch
        count += len(batch.rows)
        if count >= budget.rows:
            return
        buffer.read_on()
        if count >= budget.enough and not buffer.at_end:
            return
        rows = reader.next_rows(budget.rows - count)
        if not rows:
            return
        batch = _Batch(rows, reader.numbers, first.before)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What the records show: of each column, or of those that are odd by their numbers."""

    columns: list[Evidence]
    count: int
    odd: dict[int, OddValue]
    hints: dict[int, PatternHint]
    thousands: dict[int, str]
    spellings: dict[int, str]


def _classify_batches(
    batches: Iterator[_Batch],
    names: Sequence[str],
    first: Sequence[str],
    nulls: Collection[str],
    warnings: list[str],
    reading: CsvReading,
) -> _Seen:
    width = len(names)
    headers = _as_repeated(first) if reading.repeats else []
    nulls = {*nulls, *map(in_quotes, nulls)} if reading.all_quoted and nulls else nulls
    seen = [NOTHING] * width
    marked: set[int] = set()
    odd: dict[int, OddValue] = {}
    hints: dict[int, PatternHint] = {}
    spellings: dict[int, str] = {}
    thousands = dict.fromkeys(range(width), "")
    count = 0
    ragged = False
    for batch in batches:  # in a record without all fields a value may stand below a column that is not its own
        rows = list(map(mend, batch.rows)) if (mend := mend_row(reading, width)) else batch.rows
        if not ragged and set(map(len, rows)) != {width}:
            warnings.append(_first_ragged(batch, rows, width))
            ragged = True
        whole = [row for row in rows if len(row) == width and row not in headers]
        values = _columns(whole if whole or count else rows, width)
        found = [classify(column, nulls) for column in values]
        marked |= {index for index in range(width) if found[index] is TEXT and NULL_MARK in values[index]}
        texts = [index for index in range(width) if found[index] is TEXT and not TEXT.scalars <= seen[index].scalars]
        if texts and whole:
            places = (index for index, row in enumerate(rows) if len(row) == width and row not in headers)
            records = list(map(batch.number_of, places))
            odd |= {index: each for index in texts if (each := odd_value(values[index], nulls, records))}
        if not count:
            spellings = describe_odd_spellings(values, found, reading.dialect.quote)
        if texts and not count:
            hints = {index: hint for index in texts if (hint := find_hint(values[index], nulls))}
        thousands = {
            index: before or now
            for index, before in thousands.items()
            if found[index] is not TEXT and (now := find_thousands(values[index], nulls)) is not None
        }
        seen = [merge(one, other) for one, other in zip(seen, found, strict=True)] if count else found
        count += len(rows)
    warnings += [describe_null_mark(names[index]) for index in sorted(marked) if NULL_MARK not in nulls]
    return _Seen(columns=seen, count=count, odd=odd, hints=hints, thousands=thousands, spellings=spellings)


def _first_ragged(batch: _Batch, rows: list[list[str]], width: int) -> str:
    index, fields = next((index, len(row)) for index, row in enumerate(rows) if len(row) != width)
    return f"record {batch.number_of(index):,} has {fields:,} field{'s' * (fields != 1)} instead of {width:,}"


def _columns(rows: list[list[str]], width: int) -> list[tuple[str, ...]]:
    """The records' fields by column. What a short record lacks is null; what a long one has too many has no column."""
    columns = list(zip_longest(*rows, fillvalue=""))[:width]
    return columns + [()] * (width - len(columns))
