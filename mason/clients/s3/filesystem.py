"""The store as a file system: Arrow's, and streams for whoever reads on and on.

Arrow sends a request for every block that is read. Where a file is read from its first byte to its last, one request
for all of it is less work for the store, and for who reads.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

import pyarrow.fs as pafs
from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError
from urllib3.exceptions import HTTPError

from mason.clients.aws.connection import ATTEMPTS
from mason.clients.s3.failures import is_of_arrow, require_attribute, s3_failures
from mason.errors import MasonError, PathNotFound

_CUT_OFF = (IncompleteReadError, ReadTimeoutError, ResponseStreamingError, HTTPError)


class S3Files(pafs.S3FileSystem):  # type: ignore[misc] # it has no types
    """The objects of a store as files. `make_client` makes the client of boto3 by which they are streamed."""

    def __init__(self, make_client: Callable[[], Any], **settings: Any) -> None:
        super().__init__(**settings)
        self._make_client = make_client

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    def open_range(self, path: str, offset: int = 0, length: int | None = None) -> ObjectStream:
        """Open a part of an object, all from the offset on by default, to be read once from its start to its end."""
        return ObjectStream(self._client, path, offset, None if length is None else offset + length)

    def why_unreadable(self, path: str, error: OSError) -> str:
        """Return why an object cannot be read.

        Arrow tells of an error no more than fits the place for what it wanted to read, and of a HEAD nothing: so the
        store is asked once more in a way that is answered with a reason.
        """
        if not is_of_arrow(error):
            return str(error)
        try:
            with self.open_range(path, 0, 1) as stream:
                stream.read(1)
        except OSError as told:
            return str(told)
        return str(error)


class ObjectStream(io.RawIOBase):
    """Bytes of one version of an object, asked for when the first of them is read.

    Where the store breaks off, it is asked for the rest; an object that is another one by then is not read on.
    """

    def __init__(self, client: Any, path: str, start: int, end: int | None) -> None:
        self._client, self._path, self._at, self._end = client, path, start, end
        self._body: Any = None
        self._tag = ""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, none at the end.

        Raises:
            FileNotFoundError: there is no such object.
            OSError: the store says no, fails, or goes on breaking off.
        """
        with _as_errors_of_a_disk(self._path):
            return self._read(None if size < 0 else size)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        piece = self.read(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if self._body is not None:
            self._body.close()
        super().close()

    def _read(self, size: int | None, attempts: int = ATTEMPTS) -> bytes:
        if self._body is None:
            self._body = self._ask()
        try:
            piece: bytes = self._body.read(size)
        except _CUT_OFF as error:
            self._body.close()
            self._body = None
            if attempts == 1:
                raise OSError("the store breaks off while it is read, again and again") from error
            return self._read(size, attempts - 1)
        self._at += len(piece)
        return piece

    def _ask(self) -> Any:
        bucket, _, key = self._path.partition("/")
        last = "" if self._end is None else self._end - 1
        part = {"Range": f"bytes={self._at}-{last}"} if self._at or self._end is not None else {}
        answer = self._client.get_object(Bucket=bucket, Key=key, **part)
        with ExitStack() as unless_it_is_the_one:
            unless_it_is_the_one.callback(answer["Body"].close)
            tag = require_attribute(self._path, answer, "ETag", self._client)
            if self._tag and tag != self._tag:
                raise OSError("it was replaced while it was read")
            unless_it_is_the_one.pop_all()
        self._tag = tag
        return answer["Body"]


@contextmanager
def _as_errors_of_a_disk(path: str) -> Iterator[None]:
    """The reason alone: who reads a file names it."""
    try:
        with s3_failures(path):
            yield
    except PathNotFound as error:
        raise FileNotFoundError(str(error)) from error
    except MasonError as error:
        raise OSError(str(error).removeprefix(f"s3://{path}: ")) from error
