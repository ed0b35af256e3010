"""How a file of delimited text is read: its dialect, and what stands before and behind its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from mason.errors import UnreadableFile
from mason.pipeline.formats.delimited.dialect import Dialect, Ragged
from mason.pipeline.formats.delimited.swallowed_lines import LINE_END
from mason.pipeline.formats.delimited.tokens import is_text, split_exactly

LOOK = 64 * 1024
"""So many bytes of a file are looked at for the end of its header first."""


@dataclass(frozen=True, kw_only=True)
class CsvReading:
    """How a file of delimited text is read.

    `surplus`: one more delimiter stands behind the last field of each record.
    """

    dialect: Dialect = field(default_factory=Dialect)
    header: bool = True
    skip_rows: int = 0
    """How many lines stand before the header, or before the first record where there is none."""
    skip_footer: int = 0
    """How many lines stand behind the last record."""
    surplus: bool = False
    ragged: Ragged = Ragged.QUARANTINE
    repeats: bool = False
    """The header stands again among the records, which are set aside even where there is only one column."""
    cells: Sequence[str] = ()
    """The header as it stands in the file, where columns are called otherwise: those without a name, or with a twin."""
    all_quoted: bool = False
    """Every field is in quotes, which then say nothing: a word for null is null in them, too."""

    @property
    def is_plain(self) -> bool:
        """Whether the file holds nothing but records, which can be found by looking at bytes alone."""
        return self.dialect.is_simple and not (self.skip_rows or self.skip_footer)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> CsvReading:
        dialect = Dialect(**{**value["dialect"], "widths": tuple(value["dialect"]["widths"])})
        cells = tuple(value.get("cells", ()))  # an older Mason did not look for headers that come again
        return cls(**{**value, "dialect": dialect, "ragged": Ragged(value["ragged"]), "cells": cells})


@dataclass(frozen=True)
class Records:
    """The text of a file from its first record on: where this begins, and the number of that record."""

    blocks: Iterator[bytes]
    offset: int
    number: int


def records_of(name: str, blocks: Iterable[bytes], reading: CsvReading, most_header: int | None = None) -> Records:
    """Return the records of a whole file: what stands before and behind them is left out.

    Raises:
        UnreadableFile: the header has no end, or more bytes than it may have.
    """
    coming = iter(without_footer(blocks, reading.skip_footer))
    held, needed = b"", LOOK
    for block in coming:
        held = held + block if held else block
        if len(held) < needed and len(held) < LOOK:
            continue
        end = start_of_records(name, held[:needed], reading, final=False)
        while end is None and needed < len(held):
            needed *= 4
            end = start_of_records(name, held[:needed], reading, final=False)
        if end is not None:
            return Records(_from(held, end, coming), end, 1 + reading.header)
        if most_header is not None and len(held) > most_header:
            raise UnreadableFile(name, f"its header has more than {most_header:,} bytes (field_bytes).")
        needed = len(held) * 2
    end = start_of_records(name, held, reading, final=True)
    return Records(_from(held, end or 0, coming), end or 0, 1 + reading.header)


def _from(held: bytes, end: int, coming: Iterator[bytes]) -> Iterator[bytes]:
    return chain([held[end:]] if len(held) > end else [], coming)


def start_of_records(name: str, begun: bytes, reading: CsvReading, *, final: bool) -> int | None:
    """Return where the first record begins, behind lines to be skipped and a header; None if that is not seen yet.

    Unless `final`, more text is to come.

    Raises:
        UnreadableFile: the header cannot be read.
    """
    if not (reading.header or reading.skip_rows):
        return 0
    text = begun.decode("utf-8", "surrogateescape")
    place = end_of_lines(text, reading.skip_rows)
    if place is None:
        return len(begun) if final else None
    if reading.header:
        place = len(text) - len(text[place:].lstrip("\r\n"))
        records = split_exactly(text[place:], reading.dialect, final=final)
        header = next((each for each in records if not each.is_blank), None)  # a blank line may follow a comment
        if header is None:
            return len(begun) if final else None
        problem = header.problem or ("" if is_text("".join(header.fields)) else "it is not valid UTF-8")
        if problem:
            raise UnreadableFile(name, f"its header cannot be read: {problem}.")
        place += header.end
    return len(text[:place].encode("utf-8", "surrogateescape"))


def end_of_lines(text: str, lines: int) -> int | None:
    """Return where so many lines of a text end; None if there are not so many."""
    place = 0
    for _ in range(lines):
        end = LINE_END.search(text, place)
        if end is None:
            return None
        place = end.end()
    return place


def without_footer(blocks: Iterable[bytes], lines: int) -> Iterator[bytes]:
    """Yield the blocks without so many lines at the end of the last."""
    return _without_last(blocks, lines, b"\n", b"\r") if lines else iter(blocks)


def text_without_footer(texts: Iterable[str], lines: int) -> Iterator[str]:
    """Yield texts without so many lines at the end of the last."""
    return _without_last(texts, lines, "\n", "\r") if lines else iter(texts)


def _without_last(pieces: Iterable[Any], lines: int, newline: Any, turn: Any) -> Iterator[Any]:
    """Lines end with `\\n`, `\\r\\n` or, in old files of the Mac, `\\r`."""
    held = newline[:0]
    for piece in pieces:
        held += piece
        place = _start_of_last(held, lines + 2, newline, turn)
        if place:
            yield held[:place]
            held = held[place:]
    ended = held.endswith((newline, turn))
    place = _start_of_last(held, lines + ended, newline, turn)
    if place:
        yield held[:place]


def _start_of_last(text: Any, lines: int, newline: Any, turn: Any) -> int:
    """Where so many line ends from the last one back the lines behind it begin; 0 if there are not so many."""
    place, start = len(text), 0
    for _ in range(lines):
        end = max(text.rfind(newline, 0, place), text.rfind(turn, 0, place))
        if end < 0:
            return 0
        start = end + 1
        both = text[end : end + 1] == newline and text[max(end - 1, 0) : end] == turn
        place = end - 1 if both else end
    return start
