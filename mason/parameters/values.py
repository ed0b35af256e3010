"""What a parameter's text means, type by type."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from mason.errors import InvalidParameters
from mason.parameters.definition import CHECKS, INTEGERS, ParameterDefinition
from mason.util.names import did_you_mean

_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LONGEST_INTEGER = 100
_NOTHING = '""'
_HAS_NOTHING = re.compile(r'(?:^|,)\s*""\s*(?:,|$)').search
_TABLE = re.compile(r"[^.\s/]+\.[^.\s/]+")
_VERSION = re.compile(r"^(.*\S)\s+VERSION\s+AS\s+OF\s+(\S+)$", re.IGNORECASE | re.DOTALL)
_TABLE_FORMATS = ("csv", "tsv", "json", "jsonl", "ndjson", "parquet", "orc", "avro", "msgpack", "xlsx")
_TABLE_ENDINGS = tuple(f".{each}{packed}" for each in _TABLE_FORMATS for packed in ("", ".gz", ".zst", ".bz2"))
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


class BadValue(Exception):
    """Raised when a value does not fit its type; the text says what would."""


class BadElements(Exception):
    """Raised when elements of a list cannot be what they should; every message says of which."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__(*messages)
        self.messages = messages


def is_path(text: str) -> bool:
    """Say whether a text is the path of a table: it has a slash or a scheme in it, or the ending of a data file."""
    return "/" in text or text.lower().endswith(_TABLE_ENDINGS)


def is_table_name(text: str) -> bool:
    """Say whether a text can name a table, by a path or by its database."""
    return "\0" not in text and (is_path(text) or _TABLE.fullmatch(text) is not None)


def split_version(text: str) -> tuple[str, str]:
    """Return a table as it is written, and the version that is meant; "" for the newest."""
    found = _VERSION.match(text.strip())
    return (found[1], found[2]) if found else (text.strip(), "")


def read_value(definition: ParameterDefinition, given: Any) -> Any:
    """Return the typed value of what was given, as text or as a value of a file or of a request.

    Raises:
        BadValue: it does not fit.
        BadElements: it is a list of what it should be none of.
    """
    try:
        return _read_value(definition, given)
    except RecursionError:  # thousands of braces: nobody reads them in a message, either
        raise BadValue(f"must be of type {definition.type}, and is nested too deep to be read") from None


def _read_value(definition: ParameterDefinition, given: Any) -> Any:
    _check_characters(given)
    if definition.type == "list":
        values = _read_list(given)
        for each in values:
            _check_element(definition, each)
            _check_limits(definition, each)
        if definition.elements == CHECKS:
            _check_checks(values)
        return values
    if definition.type == "map":
        return _read_map(given)
    if isinstance(given, Mapping | list):
        but_given = "" if definition.type == "secret" else f", not {json.dumps(given)}"
        raise BadValue(f"must be of type {definition.type}{but_given}")
    value = _READERS[definition.type](_text(given))
    _check_limits(definition, value)
    return value


def _check_characters(given: Any) -> None:
    """Refuse what no file, table or message can hold: JSON can write half a character, a command line any byte."""
    if any(_HALF_A_CHARACTER.search(text) for text in _texts(given)):
        raise BadValue("has half a character in it, or a byte that is not UTF-8")


def _texts(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for name, each in given.items():
            yield str(name)
            yield from _texts(each)
    elif isinstance(given, list):
        for each in given:
            yield from _texts(each)


def _text(given: Any) -> str:
    return str(given).lower() if isinstance(given, bool) else str(given)


def _read_list(given: Any) -> list[Any]:
    if isinstance(given, list):
        return given
    if isinstance(given, Mapping):
        raise BadValue(f"must be a list, not {json.dumps(given, default=str)}")
    text = str(given).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])  # an element with a comma in it is put in quotes
    except csv.Error:
        raise BadValue(
            "must be a list such as a,b; an element with a comma or a new line in it is put in quotes"
        ) from None
    # Quotes around nothing stay: among words that mean null they stand for a quoted empty field.
    return [*(part.strip() for part in parts if part.strip()), *([_NOTHING] if _HAS_NOTHING(text) else [])]


def _check_element(definition: ParameterDefinition, value: Any) -> None:
    if isinstance(value, Mapping) and definition.takes_mappings:
        return
    if value is None or isinstance(value, Mapping | list):
        raise BadValue(f"must be a list of texts, and one element is {json.dumps(value, default=str)}")


def _check_checks(values: Sequence[Any]) -> None:
    from mason.pipeline.jobs.check.reading import read_checks

    try:
        read_checks(values)
    except InvalidParameters as error:
        raise BadElements(error.messages) from error


def _read_map(given: Any) -> dict[str, Any]:
    value = given
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except ValueError:
            raise BadValue(f'must be a JSON object such as {{"a": 1}}, not "{given}"') from None
        _check_characters(value)
    if not isinstance(value, Mapping):
        raise BadValue(f'must be a JSON object such as {{"a": 1}}, not {json.dumps(value, default=str)}')
    for name, each in value.items():
        if isinstance(each, Mapping | list):
            raise BadValue(f'must hold plain values, and "{name}" is {json.dumps(each, default=str)}')
    return {str(name): each for name, each in value.items()}


def _read_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text.strip()):
        raise BadValue(f'must be a whole number, not "{text}"')
    if len(text) > _LONGEST_INTEGER or not -INTEGERS <= int(text) < INTEGERS:
        raise BadValue("must be a whole number of 64 bits, which this is too large for")
    return int(text)


def _read_number(text: str) -> float | int:
    if not _NUMBER.fullmatch(text.strip()):
        raise BadValue(f'must be a number, not "{text}"')
    if _INTEGER.fullmatch(text.strip()) and len(text) <= _LONGEST_INTEGER and -INTEGERS <= int(text) < INTEGERS:
        return int(text)
    number = float(text)
    if math.isinf(number):
        raise BadValue(f'must be a number that a computer can hold, not "{text[:_LONGEST_INTEGER]}"')
    return number


def _read_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise BadValue(f'must be true or false, not "{text}"')
    return word in _TRUE


def _read_date(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise BadValue(f'must be a date such as 2026-01-31, not "{text}"') from None


def _read_timestamp(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadValue(f'must be a time such as 2026-01-31T12:30:00, not "{text}"') from None


def _read_path(text: str) -> str:
    if not text or "\0" in text:
        raise BadValue("must be a path, and not an empty one")
    return text


def _read_table(text: str) -> str:
    name, _ = split_version(text)
    if not is_table_name(name):
        raise BadValue(f'must be a table, as database.table or as a path with a "/" in it, not "{text}"')
    return text.strip()


_READERS: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "secret": str,
    "enum": str,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "date": _read_date,
    "timestamp": _read_timestamp,
    "path": _read_path,
    "table": _read_table,
}


def _check_limits(definition: ParameterDefinition, value: Any) -> None:
    if definition.choices and value not in definition.choices:
        near = did_you_mean(str(value), definition.choices)
        raise BadValue(f'must be one of {", ".join(definition.choices)}, not "{value}". {near}'.rstrip())
    if definition.minimum is not None and value < definition.minimum:
        raise BadValue(f"must be at least {definition.minimum}, not {value}")
    if definition.maximum is not None and value > definition.maximum:
        raise BadValue(f"must be at most {definition.maximum}, not {value}")
