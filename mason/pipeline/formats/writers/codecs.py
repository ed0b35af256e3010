"""Columns in formats that do not have their type: as what they are written, and how they come back.

A codec is made for one type. What it encodes is what stands in the file; what it decodes is the same column again,
type and values. `changes` says in plain words what a reader other than Mason finds instead.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.types.time_text import check_written, times_of_text

Convert = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class Change:
    """What becomes of a column, or of something inside it: the path below the column, its type, and the words."""

    path: str
    type: pa.DataType
    words: str


@dataclass(frozen=True, kw_only=True)
class Codec:
    """How a column of one type is stored."""

    type: pa.DataType
    stored: pa.DataType
    encode: Convert
    decode: Convert
    changes: Sequence[Change] = ()


Rule = Callable[[pa.DataType], Codec | None]
"""Returns the codec of a type that is not stored as it is; none for one that is, or that is looked into."""


def codec_for(declared: pa.DataType, rule: Rule, rename: Callable[[Sequence[str]], Sequence[str]] = list) -> Codec:
    """Return the codec of a type: what the rule says of it or, of something nested, of what is inside.

    `rename` gives the names that the fields of a struct are stored under.
    """
    found = rule(declared)
    if found is not None:
        return found
    if pa.types.is_struct(declared):
        return _struct_codec(declared, [codec_for(each.type, rule, rename) for each in declared], rename)
    if pa.types.is_list(declared):
        return _list_codec(declared, codec_for(declared.value_type, rule, rename))
    if pa.types.is_map(declared):
        inner = [codec_for(each, rule, rename) for each in (declared.key_type, declared.item_type)]
        return _map_codec(declared, *inner)
    return as_is(declared)


def as_is(declared: pa.DataType) -> Codec:
    """Return the codec of a type that the format has."""
    return Codec(type=declared, stored=declared, encode=lambda values: values, decode=lambda values: values)


def cast_to(declared: pa.DataType, stored: pa.DataType, words: str = "") -> Codec:
    """Return the codec of a type that another one, which the format has, holds all values of."""
    return _codec(declared, stored, lambda values: values.cast(stored), lambda values: values.cast(declared), words)


def base64_text(declared: pa.DataType) -> Codec:
    return _codec(declared, pa.string(), _to_base64, lambda values: _from_base64(values, declared), "base64 text")


def time_text(declared: pa.DataType) -> Codec:
    """Return the codec of a time of day, which becomes text such as 12:30:00.000001."""
    back = lambda values: text_to_time(values, declared)  # noqa: E731
    return _codec(declared, pa.string(), lambda values: values.cast(pa.string()), back, "text")


def date_text(declared: pa.DataType) -> Codec:
    back = lambda values: times_of_text(values, declared)  # noqa: E731
    return _codec(declared, pa.string(), lambda values: check_written(values).cast(pa.string()), back, "text")


def timestamp_text(declared: pa.DataType) -> Codec:
    """Return the codec of a point in time, which becomes text as ISO 8601 writes it."""
    back = lambda values: times_of_text(values, declared)  # noqa: E731
    return _codec(declared, pa.string(), iso_times, back, "text (ISO 8601)")


def decimal_text(declared: pa.DataType) -> Codec:
    return _codec(declared, pa.string(), plain_decimals, _make_cast(declared), "text")


def count_of_units(declared: pa.DataType) -> Codec:
    """Return the codec of a duration, which becomes a number."""
    return cast_to(declared, pa.int64(), f"a number ({_UNITS[declared.unit]})")


def entries(declared: pa.DataType, key: Codec, value: Codec) -> Codec:
    """Return the codec of a map, which becomes a list of structs of `key` and `value`."""
    pair = pa.struct([pa.field("key", key.stored, nullable=False), pa.field("value", value.stored)])
    stored = pa.list_(pair)

    def encode(values: pa.Array) -> pa.Array:
        offsets, keys, items = map_parts(values)
        pairs = pa.StructArray.from_arrays([key.encode(keys), value.encode(items)], fields=list(pair))
        return pa.ListArray.from_arrays(offsets, pairs, type=stored, mask=values.is_null())

    def decode(values: pa.Array) -> pa.Array:
        offsets, pairs = list_parts(values)
        keys, items = pairs.flatten()
        decoded = (key.decode(keys), value.decode(items))
        return pa.MapArray.from_arrays(offsets, *decoded, type=declared, mask=values.is_null())

    inside = [*_within("[].key", key), *_within("[].value", value)]
    return Codec(
        type=declared,
        stored=stored,
        encode=encode,
        decode=decode,
        changes=[Change("", declared, "a list of key and value"), *inside],
    )


def list_parts(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the offsets of a list array, from 0, and the elements that they point into."""
    offsets = values.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    return pa.array(offsets - first, pa.int32()), values.values.slice(first, last - first)


def map_parts(values: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return the offsets of a map array, from 0, and the keys and values that they point into."""
    offsets = values.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    parts = [each.slice(first, last - first) for each in (values.keys, values.items)]
    return pa.array(offsets - first, pa.int32()), parts[0], parts[1]


def iso_times(values: pa.Array) -> pa.Array:
    """Return points in time as ISO 8601 writes them: 2026-01-31T12:30:00.000000Z."""
    return pc.replace_substring(check_written(values).cast(pa.string()), " ", "T", max_replacements=1)


def plain_decimals(values: pa.Array) -> pa.Array:
    """Return decimals as text without an exponent, which Arrow writes for small ones."""
    texts = values.cast(pa.string())
    if values.type.scale <= _NO_EXPONENT:
        return texts
    odd = pc.fill_null(pc.match_substring(texts, "E"), False)
    plain = [format(each, "f") for each in values.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(plain, pa.string()))


def text_to_time(values: pa.Array, declared: pa.DataType) -> pa.Array:
    """Return text as times of day, which Arrow has no cast for."""
    day = pa.scalar("1970-01-01 ")
    moments = pc.binary_join_element_wise(day, values, "").cast(pa.timestamp(declared.unit))
    return moments.cast(declared)


def is_any_binary(declared: pa.DataType) -> bool:
    return bool(pa.types.is_binary(declared) or pa.types.is_fixed_size_binary(declared))


_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_NO_EXPONENT = 6  # decimals of so small a scale are never written with one


def _codec(declared: pa.DataType, stored: pa.DataType, encode: Convert, decode: Convert, words: str) -> Codec:
    return Codec(
        type=declared,
        stored=stored,
        encode=encode,
        decode=decode,
        changes=[Change("", declared, words)] if words else [],
    )


def _make_cast(declared: pa.DataType) -> Convert:
    return lambda values: values.cast(declared)


def _to_base64(values: pa.Array) -> pa.Array:
    texts = [None if each is None else base64.b64encode(each).decode() for each in values.to_pylist()]
    return pa.array(texts, pa.string())


def _from_base64(values: pa.Array, declared: pa.DataType) -> pa.Array:
    found = [None if each is None else base64.b64decode(each, validate=True) for each in values.to_pylist()]
    return pa.array(found, declared)


def _within(path: str, codec: Codec) -> list[Change]:
    return [Change(f"{path}{each.path}", each.type, each.words) for each in codec.changes]


def _struct_codec(
    declared: pa.DataType, fields: Sequence[Codec], rename: Callable[[Sequence[str]], Sequence[str]]
) -> Codec:
    names = rename(declared.names)
    stored = pa.struct([pa.field(name, each.stored) for name, each in zip(names, fields, strict=True)])
    inside = [each for name, field in zip(declared.names, fields, strict=True) for each in _within(f".{name}", field)]

    def encode(values: pa.Array) -> pa.Array:
        parts = [codec.encode(part) for codec, part in zip(fields, values.flatten(), strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(stored), mask=values.is_null())

    def decode(values: pa.Array) -> pa.Array:
        parts = [codec.decode(part) for codec, part in zip(fields, values.flatten(), strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(declared), mask=values.is_null())

    return Codec(type=declared, stored=stored, encode=encode, decode=decode, changes=inside)


def _list_codec(declared: pa.DataType, element: Codec) -> Codec:
    stored = pa.list_(element.stored)

    def encode(values: pa.Array) -> pa.Array:
        offsets, inner = list_parts(values)
        return pa.ListArray.from_arrays(offsets, element.encode(inner), type=stored, mask=values.is_null())

    def decode(values: pa.Array) -> pa.Array:
        offsets, inner = list_parts(values)
        return pa.ListArray.from_arrays(offsets, element.decode(inner), type=declared, mask=values.is_null())

    return Codec(type=declared, stored=stored, encode=encode, decode=decode, changes=_within("[]", element))


def _map_codec(declared: pa.DataType, key: Codec, value: Codec) -> Codec:
    stored = pa.map_(key.stored, value.stored)

    def encode(values: pa.Array) -> pa.Array:
        offsets, keys, items = map_parts(values)
        parts = (key.encode(keys), value.encode(items))
        return pa.MapArray.from_arrays(offsets, *parts, type=stored, mask=values.is_null())

    def decode(values: pa.Array) -> pa.Array:
        offsets, keys, items = map_parts(values)
        parts = (key.decode(keys), value.decode(items))
        return pa.MapArray.from_arrays(offsets, *parts, type=declared, mask=values.is_null())

    return Codec(
        type=declared,
        stored=stored,
        encode=encode,
        decode=decode,
        changes=[*_within("[].key", key), *_within("[].value", value)],
    )
