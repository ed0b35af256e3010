"""The files of a task, one after the other; of a store, many small ones are on their way at once."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.tasks.readers import (
    check_stamp,
    check_unchanged,
    error_of_vanished,
    read_batches,
    read_records,
)
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.asking import ask_ahead
from mason.pipeline.storage.blocks import translate_read_errors
from mason.pipeline.storage.file_stamp import stamp_of
from mason.pipeline.storage.object_store import StreamingFiles

SMALL = 1024 * 1024
_AT_ONCE = 16


def read_files(
    files: Sequence[FileInTask],
    nulls: Sequence[str],
    schema: pa.Schema,
    columns: Collection[str] = (),
) -> Iterator[tuple[FileInTask, Batch]]:
    """Yield the records of the files, each batch with its file; see `read_batches`.

    Raises:
        UnreadableFile: a file cannot be read, or is not what it was when the plan was made.
    """
    for storage, together in groupby(files, key=lambda file: file.storage):
        yield from _read_files_in(open_filesystem(storage), list(together), nulls, schema, columns)


def _read_files_in(
    filesystem: pafs.FileSystem,
    files: Sequence[FileInTask],
    nulls: Sequence[str],
    schema: pa.Schema,
    columns: Collection[str],
) -> Iterator[tuple[FileInTask, Batch]]:
    """Yield the records of files that are in one storage."""
    if not isinstance(filesystem, StreamingFiles):
        for file in files:
            for batch in read_batches(filesystem, file, nulls, schema, columns):
                yield file, batch
        return
    _check_all_unchanged(filesystem, [file for file in files if not _is_small(file)])
    with FilesAhead(filesystem, files) as ahead:
        for file in files:
            for batch in read_records(ahead, file, nulls, schema, columns):
                yield file, batch
    _check_all_unchanged(filesystem, files)


class FilesAhead:
    """The file system of a store, for a task: those of its small files that are next have been asked for.

    A store takes longer to answer than small files take to be read. What else is asked of it is asked of the store.
    """

    def __init__(self, filesystem: pafs.FileSystem, files: Sequence[FileInTask]) -> None:
        self._filesystem = filesystem
        self._waiting = deque(file for file in files if _is_small(file))
        self._coming: dict[str, Future[bytes]] = {}
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="files-ahead")

    def __enter__(self) -> FilesAhead:
        self._ask()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._filesystem, name)

    def open_range(self, path: str, offset: int = 0, length: int | None = None) -> io.RawIOBase | io.BytesIO:
        """Open a file for who reads it to its end; one that has been asked for is there."""
        content = self._take(path)
        if content is not None:
            return io.BytesIO(content)
        opened: io.RawIOBase = self._filesystem.open_range(path, offset, length)
        return opened

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file for who reads here and there in it; one that has been asked for is there."""
        content = self._take(path)
        return self._filesystem.open_input_file(path) if content is None else pa.BufferReader(content)

    def why_unreadable(self, path: str, error: OSError) -> str:
        """Return why a file cannot be read."""
        reason: str = self._filesystem.why_unreadable(path, error)
        return reason

    def _take(self, path: str) -> bytes | None:
        coming = self._coming.pop(path, None)
        self._ask()
        return coming.result() if coming else None

    def _ask(self) -> None:
        while self._waiting and len(self._coming) < _AT_ONCE:
            file = self._waiting.popleft()
            self._coming[file.path] = self._pool.submit(self._fetch, file)

    def _fetch(self, file: FileInTask) -> bytes:
        with translate_read_errors(file.data, self._filesystem):
            try:
                with self._filesystem.open_input_file(file.path) as opened:
                    check_stamp(file, stamp_of(opened))
                    content: bytes = opened.read()
                    return content
            except FileNotFoundError as error:
                raise error_of_vanished(file) from error


def _is_small(file: FileInTask) -> bool:
    return file.is_whole and file.size <= SMALL and not file.archive


def _check_all_unchanged(filesystem: pafs.FileSystem, files: Sequence[FileInTask]) -> None:
    for checked in ask_ahead(lambda file: check_unchanged(filesystem, file), files, _AT_ONCE):
        checked()
