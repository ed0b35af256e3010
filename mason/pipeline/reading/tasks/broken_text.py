"""Text in typed files that is no text: its records go to the quarantine, since hardly any reader would take it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from mason.pipeline.formats.sources import ArrowSource
from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.tasks.task import FileInTask


def set_aside_broken_text(batch: Batch, file: FileInTask) -> Batch:
    """Return a batch without the rows that have bytes which are not UTF-8 where text should be."""
    broken: dict[int, str] = {}
    for name, source in batch.columns.items():
        if isinstance(source, ArrowSource) and not _is_sound(source.values):
            broken.update({row: name for row in _rows_with_broken_text(source.values) if row not in broken})
    if not broken:
        return batch
    shown = _with_bytes(batch, set(broken.values()))
    rejects = [
        replace(shown.describe(file.name, row), column=name, reason="its text is not valid UTF-8")
        for row, name in sorted(broken.items())
    ]
    kept = batch.take([row for row in range(batch.rows) if row not in broken])
    return replace(kept, rejects=[*batch.rejects, *rejects])


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
