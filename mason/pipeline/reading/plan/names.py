"""Columns whose names no technology can be trusted to tell apart: merging them would mix or lose their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import Names
from mason.pipeline.types.column_types import NOTHING, Evidence, merge

_NAMED_BY_RECORD = ("json", "jsonl", "msgpack")


def twins_in(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that differ only in case, two by two."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            yield other, name


def find_twins(planned: Sequence[PlannedFile], names: Names) -> list[str]:
    """Return what is wrong with the names of the files, as messages that state the places."""
    return [*_inside_files(planned, names), *_between_files(planned)]


def fold_names(planned: Sequence[PlannedFile]) -> list[PlannedFile]:
    """Give columns whose names differ only in case the spelling that comes first.

    Two columns of one file are never united: where a file with a header has both `A` and `a`, each spelling is a column
    of its own in every file, the second with a number (`A_2`). Where every record names its own values, as in JSON,
    they are one, and a record that has both goes to the quarantine.
    """
    apart = _apart(planned)
    taken = {name.casefold() for each in planned for name in each.schema.columns}
    first: dict[str, str] = {}
    spelling: dict[str, str] = {}
    for name in (name for each in planned for name in each.schema.columns):
        before = first.setdefault(name.casefold(), name)
        if name.casefold() in apart and name not in spelling and name != before:
            spelling[name] = _free(before, taken)
            taken.add(spelling[name].casefold())
        spelling.setdefault(name, before)
    return [_fold_names(each, spelling) for each in planned]


def _apart(planned: Sequence[PlannedFile]) -> set[str]:
    """The names, without their case, that some file has more than once."""
    found: set[str] = set()
    for each in planned:
        if each.schema.format not in _NAMED_BY_RECORD:
            found |= {one.casefold() for one, _ in twins_in(each.schema.columns)}
    return found


def _fold_names(planned: PlannedFile, spelling: Mapping[str, str]) -> PlannedFile:
    renames: dict[str, str] = {}
    columns: dict[str, Evidence] = {}
    for name, seen in planned.schema.columns.items():
        renames[name] = spelling[name]
        columns[renames[name]] = merge(columns.get(renames[name], NOTHING), seen)
    changed = {old: new for old, new in renames.items() if old != new}
    return replace(planned, schema=replace(planned.schema, columns=columns), renames=changed)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _inside_files(planned: Sequence[PlannedFile], names: Names) -> Iterator[str]:
    for each in planned:
        for warning in each.schema.warnings:
            repeated = "more than one column" in warning and names is Names.EXACT
            if repeated or "differ only in case" in warning:
                remedy = warning.replace("the next one is called", f"names:{Names.NUMBER} calls the next one")
                yield f"{each.file.name}: {remedy}."


def _between_files(planned: Sequence[PlannedFile]) -> Iterator[str]:
    first: dict[str, tuple[str, str]] = {}
    for each in planned:
        for name in [*each.schema.columns, *each.constants]:
            other, file = first.setdefault(name.casefold(), (name, each.file.name))
            if other != name and (file != each.file.name or name in each.constants):
                yield f'"{other}" in {file} and "{name}" in {each.file.name} differ only in case.'
