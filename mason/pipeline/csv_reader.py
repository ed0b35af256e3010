"""Records of a delimited text that comes block by block, with what is wrong with them."""

from __future__ import annotations

from mason.pipeline.csv_dialect import Dialect
from mason.pipeline.csv_records import Records, split_records
from mason.pipeline.text_buffer import TextBuffer


class RecordReader:
    """Gives the records of a text. `most` is how many characters it reads in search of a record's end."""

    def __init__(self, buffer: TextBuffer, dialect: Dialect, most: int, warnings: list[str]) -> None:
        self._buffer = buffer
        self._dialect = dialect
        self._most = most
        self._warnings = warnings
        self._records = 0
        self._one_column = False
        self.width = 0
        """How many fields a record has, once that is known."""
        self.first_problem = ""
        """What is wrong with the very first record."""

    def next_rows(self, limit: int) -> list[list[str]]:
        """Return the next complete records, at most `limit`; none at the end, or when a record is too long."""
        buffer = self._buffer
        while buffer.text:
            found = split_records(buffer.text, self._dialect, limit, final=buffer.at_end, width=self.width)
            given_up = not (buffer.at_end or found.end) and len(buffer.text) >= self._most
            self._report(found, given_up=given_up)
            rows = self._without_blank_lines(found.rows)
            self._records += len(rows) + len(found.problems)
            buffer.text = buffer.text[found.end :]
            if rows or given_up:
                return rows
            if not found.end:
                buffer.read_on()
        return []

    def _without_blank_lines(self, rows: list[list[str]]) -> list[list[str]]:
        """A blank line is a null where there is one column, and nothing where there are more."""
        if rows and not self._records:
            first = next((row for row in rows if row != [""]), rows[0])  # a blank line may follow a comment
            self._one_column = len(first) == 1
            if self._one_column:
                return rows[rows.index(first) :]
        return rows if self._one_column or [""] not in rows else [row for row in rows if row != [""]]

    def _report(self, found: Records, *, given_up: bool) -> None:
        """Of each problem, only the first record is named."""
        if found.problems and not self._records and not found.problems[0][0]:
            self.first_problem = found.problems[0][1]
        for number, (index, problem) in enumerate(found.problems):
            if not any(problem in warning for warning in self._warnings):
                self._warnings.append(f"record {self._records + index + number + 1:,} cannot be read: {problem}")
        if given_up and self._dialect.quote and self._dialect.quote in self._buffer.text:
            self._warnings.append(f"record {self._records + 1:,} opens a quote that is not closed")
