"""What a store without folders and renames can do, and what the data pipeline needs of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, RawIOBase
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class StoredObject:
    """An object as a listing shows it; its age is by the store's own clock."""

    path: str
    size: int
    tag: str
    age_seconds: float


class ObjectStore(Protocol):
    """Objects by their paths, `bucket/key`. Every write is whole or not at all.

    Raises of all of them:
        Forbidden: the store says no.
        ClientFailed: it cannot be reached, or fails.
    """

    def below(self, folder: str) -> Iterator[StoredObject]:
        """Yield every object below a folder."""

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the folders and the objects directly in a folder, by their names."""

    def read(self, path: str) -> tuple[bytes, str] | None:
        """Return an object's content and the tag of this version of it; nothing where there is none."""

    def read_start(self, path: str, length: int) -> bytes:
        """Return the first bytes of an object; none where there is no such object, or nothing in it."""

    def write_new(self, path: str, content: bytes) -> str | None:
        """Write an object unless there is one, and return its tag; nothing where there is one."""

    def rewrite(self, path: str, content: bytes, tag: str) -> str | None:
        """Write an object if it still is the version of the tag, and return its new tag; nothing where it is not."""

    def copy(self, source: str, target: str) -> None:
        """Copy an object inside the store.

        Raises:
            PathNotFound: there is no such object.
        """

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects; one that is not there is none to worry about."""

    def abandon_uploads(self, folder: str) -> None:
        """Remove the parts of uploads below a folder that were never finished, if they are a day old."""

    def keeps_conditions(self, folder: str) -> bool:
        """Say whether `write_new` and `rewrite` hold what they promise here; it is found out by trying, once."""


@runtime_checkable
class StreamingFiles(Protocol):
    """A file system that has, besides what Arrow asks of one, streams for whoever reads a file to its end.

    Arrow's own files may cost a request for every block; a stream costs one, however it is read.
    """

    def open_range(self, path: str, offset: int = 0, length: int | None = None) -> RawIOBase | BytesIO:
        """Open a part of a file, all from the offset on by default, to be read once from its start to its end.

        Raises, when it is read:
            FileNotFoundError: there is no such file.
            OSError: it cannot be read, with the reason.
        """

    def why_unreadable(self, path: str, error: OSError) -> str:
        """Return why a file cannot be read, in a sentence; the error, which is Arrow's or a stream's, may not tell."""


@runtime_checkable
class TaggedFiles(Protocol):
    """A file system that says by what an object is known again, where its open files have no metadata with an ETag.

    A file system of Arrow's that is written in Python cannot give its files metadata; its handler says it in this way.
    """

    def size_and_tag(self, path: str) -> tuple[int, str]:
        """Return an object's size, and the tag that the store has for its content: that of `ObjectStore`.

        Raises:
            FileNotFoundError: there is no such file.
        """
