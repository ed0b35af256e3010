"""The files of one attempt of a task, in any format: begun with their first row, ended when they are large enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.formats.writers.output_format import FileWriter, OutputFormat
from mason.pipeline.formats.writers.table_writer import BUFFERED_BYTES, by_partition, make_folders

_STEPS = 8
"""In so many steps a file grows to the size that is wanted."""


@dataclass(frozen=True)
class FileKind:
    """How files are written: in which format, how compressed, and about how large; 0 for as large as it gets."""

    format: OutputFormat
    compression: str
    size: int = 0

    @property
    def ending(self) -> str:
        return self.format.file_ending(self.compression)


class OpenFile:
    """One file that is being written."""

    def __init__(self, filesystem: pafs.FileSystem, folder: str, name: str, schema: pa.Schema, kind: FileKind) -> None:
        self._stack = ExitStack()
        make_folders(filesystem, folder, name)
        self._filesystem, self._path = filesystem, f"{folder}/{name}"
        self._raw = self._stack.enter_context(filesystem.open_output_stream(self._path, compression=None))
        self._stream = self._open_compressed(kind)
        self._writer: FileWriter = kind.format.open(self._stream, schema, kind.compression)
        self.rows = 0

    @property
    def noted(self) -> Mapping[str, int]:
        return self._writer.noted

    @property
    def size(self) -> int:
        return int(self._raw.tell()) + self._writer.pending

    @property
    def row_size(self) -> float:
        """About how many bytes a row takes; 0 while that is not known."""
        return self.size / self.rows if self.rows else 0.0

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write(rows)
        self.rows += rows.num_rows

    def close(self) -> int:
        """Complete the file and return how large it is."""
        try:
            self._writer.close()
        except BaseException:
            with suppress(Exception):
                self._stack.close()
            raise
        self._stack.close()
        return int(self._filesystem.get_file_info(self._path).size)

    def give_up(self) -> None:
        """Let go of the file as it is: nobody is going to read it, and what went wrong is told already."""
        with suppress(Exception):
            self._writer.close()
        with suppress(Exception):
            self._stack.close()

    def _open_compressed(self, kind: FileKind) -> Any:
        if not kind.format.compressions[kind.compression]:
            return self._raw
        return self._stack.enter_context(pa.CompressedOutputStream(self._raw, kind.compression))


class Files:
    """Writes rows into as many files as it takes, all in one folder, or in the folders of their partitions.

    Rows of partitions are gathered until they fill some memory, then the partition that has most of them is written. So
    neither many partitions nor large ones need more than that.
    """

    def __init__(
        self,
        filesystem: pafs.FileSystem,
        folder: str,
        name: str,
        schema: pa.Schema,
        kind: FileKind,
        keys: Sequence[str] = (),
    ) -> None:
        self._filesystem, self._folder, self._name, self._kind, self._keys = filesystem, folder, name, kind, keys
        self._schema = pa.schema([field for field in schema if field.name not in keys])
        self._open: OpenFile | None = None
        self._rows_in_file = 0
        """How many rows make a file of the size that is wanted; known when one is complete."""
        self._gathered: dict[str, list[pa.RecordBatch]] = {}
        self._bytes: dict[str, int] = {}
        self.files: list[str] = []
        self.noted: Counter[str] = Counter()

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows, in the order in which they are to be."""
        if not self._keys:
            self._write("", rows)
            return
        for folder, part in by_partition(rows, self._keys):
            self._gathered.setdefault(folder, []).append(part.select(self._schema.names))
            self._bytes[folder] = self._bytes.get(folder, 0) + part.nbytes
        while sum(self._bytes.values()) > BUFFERED_BYTES:
            self._write_partition(max(self._bytes, key=lambda folder: self._bytes[folder]))

    def close(self) -> None:
        for folder in list(self._gathered):
            self._write_partition(folder)
        self._end_file()

    def give_up(self) -> None:
        if self._open:
            self._open.give_up()

    def _write_partition(self, folder: str) -> None:
        del self._bytes[folder]
        for rows in self._gathered.pop(folder):
            self._write(folder, rows)
        self._end_file()

    def _write(self, folder: str, rows: pa.RecordBatch) -> None:
        while rows.num_rows:
            if self._open is None:
                self._begin_file(folder)
            assert self._open is not None
            step = self._step(self._open, rows)
            self._open.write(rows.slice(0, step))
            rows = rows.slice(step)
            if self._kind.size and self._is_full(self._open):
                self._rows_in_file = max(int(self._open.rows * self._kind.size / self._end_file()), 1)

    def _step(self, file: OpenFile, rows: pa.RecordBatch) -> int:
        """How many rows to write before looking how large the file is."""
        if not self._kind.size:
            return int(rows.num_rows)
        if self._rows_in_file:
            return self._rows_in_file - file.rows
        # A format that holds its rows back seems to need nothing for them.
        row = max(file.row_size, rows.nbytes / rows.num_rows / 2, 1.0)
        left = max(self._kind.size - file.size, 0)
        return max(int(min(left, self._kind.size / _STEPS) / row), 1)

    def _is_full(self, file: OpenFile) -> bool:
        """What a format still holds back is only guessed; what its first file came to is known."""
        return file.rows >= self._rows_in_file if self._rows_in_file else file.size >= self._kind.size

    def _begin_file(self, folder: str) -> None:
        number = f"-{len(self.files)}" if self.files else ""
        name = f"{folder}/" * bool(folder) + f"{self._name}{number}{self._kind.ending}"
        self._open = OpenFile(self._filesystem, self._folder, name, self._schema, self._kind)
        self.files.append(name)

    def _end_file(self) -> int:
        """End the file, if there is one, and return how large it is."""
        if self._open is None:
            return 0
        file, self._open = self._open, None
        size = file.close()
        self.noted.update(file.noted)
        return size
