"""One file's columns, whatever its format."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain

import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.delimited.files import KnownHeader, read_csv
from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.delimited.options import CsvOptions
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.sampling import Budget
from mason.pipeline.formats.text_encoding import decode_blocks, encoding_of, without_end_mark
from mason.pipeline.storage.archives import inside
from mason.pipeline.storage.blocks import read_blocks, read_sample, translate_read_errors
from mason.pipeline.storage.files import DataFile
from mason.pipeline.storage.format_names import DELIMITERS, format_of, format_of_name

_ZIP, _OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_PARTS_OF_WORKBOOKS = (b"[Content_Types].xml", b"xl/w", b"_rels/.rels")
_DECLARING = ("parquet", "orc", "avro", "xlsx")


def _nothing() -> Generator[bytes]:
    yield from ()


@dataclass(frozen=True)
class OpenedFile:
    """A file of which the columns are known, if it declares them, or else the beginning."""

    file: DataFile
    declared: FileSchema | None = None
    first: bytes = b""
    others: Generator[bytes] = field(default_factory=_nothing)


@dataclass(frozen=True, kw_only=True)
class FileReader:
    """Reads the columns of files by the same options; "" and None mean that a file's own nature decides."""

    filesystem: pafs.FileSystem
    budget: Budget
    input_format: str = ""
    csv: CsvOptions = field(default_factory=CsvOptions)
    encoding: str = ""
    _headers: dict[str, KnownHeader] = field(default_factory=dict)
    _of_nameless: set[str] = field(default_factory=set)
    """The formats of files that declare their columns, and whose names have no ending: the next may be like them."""

    def read(self, file: DataFile) -> FileSchema | None:
        """Return the file's columns, or None if it is empty.

        Raises:
            UnreadableFile: it cannot be read as what it claims to be.
        """
        return self.read_opened(self.open(file))

    def open(self, file: DataFile) -> OpenedFile:
        """Ask for what a file declares, or for its beginning; several threads may do so at once.

        Raises:
            UnreadableFile: it cannot be read.
        """
        declared = self._read_by_name(file)
        if declared is not None:
            return OpenedFile(file, declared)
        read = read_blocks if self.budget.reads_all else read_sample
        blocks = read(inside(self.filesystem, file.archive), file, self.budget.block)
        return OpenedFile(file, first=next(blocks, b""), others=blocks)

    def read_opened(self, opened: OpenedFile) -> FileSchema | None:
        """Return the columns of a file that was opened, or None if it is empty.

        In the order of the files: what one of them has for a header, another need not be looked at for.

        Raises:
            UnreadableFile: it cannot be read as what it claims to be.
        """
        if opened.declared:
            return opened.declared
        file = opened.file
        with closing(opened.others) as blocks:
            if not opened.first:
                return None
            found = self.input_format or format_of(file.name, opened.first)
            if not found and self.encoding:
                found = format_of_name(file.name)  # whoever names an encoding says that it is text
            if not found:
                raise _in_no_format(file, opened.first)
            if found not in _DECLARING:
                return self._read_rows(file, found, opened.first, blocks)
        if not format_of_name(file.name):
            self._of_nameless.add(found)
        return self._read_declared(file, found)

    def read_again(self, file: DataFile, schema: FileSchema, guess: Header) -> FileSchema:
        """Return the columns of a delimited file, now that others tell whether it has a header.

        Raises:
            UnreadableFile: it cannot be read as what it claims to be.
        """
        if guess.is_there == schema.header:
            return replace(schema, guess=guess)
        again = replace(self, csv=replace(self.csv, read_headers=guess.is_there)).read(file)
        return replace(again, guess=guess) if again else schema

    def _read_by_name(self, file: DataFile) -> FileSchema | None:
        """What a file declares that is what its name says; its beginning need not be looked at then, which costs."""
        named = self.input_format or format_of_name(file.name)
        likely = [named] if named else list(self._of_nameless)
        if len(likely) != 1 or likely[0] not in _DECLARING or not file.size:
            return None
        try:
            return self._read_declared(file, likely[0])
        except UnreadableFile:
            return None  # its beginning tells what it is, or what is wrong with it

    def _read_declared(self, file: DataFile, found: str) -> FileSchema | None:
        from mason.pipeline.formats.binary import columnar_files

        if found == "xlsx":
            return self._read_sheets(file)
        read = {
            "parquet": columnar_files.read_parquet,
            "orc": columnar_files.read_orc,
            "avro": columnar_files.read_avro,
        }[found]
        return read(inside(self.filesystem, file.archive), file)

    def _read_sheets(self, file: DataFile) -> FileSchema | None:
        from mason.pipeline.formats.sheets.files import read_workbook
        from mason.pipeline.formats.sheets.head import SheetsAsked

        asked = SheetsAsked(self.csv.sheet, self.csv.read_headers, self.csv.asked.skip_rows, self.csv.nulls)
        filesystem = inside(self.filesystem, file.archive)
        with translate_read_errors(file, filesystem), filesystem.open_input_file(file.path) as source:
            return read_workbook(file.name, source, asked)

    def _read_rows(self, file: DataFile, found: str, first: bytes, others: Iterator[bytes]) -> FileSchema | None:
        blocks = chain([first], others)
        if found == "msgpack":
            from mason.pipeline.formats.binary.msgpack_files import read_msgpack

            return read_msgpack(file.name, blocks, self.budget)
        warnings: list[str] = []
        encoding = encoding_of(first, self.encoding)
        texts = without_end_mark(decode_blocks(blocks, encoding, warnings.append), "\x1a", warnings.append)
        if found in ("json", "jsonl"):
            from mason.pipeline.formats.json.files import read_json

            schema = read_json(file.name, texts, self.budget, claims_lines=found == "jsonl")
        else:
            options = self.csv.for_format(DELIMITERS.get(self.input_format, ""), DELIMITERS.get(found, ""))
            schema = read_csv(file.name, texts, options, self.budget, self._headers)
        if schema is None:
            return None
        seen = [*warnings, *schema.warnings]
        return replace(schema, encoding=encoding.name, encoding_guessed=encoding.guessed, warnings=seen)


def _in_no_format(file: DataFile, start: bytes) -> UnreadableFile:
    if start.startswith(_ZIP) and any(part in start for part in _PARTS_OF_WORKBOOKS):
        hint = "Name it .xlsx, or give input_format: xlsx."
        return UnreadableFile(file.name, "it is a workbook of Excel (xlsx), whatever its name says.", hint=hint)
    if start.startswith(_ZIP):
        return UnreadableFile(file.name, "it is a zip archive, whatever its name says.", hint="Name it .zip.")
    if start.startswith(_OLD_OFFICE):
        hint = "Save it as xlsx."
        return UnreadableFile(file.name, "it is a workbook that is older than xlsx, or has a password.", hint=hint)
    if start.count(b"\0") * 10 < len(start):
        return UnreadableFile(file.name, "what it holds is in no format that can be read.")
    return UnreadableFile(
        file.name,
        "it has NUL bytes: it is UTF-16 without a byte order mark, or no text at all.",
        hint="If it is text, say its encoding, such as encoding: utf-16-le (or utf-8, where the NULs are text).",
    )
