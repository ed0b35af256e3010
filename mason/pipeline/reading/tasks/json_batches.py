"""The records of JSON in batches, each record accounted for."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.json.parse import Line, LongLine, ParsedLines, lines_in, parse_lines, split_lines
from mason.pipeline.formats.json.values import (
    DIGITS_DECODER,
    BadElement,
    NotAnObject,
    load,
    load_all,
    load_each,
    load_object,
)
from mason.pipeline.reading.tasks.batches import Batch, Place, json_text, rows_batch
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.reading.tasks.text_blocks import BLOCK, utf8_blocks
from mason.pipeline.reading.tasks.text_checks import long_record, refuse_long_value, reject_long_fields
from mason.pipeline.tables.rejects import Reject

ROWS = 20_000
MOST_MISSES = 3  # a file whose chunks were so often in a row too odd for the fast parser is not tried any more


def read_json_lines(
    filesystem: pafs.FileSystem, file: FileInTask, targets: Mapping[str, pa.DataType]
) -> Iterator[Batch]:
    """Yield the records of a file of lines. `targets` are the types that the table has for its keys."""
    number, offset, misses = 1, file.offset, 0
    notes: list[str] = []
    for text in split_lines(utf8_blocks(filesystem, file, notes), BLOCK, file.field_bytes):
        if isinstance(text, LongLine):
            begins = text.begins.decode("utf-8", "surrogateescape")
            yield Batch(columns={}, rows=0, records=1, rejects=[long_record(file, number, offset, text.length, begins)])
            number, offset = number + 1, offset + text.length
            continue
        parsed = parse_lines(text, targets, file.constants, own=file.is_own) if misses < MOST_MISSES else None
        misses = misses + 1 if parsed is None else 0
        lines = partial(lines_in, text, number, offset)
        batches = _load_lines(file, lines()) if parsed is None else [_batch_of_parsed(parsed, lines)]
        yield from (reject_long_fields(each, file, len(text)) for each in batches)
        number += text.count(b"\n") if parsed is None else parsed.lines
        offset += len(text)
    if notes:
        yield Batch(columns={}, rows=0, records=0, notes=notes)


def _batch_of_parsed(parsed: ParsedLines, lines: Callable[[], Iterator[Line]]) -> Batch:
    placed = cache(lambda: list(map(_place, lines())))
    return Batch(columns=parsed.columns, rows=parsed.rows, records=parsed.rows, place=lambda row: placed()[row])


def _load_lines(file: FileInTask, lines: Iterator[Line]) -> Iterator[Batch]:
    while some := list(islice(lines, ROWS)):
        yield _batch_of_lines(file, some)


def _batch_of_lines(file: FileInTask, lines: Sequence[Line]) -> Batch:
    """Read lines one by one: whatever is wrong with one of them does not touch the others."""
    rows, good, rejects = [], [], []
    for line in lines:
        try:
            rows.append(load_object(line.text, _decoder(file)))
            good.append(line)
        except NotAnObject as problem:
            rejects.append(Reject(file.name, line.number, line.offset, "", str(problem), line.raw))
    return replace(rows_batch(rows, len(lines), rejects), place=lambda row: _place(good[row]))


def _decoder(file: FileInTask) -> json.JSONDecoder | None:
    """In a file that Mason wrote a number may be a decimal, of which a double would lose digits."""
    return DIGITS_DECODER if file.is_own else None


def _place(line: Line) -> Place:
    return Place(line.number, line.offset, line.raw)


def read_json(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    """Yield the records of an array of objects, or objects in any lines: such JSON has no place to be cut at."""
    notes: list[str] = []
    blocks = refuse_long_value(file, utf8_blocks(filesystem, file, notes))
    content = b"".join(blocks).removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8")
        elements = _load_elements(text, _decoder(file))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(file.name, f"it is not valid JSON: {error}.") from error
    rows = [each for each in elements if isinstance(each, dict)]
    others = [(number, each) for number, each in enumerate(elements, 1) if not isinstance(each, dict)]
    rejects = [_reject_element(file, number, each) for number, each in others]
    batch = replace(rows_batch(rows, len(elements), rejects), notes=notes)
    yield reject_long_fields(batch, file, len(content))


def _load_elements(text: str, decoder: json.JSONDecoder | None) -> Sequence[Any]:
    """All at once, which is quick; one by one where some of them are nothing that a table can hold."""
    try:
        return load(text, decoder) if text.lstrip().startswith("[") else load_all(text, decoder)
    except NotAnObject:
        return load_each(text, decoder)


def _reject_element(file: FileInTask, number: int, element: Any) -> Reject:
    if isinstance(element, BadElement):
        return Reject(file.name, number, -1, "", element.reason, element.text)
    return Reject(file.name, number, -1, "", "it is not a JSON object", json_text(element))
