"""The records of delimited text, field by field, however odd its dialect and its quotes are.

This is the slow way to read, and the one that decides: others find records that are doubtful, and ask here. A quote
opens only at the beginning of a field, and closes only where the field ends. Where that does not hold, the quote was
none: the text up to the end of its line is a bad record, and the lines behind it are read on their own. Where it holds,
but the lines inside look like records, nobody can tell: all of it is one bad record, and nothing of it is torn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.swallowed_lines import LINE_END, Lines, has_many_record_lines, judge_lines

OPEN_QUOTE = "a quote is opened and not closed"
STRAY_QUOTE = "text stands behind a closing quote"
SWALLOWS = "a quote is opened, and the lines that it holds look like records"


@dataclass(frozen=True, kw_only=True)
class ExactRecord:
    """A record as it stands in a text, its line end left out. Only a field that is not quoted can be null."""

    fields: list[str]
    quoted: list[bool]
    raw: str
    end: int
    """Where the next record begins, in the text."""
    problem: str = ""
    doubtful: bool = False
    """Lines inside its quotes could be records as well."""

    @property
    def is_blank(self) -> bool:
        return self.fields == [""] and not self.quoted[0]

    @property
    def open_quote(self) -> bool:
        return self.problem == OPEN_QUOTE


def split_exactly(text: str, dialect: Dialect, width: int = 0, *, final: bool = True) -> Iterator[ExactRecord]:
    """Yield the records of a text that begins at a record's start, whatever its line ends are.

    `width` is how many fields a record has, if that is known: by it lines are told from text. Unless `final`, more is
    to come: a record that does not end is left out. So is a comment.
    """
    position = 0
    while position < len(text):
        if dialect.comment and text.startswith(dialect.comment, position):
            end = LINE_END.search(text, position)
            if end is None and not final:
                return
            position = end.end() if end else len(text)
            continue
        record = _record_at(text, position, dialect, width, final=final)
        if record is None:
            return
        yield record
        position = record.end


def _record_at(text: str, start: int, dialect: Dialect, width: int, *, final: bool) -> ExactRecord | None:
    if dialect.widths:
        return _split_by_widths(text, start, dialect.widths, final=final)
    pattern = _field_pattern(dialect)
    fields: list[str] = []
    quoted: list[bool] = []
    long: list[tuple[int, str]] = []
    position, problem = start, ""
    while True:
        field = pattern.match(text, position)
        assert field is not None, "every part of the pattern may be empty"
        inside, closing, rest, after = field.groups()
        is_quoted = inside is not None
        if is_quoted:
            wrong = _what_is_wrong(rest, is_open=closing == "", final=final)
            if "\n" in inside or "\r" in inside:
                far = not dialect.sure and has_many_record_lines(inside, fields, dialect.delimiter, width)
                if torn := SWALLOWS if far else wrong:
                    end = LINE_END.search(text, *field.span(1))
                    assert end is not None, "one was seen"
                    return ExactRecord(
                        fields=fields, quoted=quoted, raw=text[start : end.start()], end=end.end(), problem=torn
                    )
                long.append((len(fields), inside))
            problem = problem or wrong
        fields.append(_content(inside, rest, dialect) if is_quoted else _unescape(rest, dialect))
        quoted.append(is_quoted)
        position = field.end()
        if after != dialect.delimiter:
            break
    # A return at the end of what is known may be the first half of a line end.
    if not final and (after == "" or (after == "\r" and position == len(text))):
        return None
    lines = Lines.TEXT
    if long and not problem and not dialect.sure:
        lines = max(judge_lines(each, fields[:n], fields[n + 1 :], dialect.delimiter, width) for n, each in long)
    problem = SWALLOWS if lines is Lines.RECORDS else problem
    raw = text[start : field.start(4)]
    return ExactRecord(
        fields=fields, quoted=quoted, raw=raw, end=position, problem=problem, doubtful=lines is Lines.DOUBTFUL
    )


def _what_is_wrong(rest: str, *, is_open: bool, final: bool) -> str:
    """What is wrong with the quotes of a field, by what stands behind the closing one."""
    if is_open:
        return OPEN_QUOTE if final else ""
    return STRAY_QUOTE if rest else ""


def _content(inside: str, rest: str, dialect: Dialect) -> str:
    return _unescape(inside.replace(dialect.quote * 2, dialect.quote), dialect) + rest


def _unescape(text: str, dialect: Dialect) -> str:
    """An escape before anything but what is special in the dialect is text, too."""
    if not dialect.escape or dialect.escape not in text:
        return text
    return _escapes(dialect).sub(r"\1", text)


@cache
def _escapes(dialect: Dialect) -> re.Pattern[str]:
    special = [each for each in (dialect.quote, dialect.delimiter, dialect.escape, "\r\n", "\r", "\n") if each]
    return re.compile(re.escape(dialect.escape) + "(" + "|".join(map(re.escape, special)) + ")")


@cache
def _field_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Quoted text and its closing quote, if any; text outside quotes; what ends the field."""
    delimiter, quote, escape = map(re.escape, (dialect.delimiter, dialect.quote, dialect.escape))
    any_escape = f"{escape}(?:(?s:.)|\\Z)|" if escape else ""  # the last character of a text escapes nothing
    is_one = len(dialect.delimiter) == 1
    one = f"[^{delimiter}{escape}\\r\\n]" if is_one else f"(?!{delimiter})[^{escape}\\r\\n]"
    text = f"{one}*+" if is_one and not escape else f"(?:{any_escape}{one})*+"
    padding = " *+" if dialect.pads else ""
    no_quotes = "(?:((?!))((?!)))?"  # the same groups, of which none ever matches
    quotes = f"(?:{quote}((?:[^{quote}{escape}]+|{any_escape}{quote}{quote})*+)({quote}{padding}|\\Z))?"
    ends = f"({delimiter}|\\r\\n|\\r|\\n|\\Z)"
    return re.compile(f"{padding}{quotes if quote else no_quotes}({text}){ends}")


def _split_by_widths(text: str, start: int, widths: Sequence[int], *, final: bool) -> ExactRecord | None:
    end = LINE_END.search(text, start)
    if end is None and not final:
        return None
    raw = text[start : end.start() if end else len(text)]
    places = [sum(widths[:number]) for number in range(len(widths) + 1)]
    fields = [raw[one:other].strip(" ") for one, other in pairwise(places)]
    problem = "" if not raw[places[-1] :].strip() else f"it is longer than the {places[-1]:,} characters of its fields"
    return ExactRecord(
        fields=fields, quoted=[False] * len(fields), raw=raw, end=end.end() if end else len(text), problem=problem
    )


def is_text(field: str) -> bool:
    """Say whether all bytes of a field could be decoded: those that could not stand in it as surrogates."""
    return field.isascii() or not any("\udc80" <= char <= "\udcff" for char in field)


def without_line_end(record: str) -> str:
    """Return a record without the line end behind it."""
    return record.removesuffix("\n").removesuffix("\r")
