"""A sheet of Excel: few types, a limit of rows, and numbers of fifteen digits.

What a cell would show differently is text instead, value by value: numbers and decimals of more digits, times with a
zone, days before March 1900 (Excel's calendar has a day too many there) and after 9999, and times finer than a
millisecond.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import MissingDependency
from mason.pipeline.formats.writers.codecs import (
    Codec,
    as_is,
    base64_text,
    count_of_units,
    is_any_binary,
    timestamp_text,
)
from mason.pipeline.formats.writers.csv_writer import codec_of_nested_text
from mason.pipeline.formats.writers.output_format import (
    NO_COMPRESSION,
    CannotHold,
    FileWriter,
    OutputFormat,
    encode_rows,
    schema_as_stored,
)
from mason.pipeline.types.number_types import EXACT_IN_DOUBLE
from mason.pipeline.types.python_values import python_values

MOST_ROWS = 1_048_575  # and the names of the columns in one more
MOST_COLUMNS = 16_384
LONGEST_TEXT = 32_767
_SHEET = "xl/worksheets/sheet1.xml"
_BLOCK = 1024 * 1024
_FIRST_DAY = date(1900, 3, 1)
_WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # as in JSON
_EXACT = 10**EXACT_IN_DOUBLE
_DATE, _TIME, _MOMENT = "yyyy-mm-dd", "hh:mm:ss.000", "yyyy-mm-dd hh:mm:ss.000"


def xlsx_codec(declared: pa.DataType) -> Codec:
    if pa.types.is_nested(declared):
        return codec_of_nested_text(declared)
    if is_any_binary(declared):
        return base64_text(declared)
    if pa.types.is_timestamp(declared) and declared.tz:
        return timestamp_text(declared)
    return count_of_units(declared) if pa.types.is_duration(declared) else as_is(declared)


class XlsxFileWriter(FileWriter):
    """One workbook of one sheet. It is put together when it is closed; until then its rows are on disk."""

    def __init__(self, stream: Any, schema: pa.Schema, compression: str) -> None:
        xlsxwriter = _xlsxwriter()
        self._stream = stream
        self._codecs = [xlsx_codec(each) for each in schema.types]
        self._schema = schema_as_stored(schema, self._codecs, schema.names)
        self._scratch = TemporaryDirectory(prefix="mason-xlsx-")
        self._book = xlsxwriter.Workbook(stream, {"constant_memory": True, "tmpdir": self._scratch.name})
        self._sheet = self._book.add_worksheet("Sheet1", worksheet_class=_exact_sheet())
        formats = {kind: self._book.add_format({"num_format": kind}) for kind in (_DATE, _TIME, _MOMENT)}
        self._cells = [_cell_writer(self._sheet, each.type, formats) for each in self._schema]
        self._row = 0
        self._noted: Counter[str] = Counter()
        self._plain = self._book.add_format()
        bold = self._book.add_format({"bold": True})
        for column, name in enumerate(schema.names):
            self._sheet.write_string(0, column, _check_text(name, name), bold)
        self._sheet.freeze_panes(1, 0)

    @property
    def noted(self) -> Mapping[str, int]:
        return self._noted

    def write(self, rows: pa.RecordBatch) -> None:
        stored = encode_rows(rows, self._codecs, self._schema)
        columns = [python_values(values) for values in stored.columns]
        names = self._schema.names
        for values in zip(*columns, strict=True):
            self._row += 1
            if all(value is None for value in values):
                self._sheet.write_blank(self._row, 0, None, self._plain)  # else there would be no such row
            for column, value in enumerate(values):
                if value is not None:
                    became = self._cells[column](self._row, column, value, names[column])
                    if became:
                        self._noted[f'Column "{names[column]}": {became}'] += 1

    def close(self) -> None:
        try:
            self._book.close()
        except _xlsxwriter().exceptions.FileCreateError as error:
            raise OSError(f"The workbook could not be written: {error}") from error
        finally:
            self._scratch.cleanup()


CellWriter = Callable[[int, int, Any, str], str]
"""Writes a value at a row and a column, whose name is given; returns what became of it if that is worth saying."""


def _cell_writer(sheet: Any, declared: pa.DataType, formats: Mapping[str, Any]) -> CellWriter:
    def text(row: int, column: int, value: str, name: str) -> str:
        sheet.write_string(row, column, _check_text(value, name))
        return ""

    def truth(row: int, column: int, value: bool, name: str) -> str:
        sheet.write_boolean(row, column, value)
        return ""

    def number(row: int, column: int, value: int | float | Decimal, name: str) -> str:
        if (isinstance(value, int) and abs(value) >= _EXACT) or (isinstance(value, Decimal) and _is_long(value)):
            sheet.write_string(row, column, format(value, "f") if isinstance(value, Decimal) else str(value))
            return "more than fifteen digits, written as text"
        if isinstance(value, float) and not -float("inf") < value < float("inf"):
            sheet.write_string(row, column, _WORDS[str(value)])
            return "NaN or infinite, written as text"
        sheet.write_number(row, column, float(value) if isinstance(value, Decimal) else value)
        return ""

    def moment(row: int, column: int, value: date | datetime | time | str, name: str) -> str:
        if isinstance(value, str):
            sheet.write_string(row, column, value)
            return "not in the years from 1 to 9999, written as text"
        day = value.date() if isinstance(value, datetime) else value
        if isinstance(day, date) and day < _FIRST_DAY:
            sheet.write_string(row, column, value.isoformat())
            return "before March 1900, written as text"
        if getattr(value, "microsecond", 0) % 1000:
            sheet.write_string(row, column, value.isoformat())
            return "finer than a millisecond, written as text"
        sheet.write_datetime(row, column, value, formats[_moment_format(declared)])
        return ""

    if pa.types.is_temporal(declared):
        return moment
    if pa.types.is_string(declared):
        return text
    return truth if pa.types.is_boolean(declared) else number


def _is_long(value: Decimal) -> bool:
    """Whether a decimal has more digits than a cell keeps; zeros at either end are none."""
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    return len(digits) > EXACT_IN_DOUBLE


def _moment_format(declared: pa.DataType) -> str:
    if pa.types.is_date(declared):
        return _DATE
    return _TIME if pa.types.is_time(declared) else _MOMENT


def _check_text(text: str, column: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise CannotHold(column, f"a text has {len(text):,} characters, and a cell of Excel {LONGEST_TEXT:,} at most.")
    return text


def _xlsxwriter() -> Any:
    try:
        import xlsxwriter  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingDependency(
            "Writing xlsx needs xlsxwriter.", hint="Install it: pip install 'mason-data[excel]'"
        ) from error
    return xlsxwriter


def _exact_sheet() -> type:
    from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

    class ExactSheet(Worksheet):  # type: ignore[misc]
        """A sheet whose numbers keep their seventeenth digit, and whose text is text even if it looks like markup."""

        def _xml_number_element(self, number: float, attributes: Any = ()) -> None:
            attr = "".join(f' {key}="{value}"' for key, value in attributes)
            self.fh.write(f"<c{attr}><v>{number!r}</v></c>")

        def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
            self._xml_inline_string(string, False, attributes)

    return ExactSheet


def count_rows(filesystem: pafs.FileSystem, path: str) -> int:
    """Count the rows in the sheet itself, below the names; text cannot look like one, as its < is escaped."""
    mark, rows, rest = b"<row ", 0, b""
    with filesystem.open_input_file(path) as source, zipfile.ZipFile(source) as book, book.open(_SHEET) as sheet:
        while block := sheet.read(_BLOCK):
            text = rest + block
            rows += text.count(mark)
            rest = text[-len(mark) + 1 :]
    return rows - 1


FORMATS = {
    "xlsx": OutputFormat(
        name="xlsx",
        extension="xlsx",
        compressions={NO_COMPRESSION: ""},
        codec=xlsx_codec,
        open=XlsxFileWriter,
        count=count_rows,
        is_document=True,
        package=_xlsxwriter,
        most_rows=MOST_ROWS,
        most_columns=MOST_COLUMNS,
    )
}
