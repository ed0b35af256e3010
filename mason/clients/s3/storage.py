"""S3 as storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from mason.clients.aws.service import clock_troubles
from mason.clients.engines.role import verb
from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.clients.s3.connection import S3Connection
from mason.clients.s3.failures import s3_failures
from mason.clients.s3.objects import S3Objects, split
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.engines.storage.models.path import File, Path
from mason.errors import BadPath, ClientFailed, Forbidden, MasonError, PathNotFound
from mason.pipeline.storage.format_names import is_data
from mason.pipeline.storage.object_store import StoredObject

if TYPE_CHECKING:
    import pyarrow.fs


class S3StorageClient(StorageClient):
    """A path is a bucket and a key, with or without `s3://` before them."""

    schemes = ("s3", "s3a", "s3n")
    errors = {ClientError: ClientFailed, BotoCoreError: ClientFailed, OSError: ClientFailed}

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._connection = S3Connection.of(configuration)

    @property
    def objects(self) -> S3Objects:
        """The objects of the store."""
        return S3Objects(self._connection.client())

    def check(self) -> list[str]:
        try:
            self._connection.credentials()
        except MasonError as error:
            return [str(error)]
        try:
            with s3_failures(""):
                return clock_troubles(self._connection.client().list_buckets())
        except Forbidden as error:
            # Many who may use a bucket may not list the buckets: they have been recognized, which is what counts here.
            return [] if "access denied" in str(error) else [str(error)]
        except MasonError as error:
            return [str(error)]

    def describe_place(self) -> str:
        return self._connection.shown_endpoint

    def check_place(self, path: Path) -> list[str]:
        """Besides asking, write something and remove it: who may read need not be allowed to do more."""
        try:
            self.objects.is_folder(path.path)
        except MasonError as error:
            return [f"it cannot be listed: {error}"]
        try:
            if not self.objects.try_conditions(path.path):
                return ["this store has no conditional writes: no table can be written to it"]
        except MasonError as error:
            return [f"it cannot be written to: {error}"]
        return []

    def path(self, text: str) -> Path:
        scheme, separator, rest = text.partition("://")
        serves = not separator or scheme.lower() in self.schemes
        plain = (rest if separator else text).strip("/") if serves else ""
        if not plain or "\0" in plain:
            raise BadPath(f'"{text}" is not a path in S3.', hint="Write s3://bucket/key, or bucket/key.")
        if {"", ".", ".."} & set(plain.split("/")):
            raise BadPath(f'"{text}" has an empty part, "." or ".." in it, which no tool takes for the same.')
        return Path("s3", plain)

    def filesystem(self) -> pyarrow.fs.FileSystem:
        return self._connection.filesystem()

    def address(self) -> str:
        return self._connection.address()

    @verb
    def list_files(self, path: Path, *, response: Response) -> Sequence[File]:
        found = self.objects.find(path.path)
        if found:
            return [_file(found)]
        below = list(self.objects.below(path.path))
        if not below and split(path.path)[1]:
            raise PathNotFound(str(path))
        start = len(path.path) + 1
        files = [_file(each) for each in below if not each.path.endswith("/") and is_data(each.path[start:])]
        return sorted(files, key=lambda each: each.path)

    @verb
    def infer_table(self, path: Path, database: str, table: str, options: InferOptions, *, response: Response) -> Table:
        from mason.clients.shared.inferred_tables import infer_table_at

        place = Location(path.path, self.address())
        with s3_failures(path.path):
            return infer_table_at(
                place, self.filesystem(), database=database, name=table, options=options, response=response
            )

    @verb
    def delete(self, path: Path, *, response: Response) -> None:
        if not split(path.path)[1]:
            raise BadPath(f"{path} is a whole bucket; it is not deleted.")
        if self.objects.find(path.path):
            self.objects.delete([path.path])
            return
        below = [each.path for each in self.objects.below(path.path)]
        if not below:
            raise PathNotFound(str(path))
        self.objects.delete(below)
        self.objects.remove_empty_folders(path.path)


def _file(found: StoredObject) -> File:
    written = datetime.now(UTC) - timedelta(seconds=found.age_seconds)
    return File(found.path, found.size, written.isoformat(timespec="seconds"))
