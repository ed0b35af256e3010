"""The types of Arrow as responses print them: `int64`, `timestamp[us, tz=UTC]`, `struct<x: int64, on: date32[day]>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

_TIMESTAMP = re.compile(r"timestamp\[(s|ms|us|ns), tz=(.+)\]")
_DECIMAL = re.compile(r"(decimal32|decimal64|decimal128|decimal256)\((\d+), (-?\d+)\)")
_FIXED = re.compile(r"fixed_size_binary\[(\d+)\]")
_NESTED = re.compile(r"(list|large_list|struct|map|dictionary)<(.*)>", re.DOTALL)
_DECIMALS = {"decimal128": pa.decimal128, "decimal256": pa.decimal256}
_NOT_NULL = " not null"


def parse_printed_type(text: str) -> pa.DataType:
    """Return the type that is printed so.

    Raises:
        ValueError: it is none that a value of JSON can be read as.
    """
    text = text.strip()
    zoned, decimal, nested = _TIMESTAMP.fullmatch(text), _DECIMAL.fullmatch(text), _NESTED.fullmatch(text)
    if zoned:
        return pa.timestamp(zoned[1], zoned[2])
    if decimal:
        return _DECIMALS.get(decimal[1], pa.decimal128)(int(decimal[2]), int(decimal[3]))
    if fixed := _FIXED.fullmatch(text):
        return pa.binary(int(fixed[1]))
    if nested:
        return _nested_type(nested[1], list(_parts(nested[2])))
    return pa.type_for_alias(text)


def _nested_type(word: str, parts: list[str]) -> pa.DataType:
    if word == "struct":
        return pa.struct([_field(part) for part in parts])
    if word == "map":
        key, item = parts
        return pa.map_(parse_printed_type(key), parse_printed_type(item.partition(" (")[0]))
    if word == "dictionary":  # how its values are stored is nothing that JSON keeps
        return parse_printed_type(parts[0].removeprefix("values="))
    (element,) = parts
    return (pa.large_list if word == "large_list" else pa.list_)(_field(element))


def _field(text: str) -> pa.Field:
    name, found, declared = text.partition(": ")
    if not found:
        raise ValueError(text)
    return pa.field(name, parse_printed_type(declared.removesuffix(_NOT_NULL)), not declared.endswith(_NOT_NULL))


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no brackets."""
    depth = start = 0
    for place, letter in enumerate(text):
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()
