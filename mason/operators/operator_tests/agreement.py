"""Do two configurations agree? What they made of the same test is compared, without ids, times and places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mason.operators.operator_tests.case import Case
from mason.operators.operator_tests.cells import cell_key, render_cell
from mason.operators.operator_tests.judgement import at_most
from mason.operators.operator_tests.observation import Observation, SeenTable
from mason.operators.operator_tests.row_differences import row_differences
from mason.util.json_text import json_text

_ID = re.compile(
    r"[0-9a-f]{16}-\d+-[0-9a-f]+"
    r"|(?<![0-9A-Za-z])([0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9A-Za-z])"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:?\d\d:?\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_TOOK = re.compile(r"\d+(\.\d+)? ?(ms|s|seconds?)\b")
_TOOK_KEY = re.compile(r"(Seconds|Milliseconds|Duration)$")
_OF_A_PLAN = ("Configuration", "Clients")  # every plan begins with them
_OF_AN_ENGINE = ("Files", "Bytes", "Tasks", "TasksDone", "Samples")
"""How an engine divides rows into files, and which of them come first, is its own affair."""
_ROWS = "Rows"
_CONFIGURATION = "Configuration"
_JOB = "JobID"
_BYTES = "Bytes"
_LONGEST = 300
_TOLERANCE = timedelta(seconds=2)


def disagreements(case: Case, one: Observation, other: Observation) -> list[str]:
    """Return how two configurations differ in what they made of a test."""
    return at_most(_differences(case, one, other))


def _differences(case: Case, one: Observation, other: Observation) -> Iterator[str]:
    may_differ = (*case.expect.may_differ, *(_OF_A_PLAN if case.plan else ()))
    words = (one.configuration, other.configuration)
    if bool(one.messages("Errors")) != bool(other.messages("Errors")):
        failed, fine = words if one.messages("Errors") else words[::-1]
        yield f"{failed} failed, {fine} did not"
        return
    for kind in one.response:
        first, second = (_plain(each.response[kind], each, may_differ) for each in (one, other))
        yield from _value_differences(kind, first, second, words)
    for path in sorted({*one.tables, *other.tables}):
        yield from _table_differences(path, one.tables.get(path), other.tables.get(path), words, case.expect.ordered)
    files = [
        {_plain(path, each, ()): _plain(content, each, ()) for path, content in each.files.items()}
        for each in (one, other)
    ]
    yield from _value_differences("files", files[0], files[1], words)


def _plain(value: Any, seen: Observation, may_differ: Sequence[str]) -> Any:
    """Return a value without what is new in every run: ids, times between its begin and its end, durations.

    The name of the configuration goes, too, where a job says which one it was run with, and how large its files are:
    that follows from the order of the rows, which does not matter.
    """
    if isinstance(value, Mapping):
        own = {_CONFIGURATION} if value.get(_CONFIGURATION) == seen.configuration else set()
        if value.get("JobType") == "transform":
            may_differ = (*may_differ, *_OF_AN_ENGINE)
        own |= {_BYTES} if _JOB in value else set()
        names = (name for name in value if name not in {*may_differ, *own} and not _TOOK_KEY.search(name))
        # What is in rows are data, whatever it looks like.
        return {
            _plain(name, seen, ()): value[name] if name == _ROWS else _plain(value[name], seen, may_differ)
            for name in names
        }
    if isinstance(value, list):
        return [_plain(each, seen, may_differ) for each in value]
    if not isinstance(value, str):
        return value
    timeless = _TIME.sub(lambda found: "<time>" if _is_of_run(found[0], seen) else found[0], value)
    nameless = _ID.sub("<id>", timeless)
    for each in seen.ids:
        nameless = nameless.replace(each[:8], "<id>")
    return _TOOK.sub("<duration>", nameless)


def _is_of_run(text: str, seen: Observation) -> bool:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return seen.began - _TOLERANCE <= known <= seen.ended + _TOLERANCE


def ids_in(value: Any) -> list[str]:
    """Return the ids that are in a value."""
    return sorted({found[0] for found in _ID.finditer(json_text(value))})


def _value_differences(place: str, one: Any, other: Any, words: tuple[str, str]) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            if name in one and name in other:
                yield from _value_differences(f"{place}.{name}", one[name], other[name], words)
            else:
                has, lacks = words if name in one else words[::-1]
                yield f"{place}.{name}: {has} has it, {lacks} has not"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _value_differences(f"{place}[{number}]", first, second, words)
    elif cell_key(one) != cell_key(other):
        yield f"{place}: {words[0]} {_short(one)}, {words[1]} {_short(other)}"


def _table_differences(
    path: str, one: SeenTable | str | None, other: SeenTable | str | None, words: tuple[str, str], ordered: bool
) -> Iterator[str]:
    where = path or "the rows of the response"
    if isinstance(one, SeenTable) and isinstance(other, SeenTable):
        if one.schema.equals(other.schema, check_metadata=False):
            rows = row_differences(one.rows, other.rows, ordered=ordered, words=words)
            yield from (f"{where}: {each}" for each in rows)
        else:
            yield f"{where}: {words[0]} has ({_columns(one)}), {words[1]} has ({_columns(other)})"
    elif isinstance(one, SeenTable) or isinstance(other, SeenTable):
        has, lacks = words if isinstance(one, SeenTable) else words[::-1]
        yield f"{where}: {has} has a table there, {lacks} has none"


def _short(value: Any) -> str:
    text = render_cell(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _columns(table: SeenTable) -> str:
    return ", ".join(f"{each.name} {each.type}" for each in table.schema)
