"""What Athena answers, as typed rows: it sends every value as text, and null as no text at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from mason.errors import ClientFailed
from mason.pipeline.sql.query import BadQuery, canonical
from mason.pipeline.sql.statement import check_names

Cells = Sequence[str | None]

_SCALARS = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp with time zone": pa.timestamp("us", "UTC"),
    "varbinary": pa.binary(),
}
_NESTED = ("array", "map", "row", "struct")


def to_table(
    columns: Sequence[Mapping[str, Any]],
    rows: Sequence[Cells],
    names: Sequence[str] | None = None,
    known: Sequence[pa.DataType | None] = (),
    wanted: Sequence[pa.DataType] = (),
) -> pa.Table:
    """Return an answer in the canonical types.

    Args:
        columns: what Athena says of the columns.
        names: what they are called, where that is not for Athena to say.
        known: what the catalog tells of their types, where it does: Athena says `array` and not of what.
        wanted: the types that numbers are to have.

    Raises:
        BadQuery: two columns have one name, or one is nested in a way that is not known.
    """
    called = list(names or [each["Name"] for each in columns])
    check_names(called)
    types = [_type(each, known[number] if number < len(known) else None) for number, each in enumerate(columns)]
    arrays = [_array(called[number], kind, [row[number] for row in rows]) for number, kind in enumerate(types)]
    table = pa.table(arrays, schema=pa.schema(list(zip(called, types, strict=True))))
    return _fit_numbers(table.cast(canonical(table.schema)), wanted)


def as_shown(columns: Sequence[Mapping[str, Any]], rows: Sequence[Cells]) -> pa.Table:
    """Return an answer of which nothing but what Athena says is known: what is nested is the text that it sends.

    Raises:
        BadQuery: two columns have one name.
    """
    plain = [{**each, "Type": "varchar"} if str(each["Type"]).lower() in _NESTED else each for each in columns]
    return to_table(plain, rows)


def answers_rows(statement: str) -> bool:
    """Say whether a statement is a question; others are answered with nothing, or with words."""
    return statement.lstrip("( \t\r\n")[:6].upper().startswith(("SELECT", "WITH", "VALUES"))


def _fit_numbers(table: pa.Table, wanted: Sequence[pa.DataType]) -> pa.Table:
    fields = [
        field.with_type(kind) if is_number(field.type) and is_number(kind) else field
        for field, kind in zip(table.schema, wanted or table.schema.types, strict=True)
    ]
    try:
        return table.cast(pa.schema(fields))
    except pa.ArrowInvalid as error:
        raise ClientFailed(f"Athena gave a number that its column cannot have in Spark: {error}.") from error


def is_number(kind: pa.DataType) -> bool:
    """Say whether a type is one of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _type(column: Mapping[str, Any], known: pa.DataType | None) -> pa.DataType:
    type_name = str(column["Type"]).lower()
    if known is not None and pa.types.is_nested(known):
        return known
    if type_name in _NESTED:
        raise BadQuery(
            f'The column "{column["Name"]}" is of the type {type_name}, and it is not known of what.',
            hint="Write to_json(…) for it, or ask for its parts.",
        )
    if type_name == "decimal":
        return pa.decimal128(int(column["Precision"]), int(column["Scale"]))
    if type_name == "timestamp" and known is not None and pa.types.is_timestamp(known):
        return known  # Athena has no zones in tables: that these are instants is known from the catalog
    return _SCALARS.get(type_name, pa.string())


def _array(name: str, kind: pa.DataType, texts: Cells) -> pa.Array:
    try:
        if pa.types.is_nested(kind):
            values = [None if text is None else _fit_value(_parse_value(text), kind) for text in texts]
        else:
            values = [None if text is None else _value(text, kind) for text in texts]
        return pa.array(values, kind)
    except (ValueError, InvalidOperation, ZoneInfoNotFoundError, pa.ArrowException) as error:
        raise ClientFailed(f'Athena gave values of the column "{name}" that are no {kind}: {error}.') from error


def _parse_value(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _fit_value(value: Any, kind: pa.DataType) -> Any:
    """A part of a nested value, as JSON tells it, in its type."""
    if value is None:
        return None
    if not isinstance(value, list if pa.types.is_list(kind) else dict) and pa.types.is_nested(kind):
        raise ValueError(value)
    if pa.types.is_list(kind):
        return [_fit_value(each, kind.value_type) for each in value]
    if pa.types.is_map(kind):
        return [(_value(key, kind.key_type), _fit_value(each, kind.item_type)) for key, each in value.items()]
    if pa.types.is_struct(kind):
        fields = {str(name).casefold(): each for name, each in value.items()}
        return {each.name: _fit_value(fields.get(each.name.casefold()), each.type) for each in kind}
    return value if isinstance(value, bool) else _value(str(value), kind)


def _value(text: str, kind: pa.DataType) -> Any:
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_timestamp(kind):
        return _instant(text) if kind.tz else datetime.fromisoformat(text)
    return _READERS.get(kind.id, str)(text)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _instant(text: str) -> datetime:
    """`2026-01-01 10:00:00.000 Europe/Berlin`, `… +01:00`, or without a zone, which is UTC."""
    day, _, rest = text.partition(" ")
    time, _, zone = rest.partition(" ")
    if zone[:1] in ("+", "-"):
        return datetime.fromisoformat(f"{day} {time}{zone}").astimezone(UTC)
    moment = datetime.fromisoformat(f"{day} {time}".strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone) if zone else UTC)
    return moment.astimezone(UTC)


_READERS: Mapping[int, Callable[[str], Any]] = {
    pa.bool_().id: _boolean,
    **{kind.id: int for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{kind.id: float for kind in (pa.float32(), pa.float64())},
    pa.date32().id: date.fromisoformat,
    pa.binary().id: bytes.fromhex,
}
