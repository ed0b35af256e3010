"""The columns of Msgpack: maps one after the other, or one array of maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgpack

from mason.errors import UnreadableFile
from mason.pipeline.file_schema import FileSchema, unique_names
from mason.pipeline.sampling import Budget
from mason.pipeline.types import NOTHING, Evidence, merge
from mason.pipeline.value_types import classify_records

_BATCH = 1_000
_DATETIMES = 3
_BROKEN = (ValueError, msgpack.UnpackException, RecursionError)


def read_msgpack(name: str, blocks: Iterator[bytes], budget: Budget) -> FileSchema | None:
    """Return the columns of Msgpack that comes block by block, or None if there is nothing in it.

    Raises:
        UnreadableFile: there is not one map in it.
    """
    warnings: list[str] = []
    columns: dict[str, Evidence] = {}
    reader = _Maps(name, blocks, budget.most, warnings)
    count = 0
    while records := reader.take(min(_BATCH, budget.rows - count)):
        count += len(records)
        for column, seen in classify_records(records).items():
            columns[column] = merge(columns.get(column, NOTHING), seen)
    if not count and not reader.size:
        return None
    if not count:
        raise UnreadableFile(name, "there is no Msgpack map in it.")
    unique_names(list(columns), warnings)
    return FileSchema("msgpack", columns, rows=count, complete=reader.at_end, warnings=warnings)


class _Maps:
    """Unpacks maps and reads on while one is not complete."""

    def __init__(self, name: str, blocks: Iterator[bytes], most: int, warnings: list[str]) -> None:
        self.at_end = False
        self.size = 0
        self._blocks = blocks
        self._most = most
        self._warnings = warnings
        self._name = name
        self._unpacker = msgpack.Unpacker(
            raw=False, strict_map_key=False, timestamp=_DATETIMES, max_buffer_size=2**31 - 1
        )
        self._feed()

    def take(self, limit: int) -> list[dict[Any, Any]]:
        records: list[dict[Any, Any]] = []
        while len(records) < limit:
            try:
                value = self._unpacker.unpack()
            except msgpack.OutOfData:
                if not self._feed():
                    break
                continue
            except _BROKEN as error:
                self._warnings.append(f"only its beginning is Msgpack: {error}")
                break
            if isinstance(value, dict):
                records.append(value)
        return records

    def _feed(self) -> bool:
        block = next(self._blocks, b"")
        self.at_end = not block
        if not self.size and block and (block[0] & 0xF0 == 0x90 or block[0] in (0xDC, 0xDD)):
            self._unpacker.feed(block)
            self._unpacker.read_array_header()
        elif block:
            self._unpacker.feed(block)
        self.size += len(block)
        return bool(block)
