"""The columns of Msgpack: maps one after the other, or one array of maps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgpack
from msgpack import Timestamp

from mason.errors import UnreadableFile
from mason.pipeline.formats.file_schema import FileSchema, unique_names
from mason.pipeline.formats.file_warnings import reason
from mason.pipeline.formats.sampling import Budget
from mason.pipeline.types.column_types import NOTHING, Evidence, merge
from mason.pipeline.types.value_types import classify_records

_BATCH = 1_000
_TIMESTAMPS = 0
_MOST_BYTES = 2**31 - 1
_LEAST_BUFFER = 64 * 1024 * 1024
_MOST_ELEMENTS = 1_000_000  # of one list inside a map: broken bytes claim billions, and room is made at once
_BROKEN = (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException)


def read_msgpack(name: str, blocks: Iterator[bytes], budget: Budget) -> FileSchema:
    """Return the columns of Msgpack that comes block by block.

    Raises:
        UnreadableFile: there is not one map in it.
    """
    columns: dict[str, Evidence] = {}
    maps = Maps(name, blocks)
    count = 0
    while records := maps.take(min(_BATCH, budget.rows - count)):
        count += len(records)
        for column, seen in classify_records(records).items():
            columns[column] = merge(columns.get(column, NOTHING), seen)
    if not count:
        raise UnreadableFile(name, maps.problem or "there is no Msgpack map in it.")
    warnings = [f"only its beginning could be read: {maps.problem}"] if maps.problem else []
    if maps.others:
        warnings.append("it holds values that are no maps")
    unique_names(list(columns), warnings)
    return FileSchema(format="msgpack", columns=columns, rows=count, complete=maps.at_end, warnings=warnings)


class Maps:
    """Unpacks maps and reads on while one is not complete. `problem` says why it had to stop, if it had to.

    A map of more than twice the bytes that a field may have is never held as a whole: there it has to stop.

    `others` are values that are no maps, each with its number among all values, from 1; the reader empties the list.
    `finer` counts the times that lost something, because a datetime has microseconds.
    """

    def __init__(self, name: str, blocks: Iterator[bytes], most_field: int | None = None) -> None:
        self._most = _MOST_BYTES if most_field is None else min(_MOST_BYTES, max(2 * most_field, _LEAST_BUFFER))
        self.at_end = False
        self.problem = ""
        self.others: list[tuple[int, Any]] = []
        self.finer = 0
        self._values = 0
        self._promised = 0
        self._bytes = 0
        self.whole = 0
        self._name = name
        self._blocks = blocks
        self._is_first = True
        self._unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            object_pairs_hook=self._columns_by_name,
            list_hook=self._with_datetimes,
            timestamp=_TIMESTAMPS,
            max_buffer_size=self._most,
            max_array_len=_MOST_ELEMENTS,
            max_map_len=_MOST_ELEMENTS,
        )

    def take(self, limit: int) -> list[dict[Any, Any]]:
        records: list[dict[Any, Any]] = []
        while len(records) < limit and not self.problem:
            try:
                value = self._unpacker.unpack()
            except msgpack.OutOfData:
                if not self._read_on():
                    self._check_end()
                    break
                continue
            except _BROKEN as error:
                self.problem = f"it is not valid Msgpack: {error}"
                break
            self._values += 1
            self.whole = self._unpacker.tell()
            if isinstance(value, dict):
                records.append(value)
            else:
                self.others.append((self._values, value))
        return records

    def _columns_by_name(self, pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
        """A column is named by a text, and each name has one value."""
        named = {str(name): self._datetime(value) if type(value) is Timestamp else value for name, value in pairs}
        if len(named) < len(pairs):
            names = [str(name) for name, _ in pairs]
            raise ValueError(f'the key "{next(name for name in names if names.count(name) > 1)}" occurs more than once')
        return named

    def _with_datetimes(self, values: list[Any]) -> list[Any]:
        return [self._datetime(value) if type(value) is Timestamp else value for value in values]

    def _datetime(self, value: Timestamp) -> datetime:
        self.finer += value.nanoseconds % 1_000 != 0
        found: datetime = value.to_datetime()
        return found

    def _check_end(self) -> None:
        """The unpacker does not mind if the last value is not whole, nor if an array has fewer than it promises."""
        if not self.problem and (self.whole < self._bytes or self._values < self._promised):
            self.problem = "it is cut off"

    def _read_on(self) -> bool:
        try:
            block = next(self._blocks, b"")
        except UnreadableFile as error:
            self.problem = reason(error, self._name)
            return False
        self.at_end = not block
        self._bytes += len(block)
        try:
            self._unpacker.feed(block)
        except msgpack.BufferFull:
            self.problem = f"a value has more than {self._most:,} bytes, which is the most that is read here"
            return False
        if self._is_first and block and _begins_array(block):
            self._promised = self._unpacker.read_array_header()  # its elements are then read as if they stood alone
            self.whole = self._unpacker.tell()
        self._is_first = False
        return not self.at_end


def _begins_array(block: bytes) -> bool:
    return 0x90 <= block[0] <= 0x9F or (block[0] in (0xDC, 0xDD) and len(block) >= 5)
