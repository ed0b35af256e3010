"""Local files as storage."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path as LocalPath
from typing import TYPE_CHECKING, Any

from mason.clients.engines.role import verb
from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.engines.storage.models.path import File, Path
from mason.errors import BadPath, ClientFailed, Forbidden, NotFound, PathNotFound
from mason.util.confinement import name_below, require_below, require_visible

if TYPE_CHECKING:
    import pyarrow.fs


class LocalStorageClient(StorageClient):
    """Paths are relative to `root`, which is the working directory by default; absolute ones stay what they are."""

    schemes = ("file",)
    errors = {FileNotFoundError: NotFound, PermissionError: Forbidden, OSError: ClientFailed}

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.root = local_root(configuration)
        self._roots: tuple[str, ...] = tuple(map(os.path.realpath, configuration.get("roots") or ()))

    def check(self) -> list[str]:
        if not self.root.is_dir():
            return [f"root {self.root} is not a folder: create it, or change it in the configuration"]
        return [] if os.access(self.root, os.W_OK) else [f"root {self.root} cannot be written to"]

    def check_place(self, path: Path) -> list[str]:
        place = LocalPath(path.path)
        nearest = next(each for each in (place, *place.parents) if each.exists())
        if not nearest.is_dir():
            return [f"{nearest} is a file: a table is a folder"]
        modes = {"listed": os.R_OK | os.X_OK, "written to": os.W_OK | os.X_OK}
        return [f"{nearest} cannot be {what}" for what, mode in modes.items() if not os.access(nearest, mode)]

    def path(self, text: str) -> Path:
        plain = text.removeprefix("file://")
        if not plain or "\0" in plain or "://" in plain:
            raise BadPath(f'"{text}" is not a path on this machine.')
        try:
            place = os.path.normpath(self.root / LocalPath(plain).expanduser())
        except RuntimeError:  # no user of this machine has the name after ~
            raise BadPath(f'"{text}" is not a path on this machine: no user here has such a home.') from None
        self.require_allowed(place, text)
        return Path("file", name_below(place, self._names_of_roots()) if self._roots else place)

    def _names_of_roots(self) -> tuple[str, ...]:
        """Return the folders that may be used, and the root by the name that the configuration has for it."""
        real = os.path.realpath(self.root)
        is_usable = any(f"{real}/".startswith(f"{root.rstrip('/')}/") for root in self._roots)
        return (*self._roots, str(self.root)) if is_usable else self._roots

    def require_allowed(self, place: str, display: str) -> None:
        """Check that a place is in one of the folders that may be used, and not hidden there.

        Raises:
            BadPath: it is not; the message has only what is to be shown.
        """
        if self._roots:
            require_below(place, self._roots, display)
            require_visible(place, [str(self.root), *self._roots], display)

    def filesystem(self) -> pyarrow.fs.FileSystem:
        from mason.pipeline.storage.address import open_filesystem

        return open_filesystem(self.address())

    def address(self) -> str:
        from mason.pipeline.storage.disks import confine_address

        return confine_address(self._roots)

    @verb
    def list_files(self, path: Path, *, response: Response) -> Sequence[File]:
        from mason.pipeline.storage.files import list_files

        return [
            File(each.path, each.size, _time_of_change(each.path)) for each in list_files(self.filesystem(), path.path)
        ]

    @verb
    def infer_table(self, path: Path, database: str, table: str, options: InferOptions, *, response: Response) -> Table:
        from mason.clients.shared.inferred_tables import infer_table_at

        place = Location(path.path, self.address())
        return infer_table_at(
            place, self.filesystem(), database=database, name=table, options=options, response=response
        )

    @verb
    def delete(self, path: Path, *, response: Response) -> None:
        place = LocalPath(path.path)
        if place == self.root or place in self.root.parents:
            raise BadPath(f"{place} is the root of this storage, or above it; it is not deleted.")
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif place.exists() or place.is_symlink():
            place.unlink()
        else:
            raise PathNotFound(str(place))


def local_root(configuration: Mapping[str, Any]) -> LocalPath:
    """Return the folder that a configuration of `local` speaks of."""
    return LocalPath(os.path.abspath(LocalPath(configuration.get("root") or ".").expanduser()))  # noqa: PTH100


def _time_of_change(path: str) -> str:
    return datetime.fromtimestamp(os.stat(path).st_mtime, UTC).isoformat(timespec="seconds")  # noqa: PTH116
