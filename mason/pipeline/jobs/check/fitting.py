"""Whether checks can be asked of a table: its columns are there, and of types that the checks can be asked of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from mason.errors import InvalidParameters
from mason.pipeline.jobs.check.checks import BY_KEYS, BadCheck, Check
from mason.pipeline.jobs.check.literals import describe_type
from mason.pipeline.jobs.check.rows import find_failing_rows
from mason.util.names import did_you_mean

_SHOWN = 50


def check_fit(checks: Sequence[Check], schema: pa.Schema, references: Mapping[str, pa.Schema]) -> None:
    """See that all checks can be asked; `references` are the tables of foreign keys by their paths.

    Raises:
        InvalidParameters: with all that stands against it.
    """
    problems = []
    for check in checks:
        try:
            _check_columns(check.columns, schema)
            _check_types(check, schema, references)
        except BadCheck as error:
            problems.append(f"{check.name}: {error}")
    if problems:
        raise InvalidParameters(problems)


def _check_columns(columns: Sequence[str], schema: pa.Schema, where: str = "") -> None:
    for name in columns:
        if name not in schema.names:
            near = did_you_mean(name, schema.names) or f"Columns: {', '.join(schema.names[:_SHOWN])}."
            raise BadCheck(f'There is no column "{name}"{where}. {near}')


def _check_types(check: Check, schema: pa.Schema, references: Mapping[str, pa.Schema]) -> None:
    if check.kind == "freshness":
        kind = schema.field(check.column).type
        if not pa.types.is_date(kind) and not pa.types.is_timestamp(kind):
            raise BadCheck(f'"{check.column}" is {describe_type(kind)}, and freshness is asked of days or times.')
    elif check.kind in BY_KEYS:
        _check_keys(check, schema, references)
    elif check.columns:
        find_failing_rows(check, schema)


def _check_keys(check: Check, schema: pa.Schema, references: Mapping[str, pa.Schema]) -> None:
    for name in check.columns:
        if "map<" in str(schema.field(name).type):
            raise BadCheck(f'"{name}" holds maps, and maps cannot be compared.')
    if check.kind != "foreign_key":
        return
    there = references[check.references]
    _check_columns(check.keys_there, there, f" in {check.references}")
    for name, other in zip(check.columns, check.keys_there, strict=True):
        mine, theirs = schema.field(name).type, there.field(other).type
        if mine != theirs and not set(_kinds(mine)) & set(_kinds(theirs)):
            raise BadCheck(
                f'"{name}" is {describe_type(mine)} and "{other}" is {describe_type(theirs)}:'
                " no value could be in both."
            )


def _kinds(kind: pa.DataType) -> Iterator[str]:
    """What a type is in the eyes of a comparison; none where only the same type will do."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield "number"
