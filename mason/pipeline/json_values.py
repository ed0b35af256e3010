"""One JSON object from its text, only if a table can hold all of it."""

from __future__ import annotations

import codecs
import json
import re
from decimal import Decimal
from typing import Any

DEEPEST = 100
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]").search
_LARGE_EXPONENT = re.compile(r"[eE]\+?[0-9]{3}").search


class NotAnObject(ValueError):
    """A text that is no JSON object, or one that no table can hold, with the reason."""


def load(text: str, decoder: json.JSONDecoder | None = None) -> Any:
    """Return the JSON value in a text; with `DIGITS_DECODER`, its fractions are decimals that have every digit.

    Raises:
        NotAnObject: it is no JSON, or says something that would be lost.
        ValueError: it is no JSON.
    """
    _check_depth(text)
    try:
        value = (decoder or _decoder_for(text)).decode(text)
    except RecursionError as error:
        raise NotAnObject("it is nested too deeply") from error
    if _ESCAPED_SURROGATE(text) and not _is_unicode(value):
        raise NotAnObject("half of a surrogate pair stands in it, which is no character")
    return value


def load_object(line: bytes, decoder: json.JSONDecoder | None = None) -> dict[str, Any]:
    """Return the object in a line, as `load` does.

    Raises:
        NotAnObject: it is none, or one that no table can hold.
    """
    try:
        value = load(line.removeprefix(codecs.BOM_UTF8).decode("utf-8"), decoder)
    except NotAnObject:
        raise
    except ValueError as error:
        raise NotAnObject("it is not a JSON object") from error
    if not isinstance(value, dict):
        raise NotAnObject("it is not a JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Python would keep the last of several values of a key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotAnObject(f'the key "{twice}" occurs more than once')
    return found


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise NotAnObject(f"the number {number} is too large")
    return value


DECODER = json.JSONDecoder(object_pairs_hook=_once)
DIGITS_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=Decimal)
_EXACT_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite)


def _decoder_for(text: str) -> json.JSONDecoder:
    return _EXACT_DECODER if _LARGE_EXPONENT(text) else DECODER  # the check costs a call for each number


def _check_depth(text: str) -> None:
    """Only a text with so many brackets can be so deep; then the depth is counted."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        if bracket[0] != '"':
            depth += 1 if bracket in "[{" else -1
            if depth > DEEPEST:
                raise NotAnObject("it is nested too deeply")


def _is_unicode(value: Any) -> bool:
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode("utf-8"))
    except UnicodeEncodeError:
        return False
