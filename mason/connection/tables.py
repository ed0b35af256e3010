"""The rows of a response as a table: JSON knows few types, and the response says which ones its columns have."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as pat

from mason.connection.printed_types import parse_printed_type
from mason.errors import TooLarge
from mason.operators.operator_tests.cells import BadCell, read_cell

if TYPE_CHECKING:
    import pandas as pd


def arrow_table(document: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return the first table of a response, or else its data, as a table.

    Raises:
        TooLarge: the rows were left out where the response was kept.
    """
    if document.get("DataLeftOut"):
        raise TooLarge(
            "The answer is larger than what is kept of a job, so its rows are gone.",
            hint="Ask for fewer rows, or give output_path for a table of all.",
        )
    if tables:
        return _table_of_types(tables[0]["Columns"], tables[0]["Rows"])
    return _infer_table(document["Data"])


def data_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a frame. pandas makes floats of whole numbers with gaps, unless it is told otherwise."""
    import pandas as pd

    nullable = {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    gaps = {column.type for column in table.columns if column.null_count}
    return table.to_pandas(types_mapper=lambda kind: nullable.get(kind) if kind in gaps else None)


def _table_of_types(columns: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    names = [each["Name"] for each in columns]
    return pa.table(
        [_column([row.get(each["Name"]) for row in rows], each["Type"]) for each in columns],
        names=names,
    )


def _column(values: Sequence[Any], word: str) -> pa.Array:
    """Return the values in the type that is told; what does not fit it is shown as text, as it came."""
    try:
        kind = parse_printed_type(word)
        read = next((read for fits, read in _READERS if fits(kind)), pa.array)
        found: pa.Array = read(values, kind)
    except (BadCell, pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return pa.array([None if value is None else _text(value) for value in values], pa.string())
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _each(read: Callable[[Any], Any]) -> Callable[[Sequence[Any], pa.DataType], pa.Array]:
    return lambda values, kind: pa.array([None if value is None else read(value) for value in values], kind)


def _times(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.string()).cast(kind)


def _nested_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    return pa.array([read_cell(_with_bytes(value, kind), kind) for value in values], kind)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)  # JSON has no bytes: responses have them as base64


def _with_bytes(value: Any, kind: pa.DataType) -> Any:
    """Return a value with the bytes in it, which a cell would take for text."""
    if value is None:
        return None
    if _is_binary(kind):
        return _bytes(value)
    if pat.is_struct(kind) and isinstance(value, Mapping):
        types = {field.name: field.type for field in kind}
        return {name: _with_bytes(each, types[name]) if name in types else each for name, each in value.items()}
    if pat.is_map(kind) and isinstance(value, list):
        return [[_with_bytes(key, kind.key_type), _with_bytes(each, kind.item_type)] for key, each in value]
    if pat.is_nested(kind) and isinstance(value, list):
        return [_with_bytes(each, kind.value_type) for each in value]
    return value


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind))


_READERS: Sequence[tuple[Callable[[pa.DataType], bool], Callable[[Sequence[Any], pa.DataType], pa.Array]]] = (
    (pat.is_floating, _each(float)),
    (pat.is_decimal, _each(lambda value: Decimal(str(value)))),
    (lambda kind: pat.is_temporal(kind) and not pat.is_duration(kind), _times),
    (_is_binary, _each(_bytes)),
    (pat.is_nested, _nested_array),
)


def _infer_table(data: Sequence[Any]) -> pa.Table:
    """Return data that have no columns as a table of what is in them: a listing, a record."""
    rows = [each if isinstance(each, Mapping) else {"Value": each} for each in data]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _guess_array([row.get(name) for row in rows]) for name in names})


def _guess_array(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except pa.ArrowException:  # a column in which text, numbers and lists stand side by side
        return pa.array([None if value is None else _text(value) for value in values], pa.string())
