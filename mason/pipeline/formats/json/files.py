"""The columns of JSON: lines of objects, an array of objects, or one object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mason.errors import UnreadableFile
from mason.pipeline.formats.file_schema import FileSchema, unique_names
from mason.pipeline.formats.json.values import (
    EXACT_DECODER,
    NotAnObject,
    check_characters,
    end_of_value,
    load,
    may_have_halves,
)
from mason.pipeline.formats.odd_values import OddValue, odd_text
from mason.pipeline.formats.sampling import Budget
from mason.pipeline.formats.text_buffer import TextBuffer
from mason.pipeline.types.column_types import NOTHING, TEXT, Evidence, merge
from mason.pipeline.types.value_types import classify_records
from mason.util.words import counted

_BLANK = " \t\n"
_FIRST_LINES = 10
_SEPARATORS = re.compile(r"[\s,]*")
_decode = EXACT_DECODER.raw_decode
_BROKEN = (ValueError, RecursionError)

Record = dict[str, Any]


def read_json(name: str, texts: Iterator[str], budget: Budget, *, claims_lines: bool) -> FileSchema | None:
    """Return the columns of JSON text that comes block by block, or None if there is nothing in it.

    Raises:
        UnreadableFile: there is not one JSON object in it.
    """
    warnings: list[str] = []
    buffer = TextBuffer(name, texts, warnings)
    buffer.skip(_BLANK)
    if buffer.is_exhausted():
        return None
    while "\n" not in buffer.text and not buffer.at_end and len(buffer.text) < budget.most:
        buffer.read_on()  # a record may be longer than a block
    lines = _is_lines(buffer.text)
    source = _Lines(buffer) if lines else _Elements(buffer)
    columns, count, odd = _classify(buffer, source, budget)
    if not count and buffer.is_exhausted() and not source.problem:
        return None
    if not count:
        reason = source.problem or f"no JSON object ends within its first {budget.most:,} characters"
        raise UnreadableFile(name, f"{reason}.")
    if source.problem:
        warnings.append(source.problem)
    unique_names(list(columns), warnings)
    return FileSchema(
        format="jsonl" if lines and (claims_lines or count > 1) else "json",
        columns=columns,
        rows=count,
        complete=buffer.is_exhausted(),
        warnings=warnings,
        odd_values=odd,
    )


def _is_lines(text: str) -> bool:
    """Say whether a line is an object by itself. Of several lines, since the first may be the broken one."""
    lines = text.split("\n", _FIRST_LINES)[:_FIRST_LINES]
    return not text.startswith("[") and any(isinstance(_load_line(line), dict) for line in lines)


def _load_line(line: str) -> object:
    try:
        return load(line)
    except _BROKEN:
        return None


def _load_line_or_reason(line: str) -> tuple[object, str]:
    """The value in a line; or why no table can hold it, where it is one of JSON."""
    try:
        return load(line), ""
    except NotAnObject as error:
        return None, str(error)
    except _BROKEN:
        return None, ""


def _classify(
    buffer: TextBuffer, source: _Lines | _Elements, budget: Budget
) -> tuple[dict[str, Evidence], int, dict[str, OddValue]]:
    columns: dict[str, Evidence] = {}
    odd: dict[str, OddValue] = {}
    count = 0
    while True:
        was_at_end = buffer.at_end
        records = source.take(budget.rows - count)
        for name, seen in classify_records(records).items():
            before = columns.get(name, NOTHING)
            if _is_mixed(seen) and not TEXT.scalars <= before.scalars:
                found = odd_text([record.get(name) for record in records], source.numbers)
                odd |= {name: found} if found else {}
            columns[name] = merge(before, seen)
        count += len(records)
        if count >= budget.rows or was_at_end or len(buffer.text) >= budget.most:
            return columns, count, odd
        buffer.read_on()
        if count >= budget.enough and not buffer.at_end:
            return columns, count, odd


def _is_mixed(seen: Evidence) -> bool:
    """Say whether there is text among values that are none."""
    return TEXT.scalars < seen.scalars


class _Lines:
    """One object per line. A line that is none is told by its number, and left out."""

    def __init__(self, buffer: TextBuffer) -> None:
        self._buffer = buffer
        self._line = 0
        self.numbers: list[int] = []
        """The numbers of the records that were taken last."""
        self._bad = 0
        self._first_bad = ""

    @property
    def problem(self) -> str:
        others = f", and {counted(self._bad - 1, 'more line')} cannot be read" if self._bad > 1 else ""
        return self._first_bad + others

    def take(self, limit: int) -> list[Record]:
        buffer = self._buffer
        head, end, rest = (buffer.text, "", "") if buffer.at_end else buffer.text.rpartition("\n")
        lines = head.split("\n", limit) if head else []
        buffer.text = lines.pop() + end + rest if len(lines) > limit else rest
        records = []
        self.numbers = []
        for line in lines:
            self._line += 1
            value, why = _load_line_or_reason(line)
            if isinstance(value, dict):
                records.append(value)
                self.numbers.append(self._line)
            elif line.strip():
                self._bad += 1
                problem = f"cannot be read: {why}" if why else "is not a JSON object"
                self._first_bad = self._first_bad or f"line {self._line:,} {problem}"
        return records


class _Elements:
    """The objects of an array, or objects one after the other, however they are laid out in lines."""

    def __init__(self, buffer: TextBuffer) -> None:
        self._buffer = buffer
        self.problem = ""
        self._count = 0
        self.numbers: list[int] = []
        self._open_array = buffer.text.startswith("[")
        self._closed = False
        buffer.text = buffer.text.removeprefix("[")

    def take(self, limit: int) -> list[Record]:
        text = self._buffer.text
        has_halves = may_have_halves(text)
        position = 0
        records: list[Record] = []
        self.numbers = []
        while len(records) < limit:
            position = _skip_separators(text, position)
            if text.startswith("]", position) and not self._closed:
                self._open_array, self._closed = False, True
                position += 1
                continue
            if self._closed and position < len(text):
                self.problem = "there is something behind the end of its array"
                position = len(text)
            if position == len(text):
                break
            value: object
            try:
                value, after = self._decode(text, position, has_halves=has_halves)
            except _BROKEN as error:
                if self._buffer.at_end or not _is_cut_off(error, len(text)):
                    self.problem = f"it is not valid JSON: {error}"
                    position = len(text)
                break
            position = after
            self._count += 1
            if isinstance(value, dict):
                records.append(value)
                self.numbers.append(self._count)
            elif isinstance(value, NotAnObject):
                self.problem = self.problem or f"record {self._count:,} cannot be read: {value}"
            else:
                self.problem = "it holds values that are no JSON objects"
        self._buffer.text = text[position:]
        if self._buffer.is_exhausted() and self._open_array and not self.problem:
            self.problem = "its array is not closed"
        return records

    def _decode(self, text: str, position: int, *, has_halves: bool) -> tuple[object, int]:
        """A value and where it ends; for one that no table can hold, why that is so."""
        try:
            value, after = _decode(text, position)
            if has_halves:
                check_characters(text[position:after], value)
            return value, after
        except NotAnObject as problem:
            return problem, end_of_value(text, position)


def _skip_separators(text: str, position: int) -> int:
    found = _SEPARATORS.match(text, position)
    return found.end() if found else position


def _is_cut_off(error: Exception, length: int) -> bool:
    """Say whether the text merely ends too early, so that more of it may mend it."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= length - len("false\\u0000")
