"""The columns of a delimited text file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from mason.errors import UnreadableFile
from mason.pipeline.csv_dialect import column_names, detect_delimiter, has_header
from mason.pipeline.csv_reader import RecordReader
from mason.pipeline.file_schema import FileSchema, unique_names
from mason.pipeline.odd_values import OddValue, odd_value
from mason.pipeline.sampling import Budget
from mason.pipeline.text_buffer import TextBuffer
from mason.pipeline.text_types import classify
from mason.pipeline.types import NOTHING, TEXT, Evidence, merge


@dataclass(frozen=True)
class CsvOptions:
    """What the user says of a file's dialect, and its name; what is empty or None is detected."""

    delimiter: str = ""
    likely_delimiter: str = ""
    read_headers: bool | None = None
    nulls: Collection[str] = ()


def read_csv(
    name: str, texts: Iterator[str], options: CsvOptions, budget: Budget, headers: dict[str, str]
) -> FileSchema | None:
    """Return the columns of a text that comes block by block, or None if there is no record in it.

    `headers` are first lines of other files that turned out to be headers, with their delimiters: who begins with the
    same line needs no second look. Records are numbered from 1, the header included.

    Raises:
        UnreadableFile: the first record has no end within reach.
    """
    warnings: list[str] = []
    buffer = TextBuffer(name, texts, warnings)
    buffer.skip("\n")
    line = buffer.text.partition("\n")[0]
    delimiter = options.delimiter or headers.get(line) or _find_delimiter(buffer.text, line, options.likely_delimiter)
    reader = RecordReader(buffer, delimiter, budget.most, warnings)
    rows = reader.next_rows(budget.rows + 1)
    if not rows and not buffer.is_exhausted():
        raise UnreadableFile(name, f"its first record does not end within {budget.most:,} characters.")
    if not rows:
        return None
    header = options.read_headers
    if header is None:
        header = headers.get(line) == delimiter or has_header(rows)
    if header:
        headers[line] = delimiter
    names = unique_names(column_names(rows[0], header=header), warnings)
    batches = _batches(reader, buffer, rows[1:] if header else rows[: budget.rows], budget)
    columns, count, odd = _classify_batches(batches, len(names), 1 + header, options.nulls, warnings)
    if header and not count and not buffer.is_exhausted():
        warnings.append(f"no record below its header ends within {budget.most:,} characters")
    return FileSchema(
        format="csv",
        columns=dict(zip(names, columns, strict=True)),
        rows=count,
        complete=buffer.is_exhausted(),
        header=header,
        warnings=warnings,
        delimiter=delimiter,
        quoted=buffer.quoted,
        odd_values={names[number]: each for number, each in odd.items()},
    )


def _find_delimiter(text: str, line: str, likely: str) -> str:
    """The delimiter that the file's name promises, if its first line keeps the promise."""
    return likely if likely and likely in line else detect_delimiter(text)


def _batches(
    reader: RecordReader, buffer: TextBuffer, rows: list[list[str]], budget: Budget
) -> Iterator[list[list[str]]]:
    """Yield the records of the first block, and more as long as the budget wants them."""
    count = 0
    while True:
        if rows:
            yield rows
        count += len(rows)
        if count >= budget.rows:
            return
        buffer.read_on()
        if count >= budget.enough and not buffer.at_end:
            return
        rows = reader.next_rows(budget.rows - count)
        if not rows:
            return


def _classify_batches(
    batches: Iterator[list[list[str]]], width: int, number: int, nulls: Collection[str], warnings: list[str]
) -> tuple[list[Evidence], int, dict[int, OddValue]]:
    seen = [NOTHING] * width
    odd: dict[int, OddValue] = {}
    count = 0
    ragged = False
    for rows in batches:
        if not ragged and set(map(len, rows)) != {width}:
            warnings.append(_first_ragged(rows, width, number + count))
            ragged = True
        whole = _whole(rows, width)
        values = _columns(whole if whole or count else rows, width)
        found = [classify(column, nulls) for column in values]
        texts = [index for index in range(width) if found[index] is TEXT and not TEXT.scalars <= seen[index].scalars]
        if texts and whole:
            records = _numbers_of_whole(rows, width, number + count)
            odd |= {index: each for index in texts if (each := odd_value(values[index], nulls, records))}
        seen = [merge(one, other) for one, other in zip(seen, found, strict=True)] if count else found
        count += len(rows)
    return seen, count, odd


def _whole(rows: list[list[str]], width: int) -> list[list[str]]:
    """The records that have all fields: in another one a value may stand below a column that is not its own."""
    return [row for row in rows if len(row) == width]


def _numbers_of_whole(rows: list[list[str]], width: int, first: int) -> list[int]:
    return [first + index for index, row in enumerate(rows) if len(row) == width]


def _first_ragged(rows: list[list[str]], width: int, number: int) -> str:
    index, fields = next((index, len(row)) for index, row in enumerate(rows) if len(row) != width)
    return f"record {number + index:,} has {fields:,} field{'s' * (fields != 1)} instead of {width:,}"


def _columns(rows: list[list[str]], width: int) -> list[tuple[str, ...]]:
    """The records' fields by column. What a short record lacks is null; what a long one has too many has no column."""
    columns = list(zip_longest(*rows, fillvalue=""))[:width]
    return columns + [()] * (width - len(columns))
