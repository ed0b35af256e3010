"""Finds out how a delimited text is written, from its beginning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.headers import is_number
from mason.pipeline.formats.delimited.rare_delimiters import (
    doubt_lines,
    doubt_one_column,
    find_rule,
    find_unusual_delimiter,
)
from mason.pipeline.formats.delimited.shape import great_majority
from mason.pipeline.formats.delimited.titles import COMMENTS, MOST_SKIPPED, find_titles, steady_from, usual_width
from mason.pipeline.formats.delimited.tokens import ExactRecord, split_exactly
from mason.pipeline.types.column_types import NOTHING, TEXT
from mason.pipeline.types.text_types import classify

_USUAL = ",\t|;"
_RARE = "\x01\x1f^~:"
_UNUSUAL: Sequence[str] = [*(each * 2 for each in _USUAL), *_RARE]
_NAMES = {"\t": "a tab", " ": "a space"}
_LINES = 200
_QUOTED = re.compile(r'(?<![^\n,\t|;\x01\x1f^~:])"(?:[^"]+|"")*+(?:"|\Z)')
_IN_SPACES = re.compile(r'(?<![^\n ])"(?:[^"\n]|"")*+"(?![^\n ])')
_COLONS = re.compile(r"[0-9]{2}(?::[0-9]{2}){1,2}|://")
"""Colons that stand in times and addresses, and cut nothing."""
_QUOTE_INSIDE = re.compile(r"'(?:[^'\\]|''|\\.)*(?:''|\\')(?:[^'\\]|''|\\.)*'").fullmatch
_CLEAR = "^~\x01\x1f"
"""Rare delimiters that stand in hardly any text."""
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_EXCEL = re.compile(r"sep=([^\n]{1,2}?) *\n", re.IGNORECASE)
_MOMENT = re.compile(r"(?<=[0-9]) (?=[0-9]{1,2}:[0-9]{2})")
_SHOWN = 60
_TWO = 2
_LEAST_LINES = 3
_LEAST_STRAY = 0.05


@dataclass(frozen=True)
class Sniffed:
    """How a text is written, how many lines stand before its records, and what is worth a word about it."""

    dialect: Dialect
    skip_rows: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user says of a dialect; None is to be found out."""

    delimiter: str = ""
    likely_delimiter: str = ""
    quote: str | None = None
    escape: str | None = None
    comment: str = ""
    skip_rows: int | None = None
    widths: Sequence[int] = ()
    is_below_another: bool = False
    """Whether a line stands above the text, of which the user hears as well."""

    def dialect(self, delimiter: str) -> Dialect:
        quote = '"' if self.quote is None else self.quote
        return Dialect(
            delimiter=delimiter, quote=quote, escape=self.escape or "", comment=self.comment, widths=tuple(self.widths)
        )


def sniff(text: str, asked: Asked, *, final: bool) -> Sniffed:
    """Return how a text, with line ends `\\n`, is written. Unless `final`, more is to come."""
    excel = _EXCEL.match(text) if asked.skip_rows is None and not asked.delimiter and not asked.widths else None
    if excel:
        note = f'its first line says "{excel[0].strip()}" and is not a record'
        rest = sniff(text[excel.end() :], replace(asked, delimiter=excel[1], is_below_another=True), final=final)
        return Sniffed(rest.dialect, 1 + rest.skip_rows, [note, *rest.notes])
    if asked.skip_rows:
        place = _end_of_lines(text, asked.skip_rows)
        rest = sniff(text[place:], replace(asked, skip_rows=0), final=final)
        return Sniffed(rest.dialect, asked.skip_rows, rest.notes)
    bare = _without_comments(text, asked.comment) if asked.comment else text
    found = "" if asked.delimiter else _find_delimiter(bare, asked.likely_delimiter)
    wide = "" if asked.delimiter or asked.widths else find_unusual_delimiter(bare, found, final=final)
    plain = asked.dialect(asked.delimiter or wide or found)
    doubts = [f'its delimiter is "{wide}"'] if wide else _doubt_delimiter(bare, asked, plain.delimiter, final=final)
    if rule := find_rule(bare, plain.delimiter) if not (asked.comment or asked.widths) else "":
        plain = replace(plain, comment=rule)
        doubts.append(f'the line below its header, "{rule[:_SHOWN]}", underlines it and is not a record')
    doubts += doubt_lines(text)
    if _is_even(text, plain):
        return Sniffed(plain, notes=doubts)
    dialect, notes = _settle_dialect(text, plain, asked, final=final)
    notes += doubts
    if asked.skip_rows is not None or asked.widths:
        return Sniffed(dialect, 0, notes)
    skipped, titles = find_titles(text, _records(text, dialect, final=final), below_another=asked.is_below_another)
    return Sniffed(dialect, skipped, [*titles, *notes])


def detect_delimiter(text: str) -> str:
    """Return the character that cuts the text's lines into the most columns, evenly; a comma if none does.

    Quoted text does not count. Comma, tab, pipe and semicolon come before `^`, `~`, `:` and the control characters of
    Hive, which are looked at only if none of the usual ones occurs in the first line and most others; then comes a
    space, if every line has as many of them, but for a header without a name for the names of rows.
    """
    lines = _first_lines(_QUOTED.sub("", text) if '"' in text else text)
    return (
        _beside_decimal_commas(lines)
        or _most_even(lines, _USUAL)
        or _most_even_of_rare(lines)
        or (" " if '"' in text and _is_cut_by_spaces(text) else "")
        or _behind_titles(lines)
        or (" " if _is_cut_by_spaces(text) or _is_cut_by_spaces(_same_spaces(lines)) else ",")
    )


def _without_comments(text: str, comment: str) -> str:
    lines = text.lstrip("\n").split("\n", _LINES)
    return "\n".join(line for line in lines if not line.startswith(comment)).lstrip("\n")


def _find_delimiter(text: str, likely: str) -> str:
    """The delimiter that the file's name promises, if its first line keeps the promise."""
    return likely if likely and likely in text.partition("\n")[0] else detect_delimiter(text)


def _doubt_delimiter(text: str, asked: Asked, delimiter: str, *, final: bool) -> list[str]:
    """What is said of a delimiter that was given and does not occur, where another one seems to be it.

    Where none was given and none found, it is said what lines of one column may be cut by.
    """
    if asked.widths or (asked.delimiter or delimiter) in text:
        return []
    if not asked.delimiter:
        return doubt_one_column(text, final=final)
    found = detect_delimiter(text)
    if found not in text.partition("\n")[0]:
        return []
    given, other = (_NAMES.get(each, f'"{each}"') for each in (asked.delimiter, found))
    return [f"the delimiter that was given, {given}, does not stand in its first lines; {other} does"]


def _beside_decimal_commas(lines: Sequence[str]) -> str:
    """What stands as often in all lines, where all commas but few stand in numbers: `1,5;2,5`, `1,5~2,5`."""
    found = next((each for each in ";\t|" + _CLEAR if _evenness(lines, each) >= (1.0, 1)), "")
    if not found or "," not in lines[0]:
        return ""
    return "" if _evenness([_DECIMAL_COMMA.sub("", line) for line in lines], ",") > (0.5, 0) else found


def _most_even(lines: Sequence[str], candidates: str) -> str:
    scores = {each: _evenness(lines, each) for each in candidates}
    # A tab in every line cuts it, though a comma stands in every line, too: `city, state` is one name.
    best = "\t" if scores.get("\t", (0.0, 0))[0] == 1 else max(candidates, key=lambda each: scores[each])
    return best if scores[best] > (0.5, 0) else ""


def _most_even_of_rare(lines: Sequence[str]) -> str:
    """A rare delimiter, unless a usual one cuts the lines behind the first into more columns: that one is a title."""
    without_colons = [_COLONS.sub("", line) for line in lines]
    rare = _most_even(without_colons, _RARE)
    usual = _usual_behind_titles(lines) if rare else ""
    if usual and _evenness(lines[-1:], usual)[1] > _evenness(without_colons, rare)[1]:
        return usual
    return rare


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """The share of lines with as many delimiters as most lines have, and how many these are."""
    if not lines or delimiter not in lines[0]:
        return 0.0, 0
    count, times = Counter(line.count(delimiter) for line in lines).most_common(1)[0]
    return (times / len(lines), count) if count else (0.0, 0)


def _behind_titles(lines: Sequence[str]) -> str:
    """The delimiter of lines that do not begin with the first: at least three columns, or two in all of many lines.

    Unusual ones cut at least three columns: a word and its value stand on both sides of a colon, too.
    """
    if usual := _usual_behind_titles(lines, _USUAL + _CLEAR):
        return usual
    starts = range(1, min(MOST_SKIPPED, len(lines) - 1))
    without_colons = [_COLONS.sub("", line) for line in lines]
    for number in starts:
        for unusual in _UNUSUAL:
            share, count = _evenness(without_colons[number:], unusual)
            if count > 1 and share > 0.9:
                return unusual
    return ""


def _usual_behind_titles(lines: Sequence[str], usual: str = _USUAL) -> str:
    for number in range(1, min(MOST_SKIPPED, len(lines) - 1)):
        for delimiter in usual:
            share, count = _evenness(lines[number:], delimiter)
            if (count > 1 and share > 0.9) or (count == share == 1 and number * 2 <= len(lines)):
                return delimiter
    return ""


def _same_spaces(lines: Sequence[str]) -> str:
    """The lines at the end that have as many spaces each, at least two, if other lines stand before them."""
    count = lines[-1].count(" ") if lines else 0
    start = next((n for n in reversed(range(len(lines))) if lines[n].count(" ") != count), -1) + 1
    return "\n".join([*lines[start:], ""]) if count > 1 and 0 < start <= MOST_SKIPPED else ""


def _is_cut_by_spaces(text: str) -> bool:
    """Say whether single spaces cut all lines into as many fields, and quotes or numbers stand in them: words do not.

    The first line may have one field less, as R writes it above the names of rows. Two fields without quotes are rather
    one, `5 kg` or `Main Street 1`, unless both are numbers.
    """
    lines = _first_lines(_IN_SPACES.sub("''", text) if '"' in text else text)
    rows = [_MOMENT.sub("T", line).split(" ") for line in lines]
    if len(rows) < _LEAST_LINES or any("" in row for row in rows) or len(set(map(len, rows[1:]))) > 1:
        return False
    missing = len(rows[1]) - len(rows[0])
    if len(rows[1]) == 1 or missing not in (0, 1):
        return False
    if all("''" in row for row in rows):
        return True
    names = [row[0] for row in rows[1:]]
    if missing and len(set(names)) < len(names):
        return False
    numbers = [
        all(map(is_number, column)) or classify(column) not in (TEXT, NOTHING) for column in zip(*rows[1:], strict=True)
    ]
    return all(numbers) and not missing if len(numbers) == _TWO else any(numbers[missing:])


def _first_lines(text: str) -> list[str]:
    lines = [line for line in text.split("\n", _LINES)[:_LINES] if line]
    if len(lines) > 1 and not text.endswith("\n"):
        lines.pop()  # it may be cut off
    return lines


def _is_even(text: str, dialect: Dialect) -> bool:
    """Say whether nothing is odd about a text: nearly all are so, and need not be looked at closely."""
    first = text.partition("\n")[0]
    signs = (dialect.delimiter * 2, f"{dialect.delimiter} ", "'")
    if not dialect.is_simple or dialect.quote in text or any(sign in first for sign in signs):
        return False
    if "''" in text or "\\'" in text:
        return False  # quotes inside such quotes
    if first.startswith(COMMENTS) or first.endswith(dialect.delimiter):
        return False  # a comment, or a title that was filled up
    lines = text.split("\n", _LINES)[:_LINES]
    whole = lines[: max(len(lines) - 1, 1)]
    if "" in whole[:MOST_SKIPPED]:
        return False  # what stands before a blank line may be something else
    return len({line.count(dialect.delimiter) for line in whole if line}) == 1


@lru_cache(maxsize=8)
def _records(text: str, dialect: Dialect, *, final: bool, width: int = 0) -> list[ExactRecord]:
    return list(islice(split_exactly(text, dialect, width, final=final), _LINES))


def _table(text: str, dialect: Dialect, *, final: bool) -> list[ExactRecord]:
    """The records without blank lines and what may be titles."""
    records = [each for each in _records(text, dialect, final=final) if not each.is_blank]
    return records[steady_from(records, usual_width(records)) :]


def _settle_dialect(text: str, plain: Dialect, asked: Asked, *, final: bool) -> tuple[Dialect, list[str]]:
    """The dialect by which the most records are whole and alike, the plainest first, and what is said of it.

    Two things may be unusual about a text: `A|| 'b'` has a doubled delimiter, or spaces behind it, and other quotes.
    """
    first, notes = _best_dialect(text, plain, asked, final=final)
    if not notes or not first.quote or first.escape:
        return first, notes
    second, also = _best_dialect(text, first, asked, final=final)
    return (second, notes + also) if also and second.quote else (first, notes)


def _best_dialect(text: str, plain: Dialect, asked: Asked, *, final: bool) -> tuple[Dialect, list[str]]:
    best, reason = plain, ""
    fewest = _faults(text, plain, final=final)
    for dialect, note in _others(text, plain, asked, final=final):
        is_needed = _is_needed(text, dialect, plain, final=final)
        if dialect == plain or not (fewest or is_needed):
            continue
        faults = _faults(text, dialect, final=final)
        if faults < fewest or (is_needed and faults == fewest):
            best, reason, fewest = dialect, note, faults
    return best, [reason] if reason else []


def _others(text: str, plain: Dialect, asked: Asked, *, final: bool) -> Iterator[tuple[Dialect, str]]:
    """The dialects that a text may have, if it shows signs of them."""
    delimiter = plain.delimiter
    first = next((each.raw for each in _table(text, plain, final=final)), "")
    if not asked.delimiter and delimiter * 2 in first:
        doubled = replace(plain, delimiter=delimiter * 2)
        yield doubled, f'its delimiter is "{delimiter * 2}"'
    if delimiter + " " in text and delimiter != " ":
        yield replace(plain, pads=True), "spaces behind its delimiters are no part of the values"
    if asked.escape is None and f"\\{plain.quote or chr(0)}" in text:
        yield replace(plain, escape="\\"), "a backslash stands before quotes that are text"
    elif asked.escape is None and f"\\{delimiter}" in text:
        yield replace(plain, escape="\\"), "a backslash stands before delimiters that are text"
    if asked.quote is None and "'" in text:
        yield replace(plain, quote="'"), "its quotes are ' rather than \""
        if asked.escape is None and "\\'" in text:
            told = "its quotes are ' rather than \", and a backslash stands before those that are text"
            yield replace(plain, quote="'", escape="\\"), told
    if asked.quote is None and '"' in text and _are_mostly_stray(text, plain):
        yield replace(plain, quote=""), "its quotes are plain characters: some stand where no quote can open or close"


def _are_mostly_stray(text: str, plain: Dialect) -> bool:
    """Say whether more records have quotes where none belong than fields are quoted as they should be.

    One such record alone, or few of many, are rather faults of those records.
    """
    records = _records(text, plain, final=True)
    width = usual_width(records)
    odd = [bool(each.problem) or (any(each.quoted) and len(each.fields) != width) for each in records]
    sound = sum(sum(each.quoted) for each, is_odd in zip(records, odd, strict=True) if not is_odd)
    return sum(odd) >= max(sound, 2, len(records) * _LEAST_STRAY)


def _faults(text: str, dialect: Dialect, *, final: bool) -> int:
    """How many records are not as most of them are; what stands before the first such one may be a title."""
    records = _records(text, dialect, final=final)
    width = usual_width(records)
    records = _records(text, dialect, final=final, width=width) if dialect.quote else records
    start = steady_from(records, width)
    start = start if start * 2 <= len(records) else 0  # what stands before most records is rather cut wrongly
    return sum(bool(each.problem) or abs(len(each.fields) - width) > 0 for each in records[start:] if not each.is_blank)


def _is_needed(text: str, dialect: Dialect, plain: Dialect, *, final: bool) -> bool:
    """Say whether a dialect explains what would be odd in one that explains as many lines."""
    rows = [each.fields for each in _table(text, plain, final=final)]
    if dialect.delimiter != plain.delimiter:  # a||b: each second field has no name; by || all records are alike
        is_doubled = bool(rows) and len(rows[0]) % 2 == 1 and not any(rows[0][1::2])
        if not is_doubled:
            return False
        widths = [len(each.fields) for each in _table(text, dialect, final=final)]
        return bool(great_majority(widths) == (len(rows[0]) + 1) // 2)
    if dialect.pads != plain.pads:
        padded = [len(row) > 1 and all(cell.startswith(" ") or not cell for cell in row[1:]) for row in rows]
        return great_majority(padded) is True
    if dialect.quote == "'":
        first = [each.fields for each in _records(text, plain, final=final) if not each.is_blank][:1]
        if any(map(_are_wrapped, [*first, *rows[:1]])) or _fits_header(text, dialect, plain, final=final):
            return True
        return _have_quotes_inside(_table(text, plain, final=final), dialect)
    return dialect.escape != plain.escape and _fits_header(text, dialect, plain, final=final)


def _have_quotes_inside(records: Sequence[ExactRecord], dialect: Dialect) -> bool:
    """Say whether fields in ' quotes have such quotes inside as only quoting writes them: `'O''Brien'`."""
    if any(any(each.quoted) for each in records):
        return False
    found = [cell for each in records for cell in each.fields if cell[:1] == "'" and _QUOTE_INSIDE(cell)]
    return bool(found) and bool(dialect.escape) == any("\\'" in cell for cell in found)


def _are_wrapped(cells: Sequence[str]) -> bool:
    return all(len(cell) > 1 and cell.startswith("'") and cell.endswith("'") for cell in cells)


def _fits_header(text: str, dialect: Dialect, plain: Dialect, *, final: bool) -> bool:
    """Say whether nearly all records have as many fields as the first by a dialect, and most have not by the plain one.

    Then delimiters stand inside values, which are no names of rows, or line ends do.
    """
    records, others = (_records(text, each, final=final) for each in (dialect, plain))
    widths = [0 if each.problem else len(each.fields) for each in records if not each.is_blank]
    first = next((len(each.fields) for each in others if not each.is_blank), 0)
    return bool(great_majority(widths) == first != usual_width(others))


def _end_of_lines(text: str, lines: int) -> int:
    place = 0
    for _ in range(lines):
        place = text.find("\n", place) + 1
        if not place:
            return len(text)
    return place
