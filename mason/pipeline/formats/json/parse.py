"""JSON lines as columns, fast: Arrow's parser reads a chunk where it provably says what Python's `json` would say.

The two differ in places. Arrow makes two rows of two objects in a line, one object of two lines, and a double of any
number where a double is asked for, however many digits it has; it does not mind bytes that are no UTF-8. So its rows
are counted against the lines, which are found by looking at bytes alone, and whatever leaves a doubt makes
`parse_lines` return None: then `json` reads the chunk, line by line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from mason.pipeline.formats.json.digits import lose_digits
from mason.pipeline.formats.json.values import NotAnObject, load_object
from mason.pipeline.formats.scanning import byte_bits
from mason.pipeline.formats.scanning.chunks import BEGINNING, LONGEST_RECORD
from mason.pipeline.formats.sources import Source, ValueSource, row_numbers
from mason.pipeline.types.column_types import Evidence, decide
from mason.pipeline.types.given_types import Fitted, fit_given_text
from mason.pipeline.types.value_types import classify_records

CHUNK = 16 * 1024 * 1024
_LARGEST = 2**31 - 2  # Arrow counts the bytes of a block in 32 bits
_RETURNS = re.compile(rb"\}[ \t]*\r[ \t\r]*(?=\{)")  # bare ones, between two objects
_BETWEEN = (b"}", b" ", b"\t", b"\r")
_SAMPLE_LINES = 20
_SAMPLE_BYTES = 64 * 1024
_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"
_INTEGER_MINUS_ZERO = re.compile(rb"-0[\s,}\]]").search
_NOT_EXACT_IN_DOUBLE = 2.0**53  # the double of 2**53 + 1, too
_MINUS_ZERO = np.iinfo(np.int64).min  # the bits of the double -0.0
_SAME_AS_JSON = frozenset([pa.string(), pa.bool_(), pa.int64(), pa.float64()])
_SAME_AS_TEXT = frozenset([pa.int64(), pa.bool_()])  # Arrow writes them as `json.dumps` does


@dataclass(frozen=True)
class ParsedSource:
    """Values of JSON that Arrow's parser read. Whatever it is asked, it answers as a `ValueSource` of them would."""

    values: pa.Array

    def fit(self, target: pa.DataType, timezone: str = "") -> pa.Array | None:
        if _becomes(self.values.type, target):
            return self.values.cast(target)
        return self._one_by_one().fit(target, timezone)

    def fit_given(self, target: pa.DataType, timezone: str = "") -> Fitted:
        if pa.types.is_string(self.values.type):
            return fit_given_text(self.values, target, timezone)
        if _becomes(self.values.type, target):
            return Fitted(self.values.cast(target))
        return self._one_by_one().fit_given(target, timezone)

    def value(self, index: int) -> Any:
        return self.values[index].as_py()

    def evidence(self) -> Evidence:
        return self._one_by_one().evidence()

    def take(self, indices: Sequence[int]) -> Source:
        return ParsedSource(self.values.take(row_numbers(indices)))

    def or_else(self, other: Source) -> Source | None:
        return self._one_by_one().or_else(other._one_by_one() if isinstance(other, ParsedSource) else other)

    def _one_by_one(self) -> ValueSource:
        return ValueSource(self.values.to_pylist())


@dataclass(frozen=True)
class ParsedLines:
    """The columns of a chunk, without those that are null in every row. `lines` counts the blank ones, too."""

    columns: Mapping[str, ParsedSource]
    rows: int
    lines: int


class Line(NamedTuple):
    """A line that is not blank: its number and its first byte in the (decoded) file."""

    number: int
    offset: int
    text: bytes

    @property
    def raw(self) -> str:
        return self.text.decode("utf-8", "surrogateescape")


class LongLine(NamedTuple):
    """A line of which only the beginning was read, since a text in it is too long."""

    begins: bytes
    length: int


def split_lines(
    blocks: Iterable[bytes], size: int = CHUNK, most_field: int | None = None
) -> Iterator[bytes | LongLine]:
    """Cut text that comes block by block behind lines, into chunks of about `size` bytes.

    Where the bytes of a field are limited, a line with a text of more is passed over, to its end.
    """
    pieces: list[bytes] = []
    held = 0
    coming = _with_newlines(blocks)
    for block in coming:
        end = block.rfind(b"\n") + 1
        held += len(block)
        if not end and most_field is not None and _is_too_long([*pieces, block], held, most_field):
            text = b"".join([*pieces, block])
            begin = text.rfind(b"\n") + 1
            if begin:
                yield text[:begin]
            length, rest = _pass_over(len(text) - begin, coming)
            yield LongLine(text[begin : begin + BEGINNING], length)
            pieces, held = [rest], len(rest)
            continue
        if not end or held < size:
            pieces.append(block)
            continue
        yield b"".join([*pieces, memoryview(block)[:end]])
        pieces, held = [block[end:]], len(block) - end
    if held:
        yield b"".join(pieces)


def _with_newlines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks with a newline for each bare return between two objects: so old files of the Mac end lines.

    Such a return stands within no object, in which a comma would be there as well. No byte moves.
    """
    held = b""
    for block in blocks:
        text = held + block if held else block
        held = b""
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            text = _RETURNS.sub(lambda found: found[0].replace(b"\r", b"\n"), text)
        if text.endswith(_BETWEEN):
            end = len(text.rstrip(b" \t\r"))
            if text[end - 1 : end] == b"}":  # a return may follow, and an object
                text, held = text[: end - 1], text[end - 1 :]
        if text:
            yield text
    if held:
        yield held


def _is_too_long(pieces: Sequence[bytes], held: int, most_field: int) -> bool:
    """Whether the line that is not at its end yet has no quote for longer than a text may be, or is beyond reach."""
    if held <= most_field:
        return False
    since = 0
    for piece in reversed(pieces):
        mark = max(piece.rfind(b'"'), piece.rfind(b"\n"))
        since += len(piece) - 1 - mark
        if mark >= 0:
            break
    return since > most_field or held >= LONGEST_RECORD


def _pass_over(begun: int, coming: Iterator[bytes]) -> tuple[int, bytes]:
    """Return how long a line is that has begun, and what stands behind it in the block that has its end."""
    length = begun
    for block in coming:
        end = block.find(b"\n") + 1
        if end:
            return length + end, block[end:]
        length += len(block)
    return length, b""


def parse_lines(
    text: bytes, targets: Mapping[str, pa.DataType], others: Collection[str] = (), *, own: bool = False
) -> ParsedLines | None:
    """Return the rows of a chunk of lines, or None where only `json` can be trusted with it.

    `targets` are the types that the table has for the keys; `others` are keys that may be there and are of any type.
    `own`: Mason wrote the lines, so that a number below a decimal is one, with all its digits.
    """
    text = text.removeprefix(codecs.BOM_UTF8)
    objects, lines = _count_objects(text) if text else (0, 0)
    if not objects or b"\0" in text or len(text) > _LARGEST:  # to some parsers, a zero byte is the end of all text
        return None
    parsed = _parse(text, _schema_to_ask_for(text, targets, others, own=own))
    if parsed is None or any(map(_lists_nulls, parsed.columns)):
        return None
    if parsed.num_rows != objects or not _is_unicode(parsed, text) or not _are_exact(parsed, text):
        return None
    if not own and not _have_their_digits(parsed, text):  # long numbers in Mason's own lines are decimals
        return None
    columns = {name: ParsedSource(values) for name, values in zip(parsed.schema.names, parsed.columns, strict=True)}
    filled = {name: source for name, source in columns.items() if not pa.types.is_null(source.values.type)}
    return ParsedLines(filled, objects, lines)


def lines_in(text: bytes, number: int, offset: int) -> Iterator[Line]:
    """Yield the lines of a chunk, whose first one has this number and offset."""
    for line in text.split(b"\n"):
        if line.removeprefix(codecs.BOM_UTF8).strip():
            yield Line(number, offset, line)
        number += 1
        offset += len(line) + 1


def _count_objects(text: bytes) -> tuple[int, int]:
    """Return how many lines are not blank, or 0 unless each of these begins and ends as an object does; and of all.

    Then no object spans two lines: behind the brace at the end of a line, and inside an object, the brace at the
    beginning of the next one would be a mistake.
    """
    content = np.frombuffer(text, dtype=np.uint8)
    ends = byte_bits.positions(byte_bits.find(content, _NEWLINE))
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    starts = np.concatenate([[0], ends[:-1] + 1])
    ends = ends - ((ends > starts) & (content[ends - 1] == _RETURN))
    present = ends > starts
    firsts, lasts = content[starts[present]], content[ends[present] - 1]
    return len(firsts) if bool(np.all((firsts == _OPEN) & (lasts == _CLOSE))) else 0, len(ends)


def _schema_to_ask_for(
    text: bytes, targets: Mapping[str, pa.DataType], others: Collection[str], *, own: bool
) -> pa.Schema:
    """Return what Arrow is asked for: what the table has, where JSON can have it, or what the first lines show."""
    seen = {name: decide(evidence) for name, evidence in classify_records(_first_objects(text)).items()}
    wanted = {name: pa.null() for name in others if name in seen} | dict(targets)
    types = {
        name: target if own and pa.types.is_decimal(target) else _type_to_ask_for(target, seen.get(name, pa.null()))
        for name, target in wanted.items()
    }
    return pa.schema(list(types.items()))


def _first_objects(text: bytes) -> Iterator[dict[str, Any]]:
    for line in text[:_SAMPLE_BYTES].split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]:
        with suppress(NotAnObject):
            yield load_object(line)


def _type_to_ask_for(target: pa.DataType, seen: pa.DataType) -> pa.DataType:
    """Where JSON does not have the type, what is there is asked for: whether it fits is then seen as of any values.

    But no doubles, which would hide that some of them were integers.
    """
    if pa.types.is_nested(target) or target in _SAME_AS_JSON:
        return _nested_type_to_ask_for(target, seen)
    return seen if seen == pa.string() or seen in _SAME_AS_TEXT else pa.null()


def _nested_type_to_ask_for(target: pa.DataType, seen: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(target):
        fields = {field.name: field.type for field in seen} if pa.types.is_struct(seen) else {}
        return pa.struct(
            [(each.name, _nested_type_to_ask_for(each.type, fields.get(each.name, pa.null()))) for each in target]
        )
    if pa.types.is_list(target):
        return pa.list_(
            _nested_type_to_ask_for(target.value_type, seen.value_type if pa.types.is_list(seen) else pa.null())
        )
    if target == pa.string() and seen in _SAME_AS_TEXT:
        return seen  # numbers that are text in the table, since another file has text there
    return target if target in _SAME_AS_JSON else pa.null()


def _parse(text: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
    try:
        table = pajson.read_json(
            pa.BufferReader(text),
            read_options=pajson.ReadOptions(use_threads=False, block_size=len(text) + 1),
            parse_options=pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
    except pa.ArrowInvalid:
        return None
    batches = table.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else None


def _lists_nulls(values: pa.Array) -> bool:
    """Say whether there are lists of nothing but nulls: Arrow loses some of these, and then reads beyond their end."""
    if pa.types.is_struct(values.type):
        return any(map(_lists_nulls, values.flatten()))
    if not pa.types.is_list(values.type):
        return False
    if pa.types.is_null(values.type.value_type):
        return bool(values.offsets[-1].as_py() > values.offsets[0].as_py())
    return _lists_nulls(values.values)


def _is_unicode(parsed: pa.RecordBatch, text: bytes) -> bool:
    """Say whether the strings are UTF-8, which Arrow did not look at. What is not in a string would not have passed."""
    try:
        if not text.isascii():
            parsed.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _are_exact(parsed: pa.RecordBatch, text: bytes) -> bool:
    """Say whether the doubles are the numbers in the text, and of the kind that `json` would make of them."""
    return all(_is_exact(doubles, text) for column in parsed.columns for doubles in _doubles_in(column))


def _have_their_digits(parsed: pa.RecordBatch, text: bytes) -> bool:
    """Say whether no fraction has more digits than its double holds."""
    has_doubles = any(True for column in parsed.columns for _ in _doubles_in(column))
    return not has_doubles or not lose_digits(text)


def _doubles_in(values: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_struct(values.type):
        for field in values.flatten():
            yield from _doubles_in(field)
    elif pa.types.is_list(values.type):
        yield from _doubles_in(values.values)
    elif pa.types.is_floating(values.type):
        yield values


def _is_exact(doubles: pa.Array, text: bytes) -> bool:
    """An integer may have lost digits, and its zero got a sign; and Arrow knows more words for infinity than `json`."""
    numbers = doubles.drop_null().to_numpy(zero_copy_only=False)
    if not np.all(np.abs(numbers) < _NOT_EXACT_IN_DOUBLE):  # nor is NaN less than anything
        return False
    has_minus_zero = bool(np.any(numbers.view(np.int64) == _MINUS_ZERO))
    return not has_minus_zero or not _INTEGER_MINUS_ZERO(text)


def _becomes(parsed: pa.DataType, target: pa.DataType) -> bool:
    """Say whether a cast does to parsed values what `ValueSource` does to them."""
    if pa.types.is_struct(target) and pa.types.is_struct(parsed):
        return parsed.names == target.names and all(
            _becomes(one.type, other.type) for one, other in zip(parsed, target, strict=True)
        )
    if pa.types.is_list(target) and pa.types.is_list(parsed):
        return _becomes(parsed.value_type, target.value_type)
    return bool(parsed == target or (pa.types.is_string(target) and parsed in _SAME_AS_TEXT))
