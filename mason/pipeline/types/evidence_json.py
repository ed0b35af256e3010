"""Evidence as plain data, so that tasks can send what they saw to the driver."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa

from mason.pipeline.types.column_types import Evidence
from mason.pipeline.types.number_types import Digits


def encode(seen: Evidence) -> dict[str, Any]:
    """Return the evidence as JSON has it."""
    return {
        "scalars": sorted((_encode_scalar(each) for each in seen.scalars), key=str),
        "fields": None if seen.fields is None else [[name, encode(each)] for name, each in seen.fields.items()],
        "element": None if seen.element is None else encode(seen.element),
        "entries": None if seen.entries is None else [encode(each) for each in seen.entries],
    }


def decode(value: dict[str, Any]) -> Evidence:
    """Return the evidence that was encoded."""
    fields, element, entries = value["fields"], value["element"], value["entries"]
    return Evidence(
        frozenset(map(_decode_scalar, value["scalars"])),
        None if fields is None else {name: decode(each) for name, each in fields},
        None if element is None else decode(element),
        None if entries is None else (decode(entries[0]), decode(entries[1])),
    )


def encode_schema(schema: pa.Schema) -> str:
    """Return a schema as text that loses no type."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def decode_schema(text: str) -> pa.Schema:
    """Return the schema that was encoded."""
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def _encode_scalar(each: pa.DataType | Digits) -> Any:
    if isinstance(each, Digits):
        return [each.whole, each.scale, each.fit_double, each.are_doubles]
    return encode_schema(pa.schema([pa.field("", each)]))


def _decode_scalar(value: Any) -> pa.DataType | Digits:
    return decode_schema(value).field(0).type if isinstance(value, str) else Digits(*value)
