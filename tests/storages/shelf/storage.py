"""A shelf as storage."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path as LocalPath
from typing import Any
from urllib.parse import urlencode

import pyarrow.fs as pafs

from mason.clients.engines.role import verb
from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.clients.shared.inferred_tables import infer_table_at
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.engines.storage.models.path import File, Path
from mason.errors import BadPath, PathNotFound
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import list_files


class ShelfStorageClient(StorageClient):
    """Paths are `shelf://room/key`, or `room/key`."""

    schemes = ("shelf",)

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._root = LocalPath(configuration["root"]).resolve()

    def path(self, text: str) -> Path:
        plain = text.removeprefix("shelf://").rstrip("/")
        if not plain or plain.startswith("/") or ".." in plain.split("/") or "://" in plain or "\0" in plain:
            raise BadPath(f'"{text}" is not a place on a shelf: write shelf://room/key.')
        return Path("shelf", plain)

    def filesystem(self) -> pafs.FileSystem:
        return open_filesystem(self.address())

    def address(self) -> str:
        return f"shelf:///?{urlencode({'root': str(self._root)})}"

    @verb
    def list_files(self, path: Path, *, response: Response) -> Sequence[File]:
        return [File(each.path, each.size) for each in list_files(self.filesystem(), path.path)]

    @verb
    def infer_table(self, path: Path, database: str, table: str, options: InferOptions, *, response: Response) -> Table:
        place = Location(path.path, self.address())
        return infer_table_at(
            place, self.filesystem(), database=database, name=table, options=options, response=response
        )

    @verb
    def delete(self, path: Path, *, response: Response) -> None:
        place = self._root / path.path
        if not place.exists():
            raise PathNotFound(str(path))
        shutil.rmtree(place) if place.is_dir() else place.unlink()
