"""What a plan has to say of columns that are not as one might expect them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from mason.pipeline.formats.file_warnings import FileWarnings
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.types.pattern_hints import describe_hints, describe_thousands


def notes_on_columns(
    given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile], known: Sequence[str]
) -> list[str]:
    """Return what is to be said of the columns of files; `known` are those of the table that they are added to."""
    notes = [*_absent(given, planned), *_of_other_columns(known, planned), *_few_or_odd(given, planned)]
    return [*notes, *_like_something_else(given, planned, known), *_like_thousands(given, planned, known)]


def _absent(given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile]) -> list[str]:
    """What is to be said of columns that only the schema has."""
    present = {name for each in planned for name in (*each.schema.columns, *each.constants)}
    absent = [name for name in given if planned and name not in present]
    return [f'No file has the column "{name}" of the schema: it is null in every row.' for name in absent]


def _of_other_columns(known: Sequence[str], planned: Sequence[PlannedFile]) -> list[str]:
    """Return what is to be said of files that have no column in common with the table which they are added to."""
    names = set(known)
    others = [each.file.name for each in planned if names and names.isdisjoint(_columns(each))]
    more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
    return [f"{others[0]}{more}: no column is one of the table: are these its rows?"] if others else []


def _columns(file: PlannedFile) -> list[str]:
    return [file.renames.get(name, name) for name in file.schema.columns]


def _few_or_odd(given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile]) -> list[str]:
    """Return what is to be said of columns for few values or for their spelling, unless their type was given."""
    warnings = FileWarnings()
    for each in planned:
        for name, odd in each.schema.odd_values.items():
            if each.renames.get(name, name) not in given:
                warnings.add(each.file.name, odd.describe(name))
        for name, note in each.schema.spellings.items():
            if each.renames.get(name, name) not in given:
                warnings.add(each.file.name, f'column "{name}" {note}')
    return warnings.lines()


def _like_something_else(
    given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile], known: Sequence[str]
) -> list[str]:
    """Return the schema by which columns of text are read as what they look like; those of a table stay as they are."""
    settled = {*given, *known}
    hints = {
        each.file.name: {
            each.renames.get(name, name): hint
            for name, hint in each.schema.hints.items()
            if each.renames.get(name, name) not in settled
        }
        for each in planned
    }
    return describe_hints(hints, {each.file.name: _columns(each) for each in planned})


def _like_thousands(
    given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile], known: Sequence[str]
) -> list[str]:
    """Return what is to be said of numbers that may be a thousand times as large."""
    delimited = [each for each in planned if each.schema.csv]
    found = {
        each.file.name: {each.renames.get(name, name): value for name, value in each.schema.thousands.items()}
        for each in delimited
    }
    return describe_thousands(found, {each.file.name: _columns(each) for each in delimited}, {*given, *known})


def find_respelled_columns(before: pa.Schema, after: pa.Schema) -> dict[str, str]:
    """Return what is to be said of columns of a table that become text, by their names.

    The table does not know any more how its values were written in the files that they came from.
    """
    respelled = {}
    for field in before:
        spelling = _describe_spelling(field.type)
        if spelling and pa.types.is_string(after.field(field.name).type):
            kind = f'Column "{field.name}" is {field.type} in the table and becomes text'
            respelled[field.name] = f"{kind}: its values there are written {spelling}, however their files had them."
    return respelled


def _describe_spelling(held: pa.DataType) -> str:
    """How values of a type are written as text; nothing if that is how every file has them, as with whole numbers."""
    if pa.types.is_decimal(held) and held.scale:
        return "with all decimals of their type (1.50, not 1.5)"
    if pa.types.is_floating(held):
        return "with as few digits as possible (5, not 5.0)"
    if pa.types.is_boolean(held):
        return "as true and false"
    if pa.types.is_timestamp(held):
        return "with microseconds (2026-01-31 12:30:00.000000), those with a zone in UTC"
    return ""
