"""The columns of a file that Mason wrote, as they were before the format made something else of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from mason.errors import UnreadableFile
from mason.pipeline.formats.sources import ArrowSource, Source
from mason.pipeline.formats.writers.output_format import output_format


def types_as_stored(format_: str, schema: pa.Schema) -> pa.Schema:
    """Return the schema with the types that really stand in a file: a fast parser may expect these."""
    codec = output_format(format_).codec
    return pa.schema([pa.field(each.name, codec(each.type).stored) for each in schema])


def read_back(
    file: str,
    format_: str,
    found: Mapping[str, Source],
    names: Sequence[str],
    schema: pa.Schema,
    rows: int,
    wanted: Collection[str] = (),
) -> dict[str, Source]:
    """Return the columns, which have these names in the table, of what a reader of the format found in a file.

    Raises:
        UnreadableFile: something else stands there than Mason wrote.
    """
    output = output_format(format_)
    assert output.decode is not None
    columns: dict[str, Source] = {}
    for name, stored in zip(names, output.names(names), strict=True):
        if stored not in found or (wanted and name not in wanted):
            continue
        try:
            columns[name] = ArrowSource(output.decode(found[stored], schema.field(name).type, rows))
        except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
            problem = f'column "{name}" is not as Mason wrote it: {str(error).splitlines()[0]}'
            raise UnreadableFile(file, problem) from error
    return columns
