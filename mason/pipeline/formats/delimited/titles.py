"""What stands before the records of a delimited text: titles, comments, what a report is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mason.pipeline.formats.delimited.header_words import are_usual_names
from mason.pipeline.formats.delimited.headers import Header, judge_header, may_be_name
from mason.pipeline.formats.delimited.tokens import ExactRecord
from mason.util.words import counted

MOST_SKIPPED = 50
_MOST_ABOUT = 20
COMMENTS = ("#", "//", "%", "--")
"""What comments begin with."""
_SHOWN = 60


@dataclass(frozen=True)
class _Table:
    """Where a table begins among the records, and how many fields its records have."""

    start: int
    width: int
    header: Header

    @classmethod
    def at(cls, records: Sequence[ExactRecord], start: int, width: int) -> _Table:
        rows = [each.fields for each in records[start:] if len(each.fields) == width and not each.problem]
        return cls(start, width, judge_header(rows) if rows else Header.NONE)


def find_titles(text: str, records: Sequence[ExactRecord], *, below_another: bool = False) -> tuple[int, list[str]]:
    """Return how many lines of a text stand before the first of its records, and what is said of them.

    Args:
        below_another: whether a line of the file stands above the text, of which something is said before.
    """
    table = next(_tables(records), None)
    if table is None or not table.start or table.start > MOST_SKIPPED or table.width < 2:
        return 0, _describe_doubt(records)
    before = records[: table.start]
    first_line = next((each.raw for each in before if not each.is_blank), "").partition("\n")[0]
    if not first_line:
        return 0, []  # blank lines are passed over anyway
    lines = text.count("\n", 0, before[-1].end)  # with comments, which are no records
    first_line = first_line if len(first_line) <= _SHOWN else f"{first_line[:_SHOWN]}…"
    first = "the next" if below_another else "its first"
    which = f"{first} line is" if lines == 1 else f"{first} {lines:,} lines are"
    note = f'{which} not a record of {counted(table.width, "field")}, and skipped: "{first_line}"'
    return lines, [note, *_describe_comments(before, records[table.start :])]


def _describe_comments(before: Sequence[ExactRecord], records: Sequence[ExactRecord]) -> Iterator[str]:
    """What is said where comments stand not only before the records: those among them are taken for records."""
    signs = [sign for sign in COMMENTS if any(each.raw.startswith(sign) for each in before)]
    for sign in signs:
        if any(each.raw.startswith(sign) for each in records[1:]):
            yield f'lines among its records begin with {sign} as well: comment:"{sign}" leaves them out'


def _describe_doubt(records: Sequence[ExactRecord]) -> list[str]:
    """What is said of a first line that names one of two columns, above one that could name both, or of none."""
    if records and len(records[0].fields) > 1 and not any(records[0].fields):
        return ["all fields of its first record are empty; if that is not data, skip_rows: 1 skips it"]
    if len(records) > 1 and usual_width(records) == 1 and _is_comment(records[0]) and " " in records[0].raw:
        sign = next(each for each in COMMENTS if records[0].raw.startswith(each))
        return [f'its first line begins with {sign}, and is read; comment:"{sign}" leaves it out']
    if usual_width(records) != 2 or not (lines := _count_padded_titles(records)):
        return []
    which = "its first line" if lines == 1 else f"its first of {lines:,} such lines"
    doubt = f'{which}, "{records[0].raw}", was taken for the header, and could be a title'
    return [f"{doubt}; skip_rows: {lines} skips it"]


def usual_width(records: Sequence[ExactRecord]) -> int:
    """Return how many fields most records have."""
    widths = Counter(len(each.fields) for each in records if not each.is_blank and not each.problem)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def steady_from(records: Sequence[ExactRecord], width: int) -> int:
    """Return the index of the first record from which two in a row have this width."""
    widths = [len(each.fields) for each in records]
    for index, (one, other) in enumerate(zip(widths, widths[1:] or widths, strict=False)):
        if one == other == width:
            return index
    return 0


def _tables(records: Sequence[ExactRecord]) -> Iterator[_Table]:
    """The places where a table may begin behind titles, the likeliest first."""
    width = usual_width(records)
    if table := _behind_comments(records, width):
        yield table
    table = _Table.at(records, steady_from(records, width), width)
    if _begins_behind_titles(records, table):
        yield table
    yield from filter(None, (_wide_end(records), _behind_blank_line(records, width)))
    start = _count_padded_titles(records)
    if start and (width > 2 or are_usual_names(records[start].fields)):
        yield _Table.at(records, start, width)


def _behind_comments(records: Sequence[ExactRecord], width: int) -> _Table | None:
    """The table behind comments, though these may have as many fields: `#id,name` above values is a header."""
    start = next((n for n, each in enumerate(records) if not (each.is_blank or _is_comment(each))), 0)
    if not any(map(_is_comment, records[:start])) or len(records[start].fields) != width:
        return None
    table = _Table.at(records, start, width)
    are_words = all(" " in each.raw for each in records[:start] if not each.is_blank)
    return table if table.header is Header.SURE or (table.header is Header.LIKELY and are_words) else None


def _begins_behind_titles(records: Sequence[ExactRecord], table: _Table) -> bool:
    before = records[: table.start]
    if not before or _have_header_of_another(before, records[table.start]):
        return False
    if table.header is Header.SURE:
        return True
    if len(before) == 1 and len(before[0].fields) == table.width - 1 and not _is_comment(before[0]):
        return _is_title_rather_than_names(before[0], table)
    is_parted = before[-1].is_blank and table.header.is_there
    return is_parted or all(_may_be_title(each, table.width) for each in before)


def _is_title_rather_than_names(record: ExactRecord, table: _Table) -> bool:
    """Say whether a record is no header with a name less than there are fields, as R writes it above row names."""
    if not table.header.is_there:
        return False
    if not all(map(may_be_name, record.fields)):
        return True
    return len(record.fields) == 1 and (table.header is Header.LIKELY or not record.quoted[0])


def _wide_end(records: Sequence[ExactRecord]) -> _Table | None:
    """The table at the end whose records have more fields than all before it, be there as few of them as there may.

    Banks write more lines about an account than there are bookings; but not many more, which are rather a table whose
    last records are broken.
    """
    sound = [index for index, each in enumerate(records) if not each.is_blank]
    width = len(records[sound[-1]].fields) if sound else 0
    start = next((index for index in reversed(sound) if len(records[index].fields) != width), -1) + 1
    while start < len(records) and records[start].is_blank:
        start += 1
    before = [each for each in records[:start] if not each.is_blank]
    is_wider = bool(before) and all(len(each.fields) < width and _begins_with_word(each) for each in before)
    behind = sum(index >= start for index in sound)
    if not is_wider or width < 3 or behind < 2 or len(before) > max(_MOST_ABOUT, behind):
        return None
    table = _Table.at(records, start, width)
    if _have_header_of_another(before, records[start]):
        return None
    is_parted = records[start - 1].is_blank and table.header.is_there
    return table if is_parted or table.header is Header.SURE else None


def _behind_blank_line(records: Sequence[ExactRecord], width: int) -> _Table | None:
    """The table behind lines of a word and its value (`Report,Sales`), if it is larger than what stands before it."""
    blank = next((index for index, each in enumerate(records) if each.is_blank), 0)
    before = records[:blank]
    start = next((index for index in range(blank, len(records)) if not records[index].is_blank), 0)
    behind = [each for each in records[start:] if not each.is_blank]
    if not before or width != 2 or len(behind) <= len(before) or len(behind) < 3:
        return None
    if not all(len(each.fields) == 2 and _begins_with_word(each) for each in before):
        return None
    table = _Table.at(records, start, width)
    has_names_before = not set(behind[0].fields).isdisjoint(cell for each in before for cell in each.fields)
    return table if table.header is Header.SURE and not has_names_before else None


def _count_padded_titles(records: Sequence[ExactRecord]) -> int:
    """How many records have one cell that is not empty, or none, before one that names all columns."""
    rows = [each.fields for each in records if not each.problem]
    count = next((n for n, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    if not count or len(rows[count]) < 2 or not all(rows[count]):
        return 0
    return count if judge_header(rows[count:]) in (Header.SURE, Header.LIKELY) else 0


def _have_header_of_another(before: Sequence[ExactRecord], header: ExactRecord) -> bool:
    """Say whether a record names columns of the header below, and nothing else: so files begin that were put together.

    What stands behind it are records of the file that was the first, and no titles.
    """
    names = {name for name in header.fields if may_be_name(name)}
    return any(len(each.fields) > 1 and names.issuperset(each.fields) for each in before)


def _begins_with_word(record: ExactRecord) -> bool:
    return _is_comment(record) or (bool(record.fields) and may_be_name(record.fields[0]))  # a torn one may have none


def _is_comment(record: ExactRecord) -> bool:
    return record.raw.startswith(COMMENTS)


def _may_be_title(record: ExactRecord, width: int) -> bool:
    present = sum(bool(cell.strip()) for cell in record.fields)
    return _is_comment(record) or present <= max(1, width // 2)
