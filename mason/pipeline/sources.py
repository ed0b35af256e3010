"""A column of a file on its way into a table: how it becomes the table's type, and what it says if it does not fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from mason.pipeline.text_fit import evidence_in, fit_text
from mason.pipeline.types import Evidence, decide, evidence_of, merge, storable
from mason.pipeline.value_types import classify_values


class Source(Protocol):
    """The values of one column in one batch."""

    def fit(self, target: pa.DataType) -> pa.Array | None:
        """Return the values in the type, or None when some value does not fit it."""

    def evidence(self) -> Evidence:
        """Return what the values say of their type."""


@dataclass(frozen=True)
class TextSource:
    """Fields of delimited text."""

    values: pa.Array

    def fit(self, target: pa.DataType) -> pa.Array | None:
        return fit_text(self.values, target)

    def evidence(self) -> Evidence:
        return evidence_in(self.values)


@dataclass(frozen=True)
class ArrowSource:
    """Values of a format that declares its types."""

    values: pa.Array

    def fit(self, target: pa.DataType) -> pa.Array | None:
        return _fit_declared(self.values, target)

    def evidence(self) -> Evidence:
        return evidence_of(self.values.type)


@dataclass(frozen=True)
class ValueSource:
    """Values of JSON or Msgpack; a missing key is None."""

    values: Sequence[Any]

    def fit(self, target: pa.DataType) -> pa.Array | None:
        if pa.types.is_string(target):
            return pa.array([_as_text(value) for value in self.values], pa.string())
        if storable(decide(merge(evidence_of(target), self.evidence()))) != target:
            return None
        try:
            return pa.array(_with_text_inside(self.values, target), target)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return None

    def evidence(self) -> Evidence:
        return classify_values(self.values)


def _fit_declared(values: pa.Array, target: pa.DataType) -> pa.Array | None:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.type.equals(target):
        return values
    if pa.types.is_string(target) and not _is_text(values.type):
        return _declared_as_text(values)
    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return _fit_by_value(values, target)


def _fit_by_value(values: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Structs that lack fields, and times finer than a microsecond, which Arrow does not cast by itself."""
    if pa.types.is_timestamp(values.type) and pa.types.is_timestamp(target):
        return values.cast(target, safe=False)
    try:
        return pa.array(values.to_pylist(), target)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None


def _declared_as_text(values: pa.Array) -> pa.Array | None:
    if pa.types.is_nested(values.type):
        return pa.array([_as_text(value) for value in values.to_pylist()], pa.string())
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _with_text_inside(values: Sequence[Any], target: pa.DataType) -> Sequence[Any]:
    """Values whose nested fields came out as text, because files disagree on them, have these as JSON text."""
    if pa.types.is_struct(target):
        return [None if value is None else _struct_values(value, target) for value in values]
    if pa.types.is_list(target):
        return [None if value is None else _with_text_inside(value, target.value_type) for value in values]
    return [_as_text(value) for value in values] if pa.types.is_string(target) else values


def _struct_values(value: Any, target: pa.DataType) -> dict[str, Any]:
    return {field.name: _with_text_inside([value.get(field.name)], field.type)[0] for field in target}


def _is_text(declared: pa.DataType) -> bool:
    return bool(pa.types.is_string(declared) or pa.types.is_large_string(declared) or pa.types.is_string_view(declared))
