"""Compares what came of a run with what its test expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from mason.operators.operator_tests.case import Case, Expectation
from mason.operators.operator_tests.cells import BadCell, arrow_type, cell_key, read_cell, render_cell
from mason.operators.operator_tests.observation import Observation, SeenTable
from mason.operators.operator_tests.row_differences import row_differences
from mason.operators.operator_tests.texts import has_part, is_text

RETURNED = ""
"""In the place of a table's path: the rows that the response carries."""

_MOST_SHOWN = 20
_LONGEST = 2000


def judge(case: Case, seen: Observation) -> list[str]:
    """Return what is not as the test expects; nothing if all is."""
    expect = case.expect
    problems = [f"it writes outside the folder of the test: {path}" for path in seen.outside]
    if seen.messages("Errors") and not expect.errors:
        return [*problems, *(f"it failed: {message}" for message in seen.messages("Errors")), *seen.raised_at]
    problems += _check_errors(expect, seen)
    problems += _check_messages(expect, seen)
    if expect.nothing_written and seen.changed:
        problems.append(f"nothing was to be written, and these changed: {', '.join(seen.changed[:_MOST_SHOWN])}")
    if expect.rows is not None or expect.schema is not None:
        problems += _check_table(expect, seen.tables[expect.table or RETURNED])
    if expect.data is not None:
        problems += _check_data(expect.data, seen.response["Data"])
    problems += _check_files(expect, seen)
    return problems


def at_most(lines: Iterator[str]) -> list[str]:
    """Return the first of the lines, and how many more there are."""
    first = list(islice(lines, _MOST_SHOWN))
    more = sum(1 for _ in lines)
    return [*first, f"… and {more} more"] if more else first


def _check_errors(expect: Expectation, seen: Observation) -> Iterator[str]:
    found = seen.messages("Errors")
    if expect.errors and not found:
        yield f"it was to fail with {_list_messages(expect.errors)}, and it succeeded"
        return
    yield from _find_unmatched("error", expect.errors, found)
    for message in found:
        if not any(has_part(part, message) for part in expect.errors):
            yield f"an error that was not expected: {message}"


def _check_messages(expect: Expectation, seen: Observation) -> Iterator[str]:
    yield from _find_unmatched("information", expect.info, seen.messages("Info"))
    if expect.warnings is None:
        return
    found = seen.messages("Warnings")
    yield from _find_unmatched("warning", expect.warnings, found)
    for message in found:
        if not any(has_part(part, message) for part in expect.warnings):
            yield f"a warning that was not expected: {message}"


def _find_unmatched(kind: str, parts: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    for part in parts:
        if not any(has_part(part, message) for message in found):
            yield f"no {kind} has {render_cell(part)} in it; there are: {_list_messages(found) or 'none'}"


def _list_messages(messages: Sequence[str]) -> str:
    return ", ".join(map(render_cell, messages))


def _check_table(expect: Expectation, table: SeenTable | str) -> list[str]:
    where = f"{expect.table}: " if expect.table else ""
    if isinstance(table, str):
        return [f"{where}{table}"]
    problems = [] if expect.schema is None else list(_check_schema(expect.schema, table))
    if expect.rows is not None and not problems:
        problems = at_most(_check_rows(expect.rows, table, expect))
    return [f"{where}{problem}" for problem in problems]


def _check_schema(expected: Mapping[str, str], table: SeenTable) -> Iterator[str]:
    found = {each.name: each.type for each in table.schema}
    for name in [name for name in expected if name not in found]:
        yield f"there is no column {name}; the columns are {', '.join(found)}"
    for name in [name for name in found if name not in expected]:
        yield f"the column {name} ({found[name]}) was not expected"
    for name, word in expected.items():
        if name in found and found[name] != arrow_type(word):
            yield f"column {name}: expected {word}, got {found[name]}"
    if list(expected) != list(found) and set(expected) == set(found):
        yield f"the columns are in another order: {', '.join(found)}"


def _check_rows(rows: Sequence[Mapping[str, Any]], table: SeenTable, expect: Expectation) -> Iterator[str]:
    kinds = {each.name: each.type for each in table.schema}
    named = {name for row in rows for name in row} | set(expect.schema or ())
    problems = [f"there is no column {name}; the columns are {', '.join(kinds)}" for name in sorted(named - set(kinds))]
    if rows:
        problems += [f"the column {name} ({kinds[name]}) was not expected" for name in kinds if name not in named]
    typed = []
    for number, row in enumerate(rows, 1):
        cells = {}
        for name, kind in kinds.items():
            try:
                cells[name] = read_cell(row.get(name), kind)
            except BadCell as error:
                problems.append(f"row {number}: {name}: the column is of type {kind}: {error}")
        typed.append(cells)
    yield from problems or row_differences(typed, table.rows, ordered=expect.ordered)


def _check_data(expected: Any, found: Sequence[Any]) -> list[str]:
    if isinstance(expected, list):
        return at_most(_part_differences("data", expected, list(found)))
    # The item that its author meant is the one that has most of the keys.
    likely = max(
        found, key=lambda each: len(set(expected) & set(each)) if isinstance(each, Mapping) else -1, default=None
    )
    return at_most(_part_differences("data", expected, likely))


def _part_differences(place: str, expected: Any, found: Any) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name, each in expected.items():
            if name in found:
                yield from _part_differences(f"{place}.{name}", each, found[name])
            else:
                yield f"{place}.{name}: there is no such key; there are {', '.join(map(str, found))}"
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: expected {len(expected)} items, got {len(found)}: {render_cell(found)}"
            return
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _part_differences(f"{place}[{number}]", one, other)
    elif isinstance(expected, str) and isinstance(found, str):
        if not is_text(expected, found):
            yield f"{place}: expected {render_cell(expected)}, got {render_cell(found)}"
    elif _number_key(expected) != _number_key(found):
        yield f"{place}: expected {render_cell(expected)}, got {render_cell(found)}"


def _number_key(value: Any) -> Any:
    # JSON has one kind of number: 1 and 1.0 are the same there.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return cell_key(float(value)) if is_number else cell_key(value)


def _check_files(expect: Expectation, seen: Observation) -> Iterator[str]:
    for path, text in expect.files.items():
        content = seen.files.get(path)
        if text is None:
            if content is not None:
                yield f"{path}: the file was not to be there"
        elif content is None:
            yield f"{path}: there is no such file"
        elif not is_text(text, content):
            yield f"{path}: expected {render_cell(text)}, got {render_cell(content[:_LONGEST])}"
