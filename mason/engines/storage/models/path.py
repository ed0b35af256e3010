"""Paths in a storage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Path:
    """A place in a storage: the scheme says which technology, the rest is its own spelling of the place."""

    scheme: str
    path: str

    def __str__(self) -> str:
        return self.path if self.scheme == "file" else f"{self.scheme}://{self.path}"


@dataclass(frozen=True)
class File:
    """A file or object that lies below a path."""

    path: str
    size: int
    modified_at: str = ""
