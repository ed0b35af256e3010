"""The shelf as Arrow wants a file system: every path is one below the root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
from shelf.objects import tag_of


class ShelfFiles(pafs.FileSystemHandler):  # type: ignore[misc] # it has no types
    """Hands on to the disk, and takes the root off what the disk answers."""

    def __init__(self, root: str) -> None:
        self._root, self._disk = root.rstrip("/"), pafs.LocalFileSystem()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShelfFiles) and other._root == self._root

    def get_type_name(self) -> str:
        return "shelf"

    def size_and_tag(self, path: str) -> tuple[int, str]:
        """Return what the shelf knows an object by, see `TaggedFiles`."""
        content = Path(self._real(path)).read_bytes()
        return len(content), tag_of(content)

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[pafs.FileInfo]:
        found = self._disk.get_file_info([self._real(path) for path in paths])
        return [self._shown(each) for each in found]

    def get_file_info_selector(self, selector: pafs.FileSelector) -> list[pafs.FileInfo]:
        real = pafs.FileSelector(
            self._real(selector.base_dir), allow_not_found=selector.allow_not_found, recursive=selector.recursive
        )
        found = self._disk.get_file_info(real)
        return [self._shown(each) for each in found if not each.base_name.startswith(".draft-")]

    def create_dir(self, path: str, recursive: bool) -> None:
        self._disk.create_dir(self._real(path), recursive=recursive)

    def delete_dir(self, path: str) -> None:
        self._disk.delete_dir(self._real(path))

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        self._disk.delete_dir_contents(self._real(path), missing_dir_ok=missing_dir_ok)

    def delete_root_dir_contents(self) -> None:
        raise NotImplementedError

    def delete_file(self, path: str) -> None:
        self._disk.delete_file(self._real(path))

    def move(self, source: str, target: str) -> None:
        raise NotImplementedError("A shelf has no rename.")

    def copy_file(self, source: str, target: str) -> None:
        self._disk.copy_file(self._real(source), self._real(target))

    def open_input_stream(self, path: str) -> Any:
        return self._disk.open_input_stream(self._real(path), compression=None)

    def open_input_file(self, path: str) -> Any:
        return self._disk.open_input_file(self._real(path))

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        Path(self._real(path)).parent.mkdir(parents=True, exist_ok=True)  # it has no folders: a key is enough
        return self._disk.open_output_stream(self._real(path), compression=None)

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        raise NotImplementedError("What is on a shelf is written whole.")

    def _real(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _shown(self, info: pafs.FileInfo) -> pafs.FileInfo:
        path = info.path.removeprefix(self._root).lstrip("/")
        if info.type != pafs.FileType.File:
            return pafs.FileInfo(path, type=info.type)
        return pafs.FileInfo(path, type=info.type, size=info.size, mtime_ns=info.mtime_ns)
