"""The columns of Msgpack: maps one after the other, or one array of maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgpack

from mason.errors import UnreadableFile
from mason.pipeline.file_schema import FileSchema, unique_names
from mason.pipeline.file_warnings import reason
from mason.pipeline.sampling import Budget
from mason.pipeline.types import NOTHING, Evidence, merge
from mason.pipeline.value_types import classify_records

_BATCH = 1_000
_DATETIMES = 3
_MOST_BYTES = 2**31 - 1
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
    unique_names(list(columns), warnings)
    return FileSchema("msgpack", columns, rows=count, complete=maps.at_end, warnings=warnings)


class Maps:
    """Unpacks maps and reads on while one is not complete. `problem` says why it had to stop, if it had to."""

    def __init__(self, name: str, blocks: Iterator[bytes]) -> None:
        self.at_end = False
        self.problem = ""
        self._name = name
        self._blocks = blocks
        self._is_first = True
        self._unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            timestamp=_DATETIMES,
            max_buffer_size=_MOST_BYTES,
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
                    break
                continue
            except _BROKEN as error:
                self.problem = f"it is not valid Msgpack: {error}"
                break
            if isinstance(value, dict):
                records.append(value)
        return records

    def _read_on(self) -> bool:
        try:
            block = next(self._blocks, b"")
        except UnreadableFile as error:
            self.problem = reason(error, self._name)
            return False
        self.at_end = not block
        self._unpacker.feed(block)
        if self._is_first and _begins_array(block):
            self._unpacker.read_array_header()  # its elements are then read as if they stood alone
        self._is_first = False
        return not self.at_end


def _begins_array(block: bytes) -> bool:
    return 0x90 <= block[0] <= 0x9F or (block[0] in (0xDC, 0xDD) and len(block) >= 5)
