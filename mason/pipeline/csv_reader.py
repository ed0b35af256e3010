"""Records of a delimited text that comes block by block, with what is wrong with them."""

from __future__ import annotations

from mason.pipeline.csv_records import Records, split_records
from mason.pipeline.text_buffer import TextBuffer


class RecordReader:
    """Gives the records of a text. `most` is how many characters it reads in search of a record's end."""

    def __init__(self, buffer: TextBuffer, delimiter: str, most: int, warnings: list[str]) -> None:
        self._buffer = buffer
        self._delimiter = delimiter
        self._most = most
        self._warnings = warnings
        self._records = 0
        self._one_column = False

    def next_rows(self, limit: int) -> list[list[str]]:
        """Return the next complete records, at most `limit`; none at the end, or when a record is too long."""
        buffer = self._buffer
        while buffer.text:
            found = split_records(buffer.text, self._delimiter, limit, final=buffer.at_end)
            given_up = not (buffer.at_end or found.rows) and len(buffer.text) >= self._most
            self._report_quotes(found, given_up=given_up)
            rows = self._without_blank_lines(found.rows)
            self._records += len(rows)
            buffer.text = buffer.text[found.end :]
            if rows or given_up:
                return rows
            if not found.rows:
                buffer.read_on()
        return []

    def _without_blank_lines(self, rows: list[list[str]]) -> list[list[str]]:
        """A blank line is a null where there is one column, and nothing where there are more."""
        if rows and not self._records:
            self._one_column = len(rows[0]) == 1
        return rows if self._one_column or [""] not in rows else [row for row in rows if row != [""]]

    def _report_quotes(self, found: Records, *, given_up: bool) -> None:
        if found.stray_quote is not None:
            self._report(self._records + found.stray_quote + 1, "has text after a closing quote")
        if found.open_quote and (self._buffer.at_end or given_up):
            self._report(self._records + len(found.rows) + given_up, "opens a quote that is not closed")

    def _report(self, record: int, problem: str) -> None:
        """Of each problem, only the first record is named."""
        if not any(problem in warning for warning in self._warnings):
            self._warnings.append(f"record {record:,} {problem}")
