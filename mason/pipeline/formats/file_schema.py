"""What one file says of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.odd_values import OddValue
from mason.pipeline.formats.sheets.extent import SheetPart
from mason.pipeline.types.column_types import Evidence
from mason.pipeline.types.pattern_hints import PatternHint


@dataclass(frozen=True, kw_only=True)
class FileSchema:
    """The columns of one file in their order.

    `complete`: all of the file was looked at, or it declares its types.
    `required`: columns that the file declares to hold no nulls. `details`: the words its format has for a column.
    `csv`, `quoted` and `encoding`: how the text of the file is written, where it is text.
    """

    format: str
    columns: Mapping[str, Evidence]
    rows: int = 0
    """How many were looked at."""
    stated_rows: int | None = None
    """How many there are, where the file says so itself."""
    complete: bool = True
    warnings: Sequence[str] = ()
    required: frozenset[str] = frozenset()
    details: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    csv: CsvReading | None = None
    guess: Header = Header.SURE
    """How sure it is that the file names its columns, or does not."""
    first_records: Sequence[Sequence[str]] = ()
    """The first records as they are read, for who wants to see them."""
    quoted: bool = False
    encoding: str = ""
    encoding_guessed: bool = False
    sheets: tuple[SheetPart, ...] = ()
    """What is read of a workbook."""
    odd_values: Mapping[str, OddValue] = field(default_factory=dict)
    """Columns that are text for few values."""
    hints: Mapping[str, PatternHint] = field(default_factory=dict)
    """Columns of text that look like something else."""
    thousands: Mapping[str, str] = field(default_factory=dict)
    """Columns of a delimited file whose points may mark thousands, with such a number, or "" where none has a point."""

    spellings: Mapping[str, str] = field(default_factory=dict)
    """Columns whose values look otherwise in a table, or may be expected to, with what is to be said of each."""

    @property
    def header(self) -> bool:
        """Whether the file names its columns."""
        return self.csv is None or self.csv.header


def unique_names(names: Sequence[str], warnings: list[str]) -> list[str]:
    """Return the names with a number added to those that came before: `name`, `name_2`.

    Names that differ only in case are reported but kept: not every technology can tell them apart. So are names with a
    line end: of delimited text it is always `\\n`, whatever stands in the file.
    """
    for name in names:
        if "\n" in name or "\r" in name:
            one_line = name.replace("\r", "\\r").replace("\n", "\\n")
            warnings.append(
                f'the column "{one_line}" has a line end in its name (that of delimited text is read as \\n)'
            )
    if len({name.casefold() for name in names}) == len(names):
        return list(names)
    unique: list[str] = []
    taken, met = set(names), set[str]()
    numbers: dict[str, int] = {}
    folded: dict[str, str] = {}
    for name in names:
        if name in met:
            number = next(n for n in count(numbers.get(name, 2)) if f"{name}_{n}" not in taken)
            if name not in numbers:
                warnings.append(f'it has more than one column "{name}": the next one is called "{name}_{number}"')
            numbers[name] = number + 1
            taken.add(f"{name}_{number}")
            unique.append(f"{name}_{number}")
            continue
        met.add(name)
        if name.casefold() in folded:
            warnings.append(f'its columns "{folded[name.casefold()]}" and "{name}" differ only in case')
        folded.setdefault(name.casefold(), name)
        unique.append(name)
    return unique
