"""What Mason asks of a format that it writes, and the formats by their names."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import BadInput, Unprocessable
from mason.pipeline.formats.sources import Source
from mason.pipeline.formats.writers.codecs import Codec
from mason.pipeline.types.python_values import first_far
from mason.util.names import did_you_mean

NO_COMPRESSION = "none"

_MODULES = {
    "parquet": "parquet_writer",
    "csv": "csv_writer",
    "jsonl": "json_writer",
    "json": "json_writer",
    "orc": "orc_writer",
    "avro": "avro_writer",
    "msgpack": "msgpack_writer",
    "xlsx": "xlsx_writer",
}
OUTPUT_FORMATS = tuple(_MODULES)


class CannotHold(Unprocessable):
    """Raised when a format would change a value that is to be written in it. 422 · exit 1"""

    def __init__(self, column: str, reason: object, hint: str = "") -> None:
        super().__init__(f'Column "{column}": {reason}', hint=hint)


class TooManyForFormat(Unprocessable):
    """Raised when there are more rows or columns than a format has room for. 422 · exit 1"""


class FileWriter(ABC):
    """Writes one file to a stream. It is complete when it is closed; who opened the stream closes it."""

    @property
    def pending(self) -> int:
        """About how many bytes are still to be written of the rows that it has."""
        return 0

    @property
    def noted(self) -> Mapping[str, int]:
        """What became of single values that the format does not have, and of how many."""
        return {}

    @abstractmethod
    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows.

        Raises:
            CannotHold: some value would come out as another one.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what comes at the end."""


@dataclass(frozen=True, kw_only=True)
class OutputFormat:
    """A format: what it makes of types, how a file of it is written, and how its rows are counted again."""

    name: str
    extension: str
    compressions: Mapping[str, str]
    """What compresses a file, and how its name then ends; the first one is taken by default."""
    codec: Callable[[pa.DataType], Codec]
    """Says as what the values of a type are stored."""
    open: Callable[[Any, pa.Schema, str], FileWriter]
    """Begins a file on a stream."""
    count: Callable[[pafs.FileSystem, str], int]
    """Counts the rows that a file really has."""
    decode: Callable[[Source, pa.DataType, int], pa.Array] | None = None
    """Makes of what a reader found, of so many rows, the column that was written; none where Mason does not read it."""
    names: Callable[[Sequence[str]], Sequence[str]] = list
    """Gives the names that columns have in the file."""
    is_document: bool = False
    """All rows are one document: it cannot be written in parts."""
    package: Callable[[], object] | None = None
    """Imports the package that writes it, where that is not one of Mason's own."""
    most_rows: int | None = None
    most_columns: int | None = None

    @property
    def compression(self) -> str:
        return next(iter(self.compressions))

    def file_ending(self, compression: str) -> str:
        return f".{self.extension}{self.compressions[compression]}"

    def check_compression(self, wanted: str) -> str:
        """Return the compression that was asked for, or the format's own.

        Raises:
            BadInput: the format has no such compression.
        """
        if wanted and wanted not in self.compressions:
            known = ", ".join(self.compressions)
            raise BadInput(f'"{wanted}" is not a compression for {self.name}.', hint=f"One of: {known}.")
        return wanted or self.compression

    def check_package(self) -> None:
        """See that what writes the format is installed.

        Raises:
            MissingDependency: it is not.
        """
        if self.package is not None:
            self.package()

    def check_size(self, rows: int, columns: int) -> None:
        """See that so many rows and columns fit a file.

        Raises:
            TooManyForFormat: they do not.
        """
        if self.most_columns is not None and columns > self.most_columns:
            limit = f"{self.most_columns:,} columns at most, and there are {columns:,}"
            raise TooManyForFormat(
                f"{self.name} holds {limit}.", hint="Choose some of them (columns), or another format."
            )
        if self.most_rows is not None and rows > self.most_rows:
            limit = f"{self.most_rows:,} rows at most, and there are {rows:,}"
            hint = (
                "Take fewer (filter, sample_size), one file for each partition (partition_columns), or another format."
            )
            raise TooManyForFormat(f"{self.name} holds {limit}.", hint=hint)


def output_format(name: str) -> OutputFormat:
    """Return a format by its name.

    Raises:
        BadInput: there is no such format.
    """
    if name not in _MODULES:
        hint = did_you_mean(name, OUTPUT_FORMATS) or f"One of: {', '.join(OUTPUT_FORMATS)}."
        raise BadInput(f'"{name}" is not a format that can be written.', hint=hint)
    module = importlib.import_module(f"mason.pipeline.formats.writers.{_MODULES[name]}")
    found: OutputFormat = module.FORMATS[name]
    return found


def encode_rows(rows: pa.RecordBatch, codecs: Sequence[Codec], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows as they are stored.

    Raises:
        CannotHold: some value would come out as another one.
    """
    arrays = []
    for name, values, codec in zip(rows.schema.names, rows.columns, codecs, strict=True):
        try:
            arrays.append(codec.encode(values))
        except (pa.ArrowInvalid, ValueError) as problem:
            raise CannotHold(name, problem) from problem
    return pa.record_batch(arrays, schema=schema)


def python_columns(stored: pa.RecordBatch, names: Sequence[str], format_: str) -> list[list[Any]]:
    """Return the values of each column, which has this name in the table, as Python has them.

    Raises:
        CannotHold: there is a day or a moment of a year that Python does not have.
    """
    found = []
    for name, values in zip(names, stored.columns, strict=True):
        try:
            found.append(values.to_pylist())
        except (OverflowError, ValueError) as problem:
            far = first_far(values)
            if far is None:
                raise
            message = f"{far} is not in the years from 1 to 9999, and {format_} is written with these alone."
            raise CannotHold(name, message, hint="Parquet, CSV and JSON lines hold it.") from problem
    return found


def schema_as_stored(schema: pa.Schema, codecs: Sequence[Codec], names: Sequence[str]) -> pa.Schema:
    """Return the schema that is stored."""
    return pa.schema([pa.field(name, codec.stored) for name, codec in zip(names, codecs, strict=True)])
