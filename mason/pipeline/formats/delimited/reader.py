"""Records of a delimited text that comes block by block, with what is wrong with them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.records import Records, split_records
from mason.pipeline.formats.text_buffer import TextBuffer


class RecordReader:
    """Gives the records of a text. `most` is how many characters it reads in search of a record's end.

    Records are numbered as those of the run are: blank lines count, and so do records that cannot be read, but nothing
    before the first record does.
    """

    def __init__(
        self, buffer: TextBuffer, dialect: Dialect, most: int, warnings: list[str], nulls: Collection[str] = ()
    ) -> None:
        self._buffer = buffer
        self._dialect = dialect
        self._most = most
        self._warnings = warnings
        self._nulls = nulls
        self._records = 0
        self._one_column = False
        self.all_quoted = self.first_quoted = True
        """Whether all fields are in quotes, or the first ones of all records."""
        self.width = 0
        """How many fields a record has, once that is known."""
        self.first_problem = ""
        """What is wrong with the very first record."""
        self.numbers: Sequence[int] = ()
        """The numbers of the rows that were given last, from 1."""

    def next_rows(self, limit: int) -> list[list[str]]:
        """Return the next complete records, at most `limit`; none at the end, or when a record is too long."""
        buffer = self._buffer
        while buffer.text:
            found = split_records(
                buffer.text, self._dialect, limit, final=buffer.at_end, width=self.width, nulls=self._nulls
            )
            given_up = not (buffer.at_end or found.end) and len(buffer.text) >= self._most
            self._report(found, given_up=given_up)
            self.all_quoted = self.all_quoted and found.all_quoted
            self.first_quoted = self.first_quoted and found.first_quoted
            rows = self._without_blank_lines(found)
            buffer.text = buffer.text[found.end :]
            if rows or given_up:
                return rows
            if not found.end:
                buffer.read_on()
        return []

    def _without_blank_lines(self, found: Records) -> list[list[str]]:
        """A blank line is a null where there is one column, and nothing where there are more."""
        rows, numbers = found.rows, _number_rows(found, self._records)
        self._records += len(found.rows) + len(found.problems)
        if rows and numbers[0] == 1:
            first = next((index for index, row in enumerate(rows) if row != [""]), 0)  # one may follow a comment
            self._one_column = len(rows[first]) == 1
            if first:
                rows, numbers = rows[first:], [number - first for number in numbers[first:]]
                self._records -= first
        if not self._one_column and [""] in rows:
            numbers = [number for number, row in zip(numbers, rows, strict=True) if row != [""]]
            rows = [row for row in rows if row != [""]]
        self.numbers = numbers
        return rows

    def _report(self, found: Records, *, given_up: bool) -> None:
        """Of each problem, only the first record is named."""
        if found.problems and not self._records and not found.problems[0][0]:
            self.first_problem = found.problems[0][1]
        for number, (index, problem) in enumerate(found.problems):
            if not any(problem in warning for warning in self._warnings):
                self._warnings.append(f"record {self._records + index + number + 1:,} cannot be read: {problem}")
        if given_up and self._dialect.quote and self._dialect.quote in self._buffer.text:
            self._warnings.append(f"record {self._records + 1:,} opens a quote that is not closed")


def _number_rows(found: Records, before: int) -> Sequence[int]:
    """The numbers of rows, between which records stand that cannot be read."""
    first = before + 1
    if not found.problems:
        return range(first, first + len(found.rows))
    places = [index for index, _ in found.problems]
    return [first + index + bisect_right(places, index) for index in range(len(found.rows))]
