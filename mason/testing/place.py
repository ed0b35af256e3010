"""Where a suite may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mason.engines.storage.models.path import Path

if TYPE_CHECKING:
    import pyarrow.fs


@dataclass(frozen=True)
class Place:
    """A place in a storage below which a suite may write, and the file system through which it does so."""

    filesystem: pyarrow.fs.FileSystem
    path: Path

    def below(self, name: str) -> Path:
        """Return the path of a file or folder below this place."""
        return Path(self.path.scheme, f"{self.path.path}/{name}")

    def write(self, name: str, content: bytes = b"") -> Path:
        """Write a file below this place and return its path."""
        path = self.below(name)
        self.filesystem.create_dir(path.path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path.path, compression=None) as stream:
            stream.write(content)
        return path

    def contents(self) -> dict[str, bytes]:
        """Return every file below this place, hidden ones as well, by its name."""
        import pyarrow.fs

        everything = pyarrow.fs.FileSelector(self.path.path, recursive=True, allow_not_found=True)
        files = [each for each in self.filesystem.get_file_info(everything) if each.is_file]
        return {each.path.removeprefix(f"{self.path.path}/"): self._read(each.path) for each in files}

    def _read(self, path: str) -> bytes:
        with self.filesystem.open_input_stream(path, compression=None) as stream:
            content: bytes = stream.read()
        return content
