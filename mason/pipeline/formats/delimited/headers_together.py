"""Whether files of one folder have headers, decided together: what one of them shows may tell it of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.delimited.titles import COMMENTS
from mason.pipeline.formats.file_schema import FileSchema
from mason.util.words import counted

_NUMBERED = re.compile(r"col_[0-9]+")
_FEW_NAMED = 3
_MANY_ALIKE = 3
_SHOWN = 60

Cells = tuple[str, ...]


def headers_to_change(schemas: Mapping[str, FileSchema], table: Sequence[str] = ()) -> Mapping[str, Header]:
    """Return the files, by name, of which others tell something else than they do alone, with what that is.

    `table` are the columns of the table that the files are added to. A first record of its names is a header; and where
    the table has no names, files of nothing but text have no headers, either. A first record that is the header of
    another file is one here, too. The others, of which nothing is sure, are held against those that have as many
    columns: headers of one table are alike.
    """
    guessed = {name: each for name, each in schemas.items() if each.csv and each.guess is not Header.GIVEN}
    known = {first_record(each) for each in guessed.values() if each.guess is Header.SURE and each.header}
    changes = {
        name: guess
        for name, each in guessed.items()
        if (guess := _by_table(each, table) or _by_known(each, known)) and guess is not each.guess
    }
    by_width: dict[int, dict[str, FileSchema]] = {}
    for name, each in guessed.items():
        by_width.setdefault(len(each.columns), {})[name] = each
    for files in by_width.values():
        changes |= {name: guess for name, guess in _by_others(files).items() if name not in changes}
    return changes


def first_record(schema: FileSchema) -> Cells:
    """Return the record that was taken for the header or, without one, for the first row."""
    return tuple(schema.columns if schema.header else next(iter(schema.first_records), ()))


def _by_table(schema: FileSchema, table: Sequence[str]) -> Header | None:
    if not table or schema.guess is Header.SURE:
        return None
    first = first_record(schema)
    if first and set(first) <= set(table) and len(set(first)) == len(first):
        return Header.SURE
    is_nameless = len(first) == len(table) and all(map(_NUMBERED.fullmatch, table))
    return Header.NONE_DOUBTFUL if is_nameless and schema.header else None


def _by_known(schema: FileSchema, known: set[Cells]) -> Header | None:
    return Header.LIKELY if schema.guess is not Header.SURE and first_record(schema) in known else None


def _by_others(files: Mapping[str, FileSchema]) -> Mapping[str, Header]:
    """What files with as many columns say of those among them that are taken for having a header, in doubt.

    A first record that several of them begin with, and go on differently, is taken for a header, and so is one of which
    more than half of the cells are those of another header. Three files that begin alike are sure enough; of two it is
    told, since two lists of people may begin with the same one. Several others, or one beside files without headers,
    begin with data.
    """
    doubtful = {name: each for name, each in files.items() if each.guess is Header.DOUBTFUL}
    if not doubtful or len(files) == 1:
        return {}
    followers: dict[Cells, set[Cells]] = {}
    for each in files.values():
        if each.header:
            followers.setdefault(first_record(each), set()).add(_second_record(each))
    headers = _Headers(followers)
    alike = {
        name: Header.LIKELY if len(followers[first_record(each)]) >= _MANY_ALIKE else Header.DOUBTFUL
        for name, each in doubtful.items()
        if len(followers[first_record(each)]) > 1 or headers.has_kin(first_record(each))
    }
    alone = {first_record(each) for name, each in doubtful.items() if name not in alike}
    have_none = len(alone) > 1 or (alone and not all(each.header for each in files.values()))
    others = {name: Header.NONE_DOUBTFUL for name in doubtful if name not in alike} if have_none else {}
    return alike | others


def _second_record(schema: FileSchema) -> Cells:
    return tuple(next(iter(schema.first_records), ()))


class _Headers:
    """First records by their cells, to find those that have more than half of them in common.

    Who shares so many cells with a record has one of its rarest: of five cells at least three are shared, so that any
    three have one of these. Looking for the rarest alone, thousands of files are held against each other in no time.
    """

    def __init__(self, records: Iterable[Cells]) -> None:
        self._cells = {record: frozenset(record) for record in records}
        self._by_cell: dict[str, list[Cells]] = {}
        for record, cells in self._cells.items():
            for cell in cells:
                self._by_cell.setdefault(cell, []).append(record)

    def has_kin(self, record: Cells) -> bool:
        """Say whether another record has more than half of the cells of this one."""
        least = len(record) // 2 + 1
        rarest = sorted(self._cells[record], key=lambda cell: len(self._by_cell[cell]))
        likely = rarest[: max(len(rarest) - least + 1, 0)]
        seen = {record}
        for other in chain.from_iterable(self._by_cell[cell] for cell in likely):
            if other not in seen and len(self._cells[record] & self._cells[other]) >= least:
                return True
            seen.add(other)
        return False


def describe_doubts(schemas: Mapping[str, FileSchema]) -> Iterator[str]:
    """Yield what was assumed of first lines that could be something else, once for files that are alike."""
    groups: dict[tuple[Header, int], list[str]] = {}
    for name, each in schemas.items():
        if each.csv and each.guess.is_doubtful:
            groups.setdefault((each.guess, len(each.columns)), []).append(name)
    for (guess, _), names in groups.items():
        line = _first_line(schemas[names[0]])
        taken, other = ("the header", "data") if guess.is_there else ("data", "the header")
        so = f" (so were those of {_list_names(names[1:])})" if len(names) > 1 else ""
        doubt = f'its first line, "{line}", was taken for {taken}{so}, and could be {other}'
        sign = next((each for each in COMMENTS if line.startswith(each)), "")
        comment = f', comment:"{sign}" leaves it out' if sign else ""
        yield f"{names[0]}: {doubt}; parse_headers: true or false settles it{comment}."


def _first_line(schema: FileSchema) -> str:
    assert schema.csv is not None
    line = schema.csv.dialect.delimiter.join(schema.csv.cells or first_record(schema)).replace("\n", " ")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _list_names(names: Sequence[str]) -> str:
    more = len(names) - _FEW_NAMED
    return ", ".join(names[:_FEW_NAMED]) + (f" and {counted(more, 'more file')}" if more > 0 else "")


def strangers(schemas: Mapping[str, FileSchema], *, folds: bool = False) -> Sequence[Sequence[str]]:
    """Return the files in groups, if files of different groups have no column in common; else nothing.

    `folds`: names that differ only in case are one.
    """
    groups: dict[int, list[str]] = {}
    group_of: dict[str, int] = {}
    united_with: list[int] = []
    for number, (name, schema) in enumerate(schemas.items()):
        united_with.append(number)
        columns = {name.casefold() if folds else name for name in schema.columns}
        met = {_root(united_with, group_of[column]) for column in columns if column in group_of}
        root = max(sorted(met), key=lambda each: len(groups[each]), default=number)
        members = groups.pop(root, [])  # it comes behind the groups that the file does not touch
        for each in sorted(met - {root}):
            members += groups.pop(each)
            united_with[each] = root
        groups[root] = members
        members.append(name)
        group_of |= dict.fromkeys(columns, root)
    return list(groups.values()) if len(groups) > 1 else []


def _root(united_with: list[int], group: int) -> int:
    """The group that a group is part of by now."""
    while united_with[group] != group:
        group = united_with[group]
    return group
