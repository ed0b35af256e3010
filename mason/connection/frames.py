"""Frames of other libraries: rows that come from Mason as what they hold, and what they hold as rows for Mason."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from mason.connection.call_response import response_html
from mason.connection.tables import data_frame
from mason.errors import BadInput, MissingDependency
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.work.record_parts import describe_columns
from mason.util.json_text import json_value

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_MOST_SHOWN = 50


class Rows(ABC):
    """The rows of a query or a table. They are asked for when they are needed, and once.

    `to_arrow`, `to_pandas`, `to_polars` and `to_spark` give all of them, `batches` some at a time.
    """

    def __init__(self) -> None:
        self._table: pa.Table | None = None

    @abstractmethod
    def _fetch(self) -> pa.Table:
        """Ask for all rows."""

    @abstractmethod
    def _open_batches(self) -> Any:
        """Return a context that gives the rows as a `pyarrow.RecordBatchReader`."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as a table of Arrow.

        Raises:
            MasonError: the query failed.
        """
        if self._table is None:
            self._table = self._fetch()
        return self._table

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a frame of pandas, in which whole numbers stay whole where some are missing."""
        return data_frame(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a frame of Polars.

        Raises:
            MissingDependency: Polars is not installed.
        """
        try:
            import polars
        except ModuleNotFoundError as error:
            raise MissingDependency("Polars is not installed.", hint="Run: pip install polars") from error
        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_spark(self, spark: Any = None) -> Any:
        """Return the rows as a DataFrame of a `SparkSession`: the one given, or else the one that is active.

        Raises:
            BadInput: there is no session.
        """
        loaded = sys.modules.get("pyspark.sql")  # whoever has a session has loaded it
        session = spark or (loaded.SparkSession.getActiveSession() if loaded else None)
        if session is None:
            raise BadInput("No Spark session is active here.", hint="Give one: to_spark(spark).")
        return session.createDataFrame(self.to_arrow())

    @contextmanager
    def batches(self) -> Iterator[pa.RecordBatchReader]:
        """Give the rows as batches of Arrow, for what exceeds memory: `with rows.batches() as batches: …`.

        Raises:
            MasonError: the query failed.
        """
        with self._open_batches() as reader:
            yield reader

    def __len__(self) -> int:
        return int(self.to_arrow().num_rows)

    def _repr_html_(self) -> str:
        table = self.to_arrow()
        rows = json_value(python_rows(table.slice(0, _MOST_SHOWN)))
        shown = {"Columns": describe_columns(table.schema), "Rows": rows, "RowCount": table.num_rows}
        return response_html((), (), [shown], ())


def arrow_reader(frame: Any) -> pa.RecordBatchReader:
    """Return the rows of a frame: of Arrow, pandas, Polars or Spark, or of anything that speaks Arrow's C stream.

    Raises:
        BadInput: it is not a frame, or has a column that Arrow cannot hold.
    """
    try:
        return _plain_reader(_open_frame(frame))
    except (pa.ArrowException, TypeError) as error:
        raise BadInput(
            f"The frame cannot be taken: {str(error).splitlines()[0]}", hint="Give each column one type."
        ) from error


def _open_frame(frame: Any) -> pa.RecordBatchReader:
    if isinstance(frame, pa.RecordBatchReader):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(frame.schema, [frame])
    if isinstance(frame, pa.Table):
        return frame.to_reader()
    package = type(frame).__module__.partition(".")[0]
    if package == "pandas":
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None).to_reader()
    if package == "pyspark":
        return frame.toArrow().to_reader()
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(frame)
    raise BadInput(
        f"{type(frame).__name__} is not a frame.", hint="Give a table of Arrow, or a frame of pandas, Polars or Spark."
    )


def _plain_reader(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The rows in types that every reader of Parquet knows: plain text for views, large text and categories."""
    schema = pa.schema([pa.field(each.name, _plain_type(each.type)) for each in reader.schema])
    if schema.equals(reader.schema):
        return reader
    batches = (_plain_batch(each, schema) for each in reader)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _plain_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [_without_categories(column).cast(field.type) for column, field in zip(batch, schema, strict=True)]
    return pa.record_batch(columns, schema=schema)


def _without_categories(column: pa.Array) -> pa.Array:
    """The values themselves; those of Polars' categories are of a type that Arrow cannot decode at once."""
    if not isinstance(column, pa.DictionaryArray):
        return column
    values = column.dictionary.cast(_plain_type(column.type.value_type))
    return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_large_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    return kind
