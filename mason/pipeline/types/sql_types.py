"""Schemas as SQL declares them: `id bigint, price decimal(10,2), tags array<string>, place struct<x: double>`.

Behind the type of a column a pattern may say how text stands for its values: `day date 'dd.MM.yyyy'`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from mason.errors import Unprocessable
from mason.pipeline.types.column_types import INSTANT, NAIVE
from mason.util.names import did_you_mean

_TOKEN = re.compile(
    r"""\s*(?:`(?P<tick>(?:[^`]|``)+)`|"(?P<quote>(?:[^"]|"")+)"|(?P<word>[\w.]+)|(?P<mark>[<>(),:\[\]=]))"""
)
_SCALARS: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("bigint", "long", "int64"), pa.int64()),
    **dict.fromkeys(("int", "integer", "int32"), pa.int32()),
    **dict.fromkeys(("smallint", "short", "int16"), pa.int16()),
    **dict.fromkeys(("tinyint", "byte", "int8"), pa.int8()),
    **dict.fromkeys(("double", "float64"), pa.float64()),
    **dict.fromkeys(("float", "real", "float32"), pa.float32()),
    **dict.fromkeys(("string", "text", "varchar"), pa.string()),
    **dict.fromkeys(("boolean", "bool"), pa.bool_()),
    **dict.fromkeys(("date", "date32"), pa.date32()),
    **dict.fromkeys(("timestamp", "timestamp_ntz", "datetime"), NAIVE),
    **dict.fromkeys(("timestamptz", "timestamp_ltz"), INSTANT),
    **dict.fromkeys(("time", "time64"), pa.time64("us")),
    "binary": pa.binary(),
}
_PATTERN = re.compile(r"\s*'((?:[^']|'')*)'")
_DECIMALS = ("decimal", "numeric", "decimal128")
_MOST_DIGITS = 38


class BadSchema(Unprocessable):
    """Raised when what was given is not a schema. 422 · exit 1"""


@dataclass(frozen=True)
class GivenSchema:
    """The types that columns must have, and how text stands for values of them, where that is not as usual."""

    types: Mapping[str, pa.DataType]
    patterns: Mapping[str, str]


def parse_schema(text: str) -> dict[str, pa.DataType]:
    """Return the columns that a declaration names, with their types.

    A name may be put in quotes or backticks. The names of types are those of SQL and Spark, or those that Mason prints.

    Raises:
        BadSchema: it cannot be read; the message says where.
    """
    given = parse_given_schema(text)
    if given.patterns:
        name, pattern = next(iter(given.patterns.items()))
        raise BadSchema(f'In the schema "{text}" \'{pattern}\' stands behind "{name}": there is not text to read here.')
    return dict(given.types)


def parse_given_schema(text: str) -> GivenSchema:
    """Return the columns that a declaration names, with their types and patterns.

    Raises:
        BadSchema: it cannot be read; the message says where.
    """
    parser = _Parser(text)
    columns: dict[str, pa.DataType] = {}
    patterns: dict[str, str] = {}
    while not parser.at_end:
        name, declared = parser.column()
        if name in columns:
            raise BadSchema(f'The schema names "{name}" twice.')
        columns[name] = declared
        if pattern := parser.pattern():
            patterns[name] = _check_argument(name, pattern, declared)
        if not parser.at_end:
            parser.expect(",")
    return GivenSchema(columns, patterns)


def _check_argument(name: str, pattern: str, declared: pa.DataType) -> str:
    from mason.pipeline.types.value_patterns import BadPattern, compile_pattern

    try:
        compile_pattern(pattern, declared)
    except BadPattern as error:
        raise BadSchema(f'Column "{name}" of the schema: {error}') from error
    return pattern


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    @property
    def at_end(self) -> bool:
        return not self._text[self._place :].strip()

    def column(self) -> tuple[str, pa.DataType]:
        name = self._name()
        self._skip(":")
        return name, self._type()

    def pattern(self) -> str:
        """Return what stands in single quotes here; nothing where there is none."""
        found = _PATTERN.match(self._text, self._place)
        if found is None:
            return ""
        self._place = found.end()
        return found[1].replace("''", "'")

    def expect(self, mark: str) -> None:
        if not self._skip(mark):
            found = self._text[self._place :].strip()[:20] or "its end"
            raise BadSchema(f'In the schema "{self._text}" a "{mark}" is missing before "{found}".')

    def _type(self) -> pa.DataType:
        word = self._name().lower()
        if word in ("array", "list"):
            return self._parse_in_brackets(lambda: pa.list_(self._element()))
        if word == "map":
            return self._parse_in_brackets(self._map)
        if word == "struct":
            return self._parse_in_brackets(self._struct)
        if word in _DECIMALS:
            return self._decimal()
        if word == "timestamp" and self._skip("["):
            return self._parse_timestamp()
        if word in ("date32", "time64") and self._skip("["):
            self._name()  # the unit, as Arrow prints it
            self.expect("]")
        if word == "varchar" and self._skip("("):
            self._name()
            self.expect(")")
        if word not in _SCALARS:
            known = [*_SCALARS, "decimal", "array", "map", "struct"]
            hint = did_you_mean(word, known) or f"Types: {', '.join(known)}."
            raise BadSchema(f'The schema "{self._text}" has an unknown type "{word}".', hint=hint)
        return _SCALARS[word]

    def _element(self) -> pa.DataType:
        start = self._place
        if self._match() and self._skip(":"):  # Mason prints list<element: string>
            return self._type()
        self._place = start
        return self._type()

    def _map(self) -> pa.DataType:
        key = self._type()
        self.expect(",")
        return pa.map_(key, self._type())

    def _struct(self) -> pa.DataType:
        fields = [self.column()]
        while self._skip(","):
            fields.append(self.column())
        return pa.struct(fields)

    def _parse_in_brackets(self, inside: Callable[[], pa.DataType]) -> pa.DataType:
        self.expect("<")
        found = inside()
        self.expect(">")
        return found

    def _decimal(self) -> pa.DataType:
        if not self._skip("("):
            return pa.decimal128(18, 2)
        precision, scale = self._number(), 0
        if self._skip(","):
            scale = self._number()
        self.expect(")")
        if not scale <= precision <= _MOST_DIGITS:
            raise BadSchema(
                f"decimal({precision},{scale}) does not exist: at most {_MOST_DIGITS} digits, scale included."
            )
        return pa.decimal128(precision, scale)

    def _parse_timestamp(self) -> pa.DataType:
        self._name()  # the unit: Mason keeps microseconds
        zoned = self._skip(",")
        if zoned:
            self._name()
            self.expect("=")
            self._name()
        self.expect("]")
        return INSTANT if zoned else NAIVE

    def _number(self) -> int:
        word = self._name()
        if not word.isdecimal():
            raise BadSchema(f'In the schema "{self._text}" a number is expected, not "{word}".')
        return int(word)

    def _name(self) -> str:
        found = self._match()
        if found is None:
            raise BadSchema(f'The schema "{self._text}" ends where a name or a type is expected.')
        if found["mark"]:
            raise BadSchema(f'In the schema "{self._text}" a name or a type is expected before "{found["mark"]}".')
        if found["tick"]:
            return found["tick"].replace("``", "`")
        return found["quote"].replace('""', '"') if found["quote"] else found["word"]

    def _skip(self, mark: str) -> bool:
        found = _TOKEN.match(self._text, self._place)
        if found is None or found["mark"] != mark:
            return False
        self._place = found.end()
        return True

    def _match(self) -> re.Match[str] | None:
        found = _TOKEN.match(self._text, self._place)
        if found is None and not self.at_end:
            raise BadSchema(f'The schema "{self._text}" cannot be read from "{self._text[self._place :][:20]}" on.')
        if found:
            self._place = found.end()
        return found
