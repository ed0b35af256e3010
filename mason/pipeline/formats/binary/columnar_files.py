"""The columns of files that declare them: Parquet, ORC and Avro. Only footers and headers are read, never data.

Lists that Arrow keeps as views are rebuilt as plain ones: its own cast makes lists that lack their last offset, and
whoever reads those reads beyond their end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from mason.errors import UnreadableFile
from mason.pipeline.formats.file_schema import FileSchema, unique_names
from mason.pipeline.formats.writers.codecs import map_parts
from mason.pipeline.storage.blocks import open_bytes, translate_read_errors
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import TEXT, evidence_of

if TYPE_CHECKING:
    import pyarrow.fs as pafs
    import pyarrow.parquet as pq

_HEADER = 16 * 1024  # an Avro header is read in many small pieces

_BROKEN = (pa.ArrowException, OSError, EOFError, MemoryError, RecursionError, UnicodeDecodeError)
_BROKEN_ELSEWHERE = (ValueError, LookupError, ArithmeticError)
"""Raised by a library these are about a file; raised by Mason they are bugs."""


def read_parquet(filesystem: pafs.FileSystem, file: DataFile) -> FileSchema:
    """Return the columns that a Parquet file's footer declares.

    Raises:
        UnreadableFile: it has no valid footer, as when it was only half written.
    """
    from mason.pipeline.formats.binary.parquet_files import columns_of_words, find_lost_marks, open_parquet

    with (
        translate_read_errors(file, filesystem),
        filesystem.open_input_file(file.path) as source,
        translate_parser_errors(file.name, "Parquet"),
    ):
        footer = open_parquet(source)
        schema = footer.schema_arrow
        details = _parquet_details(footer.schema, schema)
        declared = _declared_schema("parquet", schema, details, footer.metadata.num_rows, find_lost_marks(footer))
        return replace(declared, columns={**declared.columns, **dict.fromkeys(columns_of_words(footer), TEXT)})


def read_orc(filesystem: pafs.FileSystem, file: DataFile) -> FileSchema:
    """Return the columns that an ORC file's footer declares.

    Raises:
        UnreadableFile: it has no valid footer.
    """
    from pyarrow import orc

    from mason.pipeline.formats.binary.orc_files import find_encrypted_columns

    with (
        translate_read_errors(file, filesystem),
        filesystem.open_input_file(file.path) as source,
        translate_parser_errors(file.name, "ORC"),
    ):
        footer = orc.ORCFile(source)
        notes = [f'column "{name}" is encrypted: masked values stand for it' for name in find_encrypted_columns(footer)]
        return _declared_schema("orc", footer.schema, stated_rows=footer.nrows, notes=notes)


def read_avro(filesystem: pafs.FileSystem, file: DataFile) -> FileSchema:
    """Return the columns that an Avro file's header declares.

    Raises:
        UnreadableFile: it has no valid header, or one that is not read.
    """
    from mason.pipeline.formats.binary.avro_files import open_avro

    with translate_read_errors(file, filesystem), open_bytes(filesystem, file.path, buffer=_HEADER) as source:
        columns = open_avro(file.name, source).columns
        return _declared_schema("avro", columns.schema, notes=columns.notes)


@contextmanager
def translate_parser_errors(name: str, format_: str, *broken: type[Exception]) -> Iterator[None]:
    """Turn what a format's own parser raises on bytes that make no sense into one message that names the file.

    `broken` is what it raises besides what all of them do. What Mason itself raises is a bug, and stays what it is.
    """
    try:
        yield
    except (*_BROKEN, *_BROKEN_ELSEWHERE, *broken) as error:
        if not isinstance(error, _BROKEN) and _is_raised_here(error):
            raise
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableFile(name, f"not a complete {format_} file: {said}") from error


def _is_raised_here(error: BaseException) -> bool:
    """Say whether the last thing that ran was Mason's own."""
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    return place is not None and str(place.tb_frame.f_globals.get("__name__", "")).startswith("mason.")


def _declared_schema(
    format_: str,
    schema: pa.Schema,
    details: Mapping[str, Mapping[str, str]] | None = None,
    stated_rows: int | None = None,
    notes: Sequence[str] = (),
) -> FileSchema:
    warnings = list(notes)
    names = unique_names(schema.names, warnings)
    return FileSchema(
        format=format_,
        columns={name: evidence_of(each) for name, each in zip(names, schema.types, strict=True)},
        warnings=warnings,
        required=frozenset(name for name, each in zip(names, schema, strict=True) if not each.nullable),
        details=details or {},
        stated_rows=stated_rows,
    )


def _parquet_details(physical: pq.ParquetSchema, schema: pa.Schema) -> Mapping[str, Mapping[str, str]]:
    """Parquet's own words for each column that is not nested, under the keys that Mason prints."""
    leaves = {leaf.path: leaf for leaf in map(physical.column, range(len(physical)))}
    flat = [each.name for each in schema if not pa.types.is_nested(each.type)]
    return {
        name: {"Type": leaves[name].physical_type, "ConvertedType": leaves[name].converted_type or "NONE"}
        for name in flat
    }


def without_views(values: pa.Array) -> pa.Array:
    """Return a column in which no list is a view, whatever it is inside of."""
    if not _has_views(values.type):
        return values
    if pa.types.is_struct(values.type):
        inside = [without_views(values.field(number)) for number in range(values.type.num_fields)]
        fields = [old.with_type(new.type) for old, new in zip(values.type, inside, strict=True)]
        return pa.StructArray.from_arrays(inside, fields=fields, mask=values.is_null())
    if pa.types.is_map(values.type):
        offsets, keys, items = map_parts(values)
        return pa.MapArray.from_arrays(offsets, without_views(keys), without_views(items), mask=values.is_null())
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_pylist()
    offsets = pa.array(accumulate(lengths, initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, without_views(values.flatten()), mask=values.is_null())


def _has_views(kind: pa.DataType) -> bool:
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return pa.types.is_nested(kind) and any(_has_views(kind.field(n).type) for n in range(kind.num_fields))
