"""Files in a table's folder that no commit lists: somebody else's, which Mason neither moves away nor deletes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from mason.errors import Conflict
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.tokens import split_exactly
from mason.pipeline.formats.text_encoding import detect_encoding
from mason.pipeline.storage.format_names import (
    begins_as_data,
    format_of,
    format_of_name,
    is_archive,
    is_data,
    unknown_packing,
)
from mason.util.words import counted

if TYPE_CHECKING:
    from mason.pipeline.tables.commit import TableStore

START_BYTES = 4096
_NAMED = 3
_DELIMITERS = ("\t", "|", ";", ",")
_LINES = 50
_NUMBERED = re.compile(r"\d").search


class Foreign(StrEnum):
    """What becomes of data files in a table's folder that Mason did not write."""

    REFUSE = "refuse"
    ADOPT = "adopt"
    KEEP = "keep"


class ForeignFiles(Conflict):
    """Raised when data files that Mason did not write lie in the table's folder. 409 · exit 1"""

    def __init__(self, path: str, names: Sequence[str]) -> None:
        super().__init__(
            f"{path} holds {counted(len(names), 'data file')} that Mason did not write: {list_names(names)}.",
            hint="foreign:keep leaves them where they are, uncounted; foreign:adopt makes them rows of the table, in a "
            "table merge whose output_path this is (its input_path may be the same). Nothing was committed.",
        )


class ChangedFiles(Conflict):
    """Raised when somebody else has written over files of the table. 409 · exit 1"""

    def __init__(self, path: str, sizes: Mapping[str, tuple[int, int]]) -> None:
        names = [
            f"{name} ({now:,} bytes instead of {then:,})" if now != then else f"{name} ({now:,} bytes, as before)"
            for name, (now, then) in sorted(sizes.items())
        ]
        those = f"{counted(len(names), 'file')} of the table: {list_names(names)}"
        self.finding = f"{path}: somebody else has written over {those}."
        super().__init__(
            self.finding,
            hint="Restore what was there from a backup, with its times, or go back to an earlier version (table "
            "rollback), which keeps the files as they are now beside the table. Nothing was committed.",
        )


class MissingFiles(Conflict):
    """Raised when files of the table are gone. 409 · exit 1"""

    def __init__(self, path: str, names: Sequence[str]) -> None:
        super().__init__(
            f"{path}: {counted(len(names), 'file')} of the table {'is' if len(names) == 1 else 'are'} gone: "
            f"{list_names(names)}.",
            hint="Restore what was there from a backup, or go back to an earlier version (table rollback). "
            "Nothing was committed.",
        )


@dataclass(frozen=True)
class Strangers:
    """What lies in a table's folder and is not Mason's, as paths below the folder, in sorted order."""

    data: Sequence[str] = ()
    others: Sequence[str] = ()
    """Notes, markers such as `_SUCCESS`, and folders without files, whose paths end with a slash."""

    @classmethod
    def of(cls, names: Iterable[str], read_start: Callable[[str], bytes]) -> Strangers:
        """Tell data from what merely lies beside them."""
        data: list[str] = []
        others: list[str] = []
        for name in sorted(names):
            (data if is_foreign_data(name, read_start) else others).append(name)
        return cls(data, others)


def list_names(names: Sequence[str]) -> str:
    """Return the first few of the names, and how many more there are."""
    shown = ", ".join(_printable(name) for name in names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown


def check_foreign(table: TableStore, path: str) -> None:
    """See that a job may commit to a table as far as files of others are concerned; its publishing asks again.

    Raises:
        ForeignFiles: data files of others lie in its folder, and the job does not say what becomes of them.
        ChangedFiles: others have written over its files.
    """
    names = table.strangers().data if table.current() else ()
    if names and table.foreign is Foreign.REFUSE:
        raise ForeignFiles(path, names)


def describe_going_back(table: TableStore, path: str) -> Iterator[str]:
    """Yield the warnings for what others have done to a table that goes back to an earlier version.

    Raises:
        ForeignFiles: data files of others lie in its folder, and nobody has said that they stay.
    """
    try:
        check_foreign(table, path)
        yield from describe_kept(table, path)
    except ChangedFiles as error:
        yield f"{error.finding} As it is now, that is kept beside the table, and no vacuum removes it."


def describe_kept(table: TableStore, path: str) -> Iterator[str]:
    """Yield the warning for data files of others that stay in a table's folder.

    Raises:
        ChangedFiles: others have written over files of the table.
    """
    if table.foreign is Foreign.KEEP and (names := table.strangers().data):
        those = "stays" if len(names) == 1 else "stay"
        yield (
            f"{counted(len(names), 'data file')} in {path} that Mason did not write {those} there, uncounted: "
            f"{list_names(names)}."
        )


def is_foreign_data(name: str, read_start: Callable[[str], bytes]) -> bool:
    """Say whether a file could hold rows. Where its name leaves that open, its first bytes say it.

    Programs name parts of tables `part-00000` and `000000_0`, people their notes `README` and `notes.txt`.
    """
    base = name.rpartition("/")[2]
    if not base or not is_data(name):
        return False
    if base.lower().endswith(".txt"):
        return _is_table(name, read_start(name))
    if format_of_name(name) or unknown_packing(name) or is_archive(name):
        return True
    return "." not in base and bool(_NUMBERED(base) or begins_as_data(read_start(name)))


def _is_table(name: str, start: bytes) -> bool:
    """Say whether a file of text holds records rather than notes: JSON, or delimited text, in whatever encoding."""
    if begins_as_data(start) or format_of(name, start) in ("json", "jsonl"):
        return True
    encoding = detect_encoding(start)
    text = start.decode(encoding.name, "replace")
    final = len(start) < START_BYTES
    dialects = [Dialect(delimiter=delimiter, quote=quote) for delimiter in _DELIMITERS for quote in ('"', "")]
    return any(_is_delimited(text, dialect, final=final) for dialect in dialects)


def _is_delimited(text: str, dialect: Dialect, *, final: bool) -> bool:
    """Say whether most of the first lines are records of as many fields; others, such as a title, stand above them."""
    found = islice(split_exactly(text, dialect, final=final), _LINES)
    fields = [len(each.fields) for each in found if "".join(each.fields).strip()]
    is_prose = dialect.delimiter == "," and text.count(",") == text.count(", ")
    alike = next((place for place, count in enumerate(reversed(fields)) if count != fields[-1]), len(fields))
    return alike > 1 and fields[-1] > 1 and (alike == len(fields) or (alike * 2 > len(fields) and not is_prose))


def _printable(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
