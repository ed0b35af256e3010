"""The storage role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.path import File, Path
from mason.errors import Unsupported

if TYPE_CHECKING:
    import pyarrow.fs


class StorageClient(Role):
    """Where bytes lie, whoever keeps them.

    `path` turns what a user wrote into a place and never touches it; every other verb takes such a place.
    """

    schemes: ClassVar[Sequence[str]]
    """The schemes of the paths that this storage serves, such as `file` or `s3`."""

    @abstractmethod
    def path(self, text: str) -> Path:
        """Return the place that the text names, in the user's spelling or with its scheme.

        Raises:
            BadPath: the text names no place in this storage.
        """

    def check_place(self, path: Path) -> list[str]:
        """Return what stands in the way of reading and writing tables at a path; `mason doctor --path` shows it."""
        raise Unsupported(f"{type(self).__name__} cannot tell what may be done at a path before it is done.")

    @abstractmethod
    def filesystem(self) -> pyarrow.fs.FileSystem:
        """Return the file system through which the data pipeline reads and writes."""

    def address(self) -> str:
        """Return the address by which a task on any machine opens the same file system; no secret is in it."""
        raise Unsupported(f"{type(self).__name__} cannot be reached by the tasks of a job yet.")

    @abstractmethod
    def list_files(self, path: Path, *, response: Response) -> tuple[Sequence[File], Response]:
        """Return the data files at or below the path, sorted by path; hidden ones and those with `_` are left out.

        Raises:
            PathNotFound: there is nothing there.
        """

    @abstractmethod
    def infer_table(
        self, path: Path, database: str, table: str, options: InferOptions, *, response: Response
    ) -> tuple[Table, Response]:
        """Return the table that the files at or below the path make up; without a name it is called as the path is.

        Raises:
            PathNotFound: there is nothing there.
            NoData: there are no data files, or all are empty.
            UnreadableFile: none of the files can be read.
        """

    @abstractmethod
    def delete(self, path: Path, *, response: Response) -> tuple[None, Response]:
        """Delete the file, or the folder with all that is in it.

        Raises:
            PathNotFound: there is nothing there.
        """
