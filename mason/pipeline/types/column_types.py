"""The one table of type conflicts: which type holds all that was seen of a column, for any order of files.

Two types alone do not say enough for that: `double` may come from `1.5` or hide a twenty-digit integer. So what was
seen of a column is kept as `Evidence`, which only ever grows by union, and the type is decided once, from all of it.
A union does not know an order, hence neither does the decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa

from mason.pipeline.types.number_types import MAX_PRECISION, Digits, is_number, unite_numbers

NAIVE = pa.timestamp("us")
INSTANT = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Evidence:
    """What was seen of a column so far. Nothing at all means that every value was null."""

    scalars: frozenset[pa.DataType | Digits] = frozenset()
    fields: Mapping[str, Evidence] | None = None
    element: Evidence | None = None
    entries: tuple[Evidence, Evidence] | None = None


NOTHING = Evidence()
TEXT = Evidence(frozenset([pa.string()]))


def widen(types: Iterable[pa.DataType], timezone: str = "") -> pa.DataType:
    """Return the type that holds the values of all these types, whatever their order."""
    return decide(reduce(merge, map(evidence_of, types), NOTHING), timezone)


def merge(one: Evidence, other: Evidence) -> Evidence:
    """Return what both have seen."""
    if one is other or other is NOTHING:
        return one
    return Evidence(
        one.scalars | other.scalars,
        _merge_fields(one.fields, other.fields),
        _merge_elements(one.element, other.element),
        _merge_entries(one.entries, other.entries),
    )


def decide(seen: Evidence, timezone: str = "") -> pa.DataType:
    """Return the type for what was seen; `null` when every value was null.

    Integers widen; an integer beside a fraction is double while exact, else decimal; decimals take most digits and
    most scale, beyond 38 text; a date beside a timestamp is a timestamp; null yields to all; structs by field, lists
    by element, maps by key and value; a scalar beside something nested is JSON text; all else is text.
    Naive and zoned times unite only by a `timezone`; without one they are text, and `mixes_zones` tells.
    """
    shapes = [seen.fields, seen.element, seen.entries]
    if sum(shape is not None for shape in shapes) + bool(seen.scalars) > 1:
        return pa.string()
    if seen.fields is not None:
        return pa.struct([pa.field(name, decide(field, timezone)) for name, field in seen.fields.items()])
    if seen.element is not None:
        return pa.list_(decide(seen.element, timezone))
    if seen.entries is not None:
        return pa.map_(decide(seen.entries[0], timezone), decide(seen.entries[1], timezone))
    return _unite_scalars(seen.scalars, timezone)


def mixes_zones(seen: Evidence) -> bool:
    """Say whether times with a zone and dates or times without one came together, so that only text holds them."""
    naive = NAIVE in seen.scalars or pa.date32() in seen.scalars
    inner = [*(seen.fields or {}).values(), *(seen.entries or ()), *([seen.element] if seen.element else ())]
    return (naive and INSTANT in seen.scalars) or any(map(mixes_zones, inner))


def storable(decided: pa.DataType) -> pa.DataType:
    """Return the type that a table's column gets: what is null in every row looked at becomes text.

    No table format keeps a column of nothing, and text is the one type that whatever turns up later still fits.
    For the same reason a struct without fields becomes (JSON) text.
    """
    if pa.types.is_null(decided):
        return pa.string()
    if pa.types.is_struct(decided):
        fields = [pa.field(field.name, storable(field.type)) for field in decided]
        return pa.struct(fields) if fields else pa.string()
    if pa.types.is_map(decided):
        return pa.map_(storable(decided.key_type), storable(decided.item_type))
    if pa.types.is_list(decided):
        return pa.list_(storable(decided.value_type))
    return decided


def evidence_of(declared: pa.DataType) -> Evidence:
    """Return what a declared type says: the one type for all that Arrow stores in several ways."""
    if isinstance(declared, pa.BaseExtensionType):
        return evidence_of(declared.storage_type)
    if pa.types.is_dictionary(declared) or pa.types.is_run_end_encoded(declared):
        return evidence_of(declared.value_type)
    if pa.types.is_null(declared):
        return NOTHING
    if pa.types.is_union(declared):
        return TEXT  # no table has them
    if pa.types.is_struct(declared):
        return Evidence(fields={field.name: evidence_of(field.type) for field in declared})
    if pa.types.is_map(declared):
        return Evidence(entries=(evidence_of(declared.key_type), evidence_of(declared.item_type)))
    if is_any_list(declared):
        return Evidence(element=evidence_of(declared.value_type))
    return Evidence(frozenset([_canonical_scalar(declared)]))


def _merge_fields(
    one: Mapping[str, Evidence] | None, other: Mapping[str, Evidence] | None
) -> Mapping[str, Evidence] | None:
    if one is None or other is None:
        return other if one is None else one
    return {name: merge(one.get(name, NOTHING), other.get(name, NOTHING)) for name in {**one, **other}}


def _merge_elements(one: Evidence | None, other: Evidence | None) -> Evidence | None:
    if one is None or other is None:
        return other if one is None else one
    return merge(one, other)


def _merge_entries(
    one: tuple[Evidence, Evidence] | None, other: tuple[Evidence, Evidence] | None
) -> tuple[Evidence, Evidence] | None:
    if one is None or other is None:
        return other if one is None else one
    return merge(one[0], other[0]), merge(one[1], other[1])


def _unite_scalars(seen: frozenset[pa.DataType | Digits], timezone: str) -> pa.DataType:
    if not seen:
        return pa.null()
    if all(map(is_number, seen)):
        return unite_numbers(seen)
    if len(seen) == 1:
        return next(iter(seen))
    if seen <= {pa.date32(), NAIVE, INSTANT}:
        return _unite_times(seen, timezone)
    if any(isinstance(each, Digits) for each in seen):
        return pa.string()
    if all(map(pa.types.is_time, seen)):
        return pa.time64("ns") if pa.time64("ns") in seen else pa.time64("us")
    if all(map(_is_bytes, seen)):
        return pa.binary()
    return pa.string()


def _unite_times(seen: frozenset[pa.DataType | Digits], timezone: str) -> pa.DataType:
    if INSTANT not in seen:
        return NAIVE
    # A date has no zone either: without one it is no instant.
    return INSTANT if timezone else pa.string()


def _canonical_scalar(declared: pa.DataType) -> pa.DataType:
    if pa.types.is_string(declared) or pa.types.is_large_string(declared) or pa.types.is_string_view(declared):
        return pa.string()
    if pa.types.is_large_binary(declared) or pa.types.is_binary_view(declared):
        return pa.binary()
    if pa.types.is_timestamp(declared):
        return INSTANT if declared.tz else NAIVE
    if pa.types.is_date(declared):
        return pa.date32()
    if pa.types.is_decimal(declared):
        return _canonical_decimal(declared.precision, declared.scale)
    return declared


def _canonical_decimal(precision: int, scale: int) -> pa.DataType:
    """A negative scale counts whole digits that the precision leaves out."""
    if scale < 0:
        precision, scale = precision - scale, 0
    return pa.decimal128(precision, scale) if precision <= MAX_PRECISION else pa.string()


def is_any_list(declared: pa.DataType) -> bool:
    kinds = pa.types
    plain = kinds.is_list(declared) or kinds.is_large_list(declared) or kinds.is_fixed_size_list(declared)
    return bool(plain or kinds.is_list_view(declared) or kinds.is_large_list_view(declared))


def _is_bytes(seen: pa.DataType | Digits) -> bool:
    return bool(pa.types.is_binary(seen) or pa.types.is_fixed_size_binary(seen))
