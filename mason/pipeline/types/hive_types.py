"""Arrow's types as Hive, Glue and Athena spell them, and back.

Hive has fewer types: an unsigned integer becomes the next wider signed one, an instant and a naive time are both
`timestamp`, a time of day and a duration are the integers that they are stored as. Field names that are not plain are
put into backticks, as Spark does; Hive itself has no way to write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyarrow as pa

from mason.errors import Unsupported
from mason.pipeline.types.column_types import INSTANT, NAIVE

MOST_DIGITS = 38
_TO_HIVE: Mapping[pa.DataType, str] = {
    pa.null(): "string",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float16(): "float",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.date32(): "date",
    pa.date64(): "date",
}
_FROM_HIVE: Mapping[str, pa.DataType] = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "real": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": NAIVE,
    "timestamp with local time zone": INSTANT,
    "timestamp with time zone": INSTANT,
}
_PLAIN_NAME = re.compile(r"\w+")
_TOKEN = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)*)`|(?P<mark>[<>(),:])|(?P<word>[^<>(),:`]+))")


def hive_type(declared: pa.DataType) -> str:
    """Return Hive's name of a type.

    Raises:
        Unsupported: Hive has nothing that would hold it.
    """
    if declared in _TO_HIVE:
        return _TO_HIVE[declared]
    if pa.types.is_decimal(declared) and 0 <= declared.scale <= declared.precision <= MOST_DIGITS:
        return f"decimal({declared.precision},{declared.scale})"
    if pa.types.is_timestamp(declared):
        return "timestamp"
    if pa.types.is_time(declared) or pa.types.is_duration(declared):
        return "int" if declared.bit_width == 32 else "bigint"
    if pa.types.is_fixed_size_binary(declared):
        return "binary"
    if pa.types.is_dictionary(declared):
        return hive_type(declared.value_type)
    return _type_inside(declared)


def arrow_type(text: str) -> pa.DataType:
    """Return the Arrow type that a Hive type names.

    Raises:
        ValueError: it is not a type that Mason knows.
    """
    tokens = _Tokens(text)
    found = _read_type(tokens)
    if tokens.next():
        raise ValueError(f'"{text}" goes on where it should end')
    return found


def odd_names(declared: pa.DataType) -> list[str]:
    """Return the names of fields inside a type that Hive cannot write."""
    inner = [declared.field(number) for number in range(declared.num_fields)]
    own = [each.name for each in inner if not _PLAIN_NAME.fullmatch(each.name)] if pa.types.is_struct(declared) else []
    return [*own, *(name for each in inner for name in odd_names(each.type))]


def _type_inside(declared: pa.DataType) -> str:
    if pa.types.is_list(declared) or pa.types.is_large_list(declared) or pa.types.is_fixed_size_list(declared):
        return f"array<{hive_type(declared.value_type)}>"
    if pa.types.is_map(declared):
        return f"map<{hive_type(declared.key_type)},{hive_type(declared.item_type)}>"
    if pa.types.is_struct(declared):
        fields = [declared.field(number) for number in range(declared.num_fields)]
        return f"struct<{','.join(f'{_name(each.name)}:{hive_type(each.type)}' for each in fields)}>"
    raise Unsupported(f"Hive, Glue and Athena have no type that holds {declared}.")


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


class _Tokens:
    """The words and marks of a type, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found = self._split()
        self._waiting: tuple[str, bool] | None = None

    def next(self) -> str:
        """Return the next word or mark; "" at the end."""
        return self._take()[0]

    def skip(self, mark: str) -> bool:
        """Go past a mark, if it is the next."""
        taken = self._take()
        if taken == (mark, True):
            return True
        self._waiting = taken
        return False

    def expect(self, mark: str) -> None:
        if not self.skip(mark):
            raise ValueError(f'in "{self.text}" a "{mark}" is missing')

    def _take(self) -> tuple[str, bool]:
        if self._waiting is not None:
            taken, self._waiting = self._waiting, None
            return taken
        return next(self._found, ("", False))

    def _split(self) -> Iterator[tuple[str, bool]]:
        place = 0
        while self.text[place:].strip():
            found = _TOKEN.match(self.text, place)
            if found is None:
                raise ValueError(f'"{self.text}" cannot be read')
            place = found.end()
            if found["quoted"] is not None:
                yield found["quoted"].replace("``", "`"), False
            else:
                yield (found["mark"] or found["word"].strip()), bool(found["mark"])


def _read_type(tokens: _Tokens) -> pa.DataType:
    word = tokens.next().lower()
    if word == "array":
        tokens.expect("<")
        inner = _read_type(tokens)
        tokens.expect(">")
        return pa.list_(inner)
    if word == "map":
        tokens.expect("<")
        key = _read_type(tokens)
        tokens.expect(",")
        item = _read_type(tokens)
        tokens.expect(">")
        return pa.map_(key, item)
    if word == "struct":
        return _read_struct(tokens)
    if word in ("decimal", "numeric"):
        return _read_decimal(tokens)
    if word in ("varchar", "char") and tokens.skip("("):
        tokens.next()
        tokens.expect(")")
    if word not in _FROM_HIVE:
        raise ValueError(f'there is no type "{word}"')
    return _FROM_HIVE[word]


def _read_struct(tokens: _Tokens) -> pa.DataType:
    tokens.expect("<")
    fields: list[pa.Field] = []
    while not tokens.skip(">"):
        if fields:
            tokens.expect(",")
        name = tokens.next()
        tokens.expect(":")
        fields.append(pa.field(name, _read_type(tokens)))
    return pa.struct(fields)


def _read_decimal(tokens: _Tokens) -> pa.DataType:
    if not tokens.skip("("):
        return pa.decimal128(10, 0)
    precision, scale = tokens.next(), "0"
    if tokens.skip(","):
        scale = tokens.next()
    tokens.expect(")")
    if not (precision.isdecimal() and scale.isdecimal() and int(scale) <= int(precision) <= MOST_DIGITS):
        raise ValueError(f"decimal({precision},{scale}) does not exist")
    return pa.decimal128(int(precision), int(scale))
