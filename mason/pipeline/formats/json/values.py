"""One JSON object from its text, only if a table can hold all of it; and values as JSON text again."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mason.pipeline.formats.json.digits import exact_number

DEEPEST = 100
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]").search
_SEPARATORS = re.compile(r"[\s,]*").match
_ODD_NUMBER = re.compile(r"[0-9](?:[0-9.]{16}|[eE]\+?[0-9]{3})").search


class NotAnObject(ValueError):
    """Raised when a text is not a JSON object, or one that no table can hold, with the reason."""


@dataclass(frozen=True)
class BadElement:
    """An element of JSON that no table can hold: its text, and the reason."""

    text: str
    reason: str


def load(text: str, decoder: json.JSONDecoder | None = None) -> Any:
    """Return the JSON value in a text. A fraction is a double where that is the same number, else a decimal.

    With `DIGITS_DECODER` every fraction is a decimal.

    Raises:
        NotAnObject: it is not JSON, or says something that would be lost.
        ValueError: it is not JSON.
    """
    _check_depth(text)
    try:
        value = (decoder or _decoder_for(text)).decode(text)
    except RecursionError as error:
        raise NotAnObject("it is nested too deeply") from error
    check_characters(text, value)
    return value


def load_all(text: str, decoder: json.JSONDecoder | None = None) -> list[Any]:
    """Return the JSON values that stand one behind the other in a text, with commas between them or without.

    Raises:
        NotAnObject: as `load` does.
        ValueError: it is not JSON.
    """
    _check_depth(text)
    decode = (decoder or _decoder_for(text)).raw_decode
    values = []
    place = _skip_separators(text, 0)
    while place < len(text):
        try:
            value, place = decode(text, place)
        except RecursionError as error:
            raise NotAnObject("it is nested too deeply") from error
        values.append(value)
        place = _skip_separators(text, place)
    check_characters(text, values)
    return values


def load_each(text: str, decoder: json.JSONDecoder | None = None) -> list[Any]:
    """Return the elements of an array, or values one behind the other; those that no table can hold as `BadElement`s.

    Raises:
        ValueError: it is not JSON.
    """
    loaded: list[Any] = []
    for element in _split_elements(text):
        try:
            loaded.append(load(element, decoder))
        except NotAnObject as problem:
            loaded.append(BadElement(element, str(problem)))
    return loaded


def check_characters(text: str, value: Any) -> None:
    """See that a value consists of characters; `text` is the JSON that it was read from.

    Raises:
        NotAnObject: half of a pair that stands for a character is in it.
    """
    if may_have_halves(text) and not _is_unicode(value):
        raise NotAnObject("half of a surrogate pair stands in it, which is not a character")


def may_have_halves(text: str) -> bool:
    """Say whether JSON has escapes that stand for halves of characters, each with its other half or not."""
    return _ESCAPED_SURROGATE(text) is not None


def end_of_value(text: str, place: int) -> int:
    """Return where the JSON value ends that begins at a place, whether a table can hold it or not.

    Raises:
        ValueError: there is none.
    """
    return _LENIENT.raw_decode(text, place)[1]


def _split_elements(text: str) -> Iterator[str]:
    place = _skip_separators(text, 0)
    end = len(text)
    if text.startswith("[", place):
        _LENIENT.decode(text)  # its commas are where they belong
        place, end = _skip_separators(text, place + 1), text.rindex("]")
    while place < end:
        after = end_of_value(text, place)
        yield text[place:after]
        place = _skip_separators(text, after)


def _skip_separators(text: str, place: int) -> int:
    found = _SEPARATORS(text, place)
    return found.end() if found else place


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


def dump(value: Any, as_text: Callable[[Any], str]) -> str:
    """Return a value as JSON text, in which decimals are numbers; `as_text` says what JSON has no word for."""
    decimals: list[Decimal] = []

    def plain(each: Any) -> str:
        if not isinstance(each, Decimal):
            return as_text(each)
        decimals.append(each)
        return ""

    text = json.dumps(value, ensure_ascii=False, default=plain)
    return _dump_parts(value, as_text) if decimals else text


def _dump_parts(value: Any, as_text: Callable[[Any], str]) -> str:
    """Python's encoder has no way to write a number of its own choice."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(str(key), ensure_ascii=False)}: {dump(each, as_text)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(dump(each, as_text) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False, default=as_text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Python would keep the last of several values of a key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotAnObject(f'the key "{twice}" occurs more than once')
    return found


def _exact(number: str) -> float | Decimal:
    value = exact_number(number)
    if value in (float("inf"), float("-inf")):
        raise NotAnObject(f"the number {number} is too large")
    return value


DIGITS_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=Decimal)
EXACT_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_exact)
_DECODER = json.JSONDecoder(object_pairs_hook=_once)
_LENIENT = json.JSONDecoder()


def _decoder_for(text: str) -> json.JSONDecoder:
    return EXACT_DECODER if _ODD_NUMBER(text) else _DECODER  # the check costs a call for each number


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
        return bool(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8"))
    except UnicodeEncodeError:
        return False
