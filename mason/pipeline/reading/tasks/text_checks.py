"""Text that no table should hold: fields longer than a server reads, and bytes in typed files that are no text.

Their records go to the quarantine, with their place and their beginning. A record of which a field is seen to be too
long while it is still being read is passed over to its end, and never held as a whole: a compressed file of a megabyte
may have one of a gigabyte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mason.errors import UnreadableFile
from mason.pipeline.formats.sources import ArrowSource, Source, ValueSource
from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.work.memory_limits import size_of

SHOWN = 1000
"""So many characters are kept of a record that is too long."""

_QUOTE = b'"'


def long_record(file: FileInTask, number: int, offset: int, length: int, begins: str, column: str = "") -> Reject:
    """Return a record with a field that is too long; of the record that was passed over, its length is told."""
    what = f"a field has {length:,} bytes" if column else f"a field of this record of {length:,} bytes is too long"
    reason = f"{what}: the most that is read here are {file.field_bytes:,} (field_bytes); Raw is its beginning"
    return Reject(file.name, number, offset, column, reason, begins[:SHOWN])


def reject_long_fields(batch: Batch, file: FileInTask, held: int) -> Batch:
    """Return a batch without the rows that have a field which is too long; they become rejects.

    `held` is how many bytes the rows came from: as a rule they are fewer than one field may have.
    """
    most = file.field_bytes
    if most is None or held <= most:
        return batch
    long: dict[int, tuple[str, int]] = {}
    for name, source in batch.columns.items():
        for row, size in _long_values(source, batch.rows, most):
            long.setdefault(row, (name, size))
    rejects = [_shorten_reject(each, most) for each in batch.rejects]
    if not long:
        return replace(batch, rejects=rejects)
    for row, (name, size) in sorted(long.items()):
        found = batch.describe(file.name, row)
        rejects.append(long_record(file, found.record, found.offset, size, found.raw, name))
    return replace(batch.take([row for row in range(batch.rows) if row not in long]), rejects=rejects)


def refuse_long_value(file: FileInTask, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks of a document of JSON, which nothing can be left out of.

    Raises:
        UnreadableFile: a text in it is too long.
    """
    length = 0
    for block in blocks:
        at = block.rfind(_QUOTE)
        length = length + len(block) if at < 0 else len(block) - at
        if file.field_bytes is not None and length > file.field_bytes:
            raise UnreadableFile(
                file.name,
                f"a value has more than {file.field_bytes:,} bytes, which is the most that is read here (field_bytes).",
                hint="JSON lines lose but the record.",
            )
        yield block


def _shorten_reject(reject: Reject, most: int) -> Reject:
    if len(reject.raw) <= most:
        return reject
    return replace(reject, raw=reject.raw[:SHOWN], reason=f"{reject.reason}; Raw is its beginning")


def _long_values(source: Source, rows: int, most: int) -> Iterator[tuple[int, int]]:
    if isinstance(source, ValueSource):
        yield from _long_of(((row, size_of(value)) for row, value in enumerate(source.values)), most)
        return
    values = getattr(source, "values", None)
    if not isinstance(values, pa.Array) or values.nbytes <= most:
        return
    if _has_lengths(values.type):
        lengths: Sequence[Any] = pc.fill_null(pc.binary_length(values), 0).to_pylist()
        yield from _long_of(enumerate(lengths), most)
    else:
        yield from _long_of(((row, values.slice(row, 1).nbytes) for row in range(rows)), most)


def _long_of(sizes: Iterable[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    return ((row, size) for row, size in sizes if size > most)


def _has_lengths(kind: pa.DataType) -> bool:
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def reject_broken_text(batch: Batch, file: FileInTask) -> Batch:
    """Return a batch without the rows that have bytes which are not UTF-8 where text should be."""
    broken: dict[int, str] = {}
    for name, source in batch.columns.items():
        if isinstance(source, ArrowSource) and not _is_sound(source.values):
            broken.update({row: name for row in _rows_with_broken_text(source.values) if row not in broken})
    if not broken:
        return batch
    readable = _with_bytes(batch, set(broken.values()))
    rejects = [
        replace(readable.describe(file.name, row), column=name, reason="its text is not valid UTF-8")
        for row, name in sorted(broken.items())
    ]
    rest = batch.take([row for row in range(batch.rows) if row not in broken])
    return replace(rest, rejects=[*batch.rejects, *rejects])


def _is_sound(values: pa.Array) -> bool:
    if not (_is_text(values.type) or pa.types.is_nested(values.type) or pa.types.is_dictionary(values.type)):
        return True
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True


def _rows_with_broken_text(values: pa.Array) -> Iterator[int]:
    return (row for row in range(len(values)) if not _is_sound(values.slice(row, 1)))


def _with_bytes(batch: Batch, names: set[str]) -> Batch:
    """The batch as it can be shown: bytes that are no text are bytes."""
    columns = dict(batch.columns)
    for name in names:
        values = batch.columns[name].values  # type: ignore[attr-defined]
        columns[name] = ArrowSource(values.cast(pa.binary()) if _is_text(values.type) else pa.nulls(len(values)))
    return replace(batch, columns=columns)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
