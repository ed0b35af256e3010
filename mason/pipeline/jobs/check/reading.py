"""Checks as users write them: a mapping in a file of parameters, or a short text on the command line.

- check: range                        range price min=0 max=100 on_failure=warn
  column: price
  min: 0
  max: 100
  on_failure: warn
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from mason.errors import InvalidParameters
from mason.pipeline.jobs.check.checks import BLOCK, KINDS, LISTS, ROW_COUNT, WARN, BadCheck, Check, Kind, format_check
from mason.util.names import did_you_mean

_COMMON = ("check", "column", "columns", "on_failure", "name")
_AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)", re.IGNORECASE).fullmatch
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGE_UNITS: Mapping[str, str] = {**_UNITS, **{word: unit for unit in _UNITS.values() for word in (unit[:-1], unit)}}
"""What a time may be counted in, each with the word that Python has for it."""

_MOST_DIGITS = 18
"""Of a number of rows."""


def read_checks(given: Sequence[Any]) -> list[Check]:
    """Return the checks that were given.

    Raises:
        InvalidParameters: with all that is wrong with any of them.
    """
    checks: list[Check] = []
    problems: list[str] = []
    for number, each in enumerate(given, 1):
        try:
            checks.append(_read(each))
        except BadCheck as error:
            problems.append(f"Check {number}: {error}")
    names = [each.name for each in checks]
    problems += [f'The check "{name}" is there twice.' for name in dict.fromkeys(names) if names.count(name) > 1]
    if not given:
        problems.append('There is no check. Give some, such as checks:"not_null id,unique id".')
    if problems:
        raise InvalidParameters(problems)
    return checks


def read_age(text: str) -> timedelta:
    """Return the time that a text such as `36h` says.

    Raises:
        BadCheck: it says none.
    """
    found = _AGE(text.strip())
    unit = AGE_UNITS.get(found[2].lower()) if found else None
    if not found or not unit:
        raise BadCheck(f'max_age "{text}" is not a time. Say it as 90m, 36h, 2d or 1w.')
    try:
        return timedelta(**{unit: float(found[1])})
    except OverflowError:
        raise BadCheck(f'max_age "{text}" is longer than any time. Say it as 90m, 36h, 2d or 1w.') from None


def _read(given: Any) -> Check:
    if isinstance(given, str):
        given = _of_text(given)
    if not isinstance(given, Mapping):
        raise BadCheck('it must be a text such as "not_null id", or a mapping such as {check: not_null, column: id}.')
    kind = _kind(given)
    check = Check(
        kind=kind,
        name="",
        columns=_columns(given, KINDS[kind]),
        on_failure=_on_failure(given),
        **_arguments(given, kind),
    )
    _check_limits(check)
    if check.referenced_columns and len(check.referenced_columns) != len(check.columns):
        raise BadCheck("referenced_columns must be as many as the columns.")
    return replace(check, name=_text(given.get("name") or "") or format_check(check))


def _of_text(text: str) -> dict[str, Any]:
    """Take a short text apart: the kind of check, columns, and arguments with their names."""
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.escape, words.commenters = True, "", ""  # a backslash is the expression's own
    try:
        kind, *rest = list(words) or [""]
    except ValueError:
        raise BadCheck(f"a quote is opened and not closed: {text}") from None
    given: dict[str, Any] = {"check": kind}
    columns: list[str] = []
    for word in rest:
        name, equals, value = word.partition("=")
        if equals and name in given:
            raise BadCheck(f"{name} is given twice: {text}")
        if equals:
            given[name] = value.split("|") if name in LISTS else value
        else:
            columns.append(word)
    if columns and "columns" in given:
        raise BadCheck(f"columns are given twice: {text}")
    return {**given, "columns": columns} if columns else given


def _kind(given: Mapping[Any, Any]) -> str:
    kind = _text(given.get("check") or "")
    if kind not in KINDS:
        near = did_you_mean(kind, KINDS) or f"Checks: {', '.join(KINDS)}."
        raise BadCheck(f'there is no check "{kind}". {near}' if kind else f"which check? {near}")
    known = [*_COMMON, *KINDS[kind].arguments]
    for key in given:
        if key not in known:
            near = did_you_mean(str(key), known) or f"It takes {', '.join(known[1:])}."
            raise BadCheck(f'{kind} takes no "{key}". {near}')
    return kind


def _columns(given: Mapping[Any, Any], kind: Kind) -> tuple[str, ...]:
    if "column" in given and "columns" in given:
        raise BadCheck("it has a column and columns: give one of them.")
    columns = tuple(_texts(given.get("column", given.get("columns", []))))
    wanted = {"none": not columns, "one": len(columns) == 1, "some": bool(columns)}
    if not wanted[kind.columns]:
        rules = {"none": "takes no column", "one": "takes one column", "some": "needs a column"}
        raise BadCheck(f"{_text(given['check'])} {rules[kind.columns]}.")
    return columns


def _on_failure(given: Mapping[Any, Any]) -> str:
    word = _text(given.get("on_failure", BLOCK))
    if word not in (BLOCK, WARN):
        raise BadCheck(f'on_failure must be {BLOCK} or {WARN}, not "{word}".')
    return word


def _arguments(given: Mapping[Any, Any], kind: str) -> dict[str, Any]:
    wanted = KINDS[kind]
    read: dict[str, Any] = {}
    for name in wanted.arguments:
        if given.get(name) is not None:
            read[name] = tuple(_texts(given[name])) if name in LISTS else _text(given[name])
    missing = [name for name in wanted.required if not read.get(name)]
    if missing:
        raise BadCheck(f"{kind} needs {', '.join(missing)}.")
    if wanted.least_one and not any(read.get(name) for name in wanted.least_one):
        raise BadCheck(f"{kind} needs {' or '.join(wanted.least_one)}.")
    return read


def _check_limits(check: Check) -> None:
    if check.max_age:
        read_age(check.max_age)
    if check.kind != ROW_COUNT:
        return
    for name, limit in (("min", check.min), ("max", check.max)):
        if limit and (not limit.isdecimal() or len(limit) > _MOST_DIGITS):
            raise BadCheck(f'{name} must be a number of rows, not "{limit}".')
    if check.min and check.max and int(check.min) > int(check.max):
        raise BadCheck(f"min {check.min} is more than max {check.max}.")


def _texts(given: Any) -> Iterator[str]:
    for each in given if isinstance(given, list | tuple) else [given]:
        if each is None:
            raise BadCheck("null is not allowed here; use the not_null check.")
        yield _text(each)


def _text(given: Any) -> str:
    if isinstance(given, Mapping | list):
        raise BadCheck(f"{given} is not a plain value.")
    return str(given).lower() if isinstance(given, bool) else str(given)
