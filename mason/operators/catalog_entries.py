"""Tables in a metastore; where others read by it, its entries are switched with every commit to an object store."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.path import Path
from mason.errors import MasonError, NotFound
from mason.pipeline.catalog_entries import CatalogEntry, forget_entry, note_entry, read_entries, version_folder
from mason.pipeline.object_store import ObjectStore
from mason.pipeline.storage_address import is_local, open_objects
from mason.pipeline.table_commit import CommitRecord
from mason.pipeline.table_objects import TableObjects


@dataclass(frozen=True)
class Inference:
    """A path, how its files are to be read, and what the table that they make up is to be called."""

    storage: StorageClient
    path: Path
    database: str
    name: str
    options: InferOptions

    def infer(self, resp: Response, path: Path | None = None) -> tuple[Table, Response]:
        """Return the table by what is at its path, or at another one."""
        return self.storage.infer_table(path or self.path, self.database, self.name, self.options, response=resp)


def infer_and_save(metastore: MetastoreClient, wanted: Inference, resp: Response) -> tuple[Table, Response]:
    """Infer the schema of what is at a path and save it in the metastore.

    Of a table that Mason has made, a catalog is told the folder of its newest version, and told again with each commit.
    """
    objects = _objects(wanted.storage) if metastore.catalog() else None
    if objects and TableObjects(objects, wanted.path.path).current():
        return _save_newest(metastore, objects, wanted, resp)
    table, resp = wanted.infer(resp)
    return metastore.save_table(table, response=resp)


def follow_job(config: ValidConfig, job: Job, resp: Response) -> Response:
    """Have the catalogs show what a job has committed, where it has committed a table."""
    output, address = job.outputs.get("path"), job.inputs.get("storage")
    if not output or not address or is_local(address):
        return resp
    scheme = address.partition("://")[0]
    return follow_commit(config, config.storage.client_for(f"{scheme}://{output}"), Path(scheme, output), resp)


def follow_commit(config: ValidConfig, storage: StorageClient, path: Path, resp: Response) -> Response:
    """Have the catalogs show the newest version of a table.

    The commit stands, whatever becomes of this: readers of an entry that could not be switched see the former version.
    """
    objects = _objects(storage)
    if objects is None:
        return resp
    for entry in read_entries(objects, path.path):
        shown = f'Table "{entry.table}" in database "{entry.database}" of {entry.catalog}'
        try:
            if _follow(config, storage, objects, path, entry):
                resp.add_info(f"{shown} shows it.")
        except MasonError as error:
            resp.add_warning(f"{shown} still shows the former version: {error}")
    return resp


def _follow(config: ValidConfig, storage: StorageClient, objects: ObjectStore, path: Path, entry: CatalogEntry) -> bool:
    """Switch an entry; False for one that does not show the table any more, and is forgotten."""
    metastore = config.metastore.client if config.metastore.client_names else None
    if metastore is None or metastore.catalog() != entry.catalog:
        raise NotFound(
            f'The configuration "{config.id}" does not reach it.', hint='Run "table refresh" with one that does.'
        )
    try:
        known, _ = metastore.get_table(entry.database, entry.table, response=Response())
    except NotFound:
        known = None
    if known is None or known.path.rstrip("/") != str(path):
        forget_entry(objects, path.path, entry)
        return False
    wanted = Inference(storage, path, entry.database, entry.table, known.read_options)
    _save_newest(metastore, objects, wanted, Response())
    return True


def _save_newest(
    metastore: MetastoreClient, objects: ObjectStore, wanted: Inference, resp: Response
) -> tuple[Table, Response]:
    """Point an entry to the newest version; if another is committed meanwhile it is that one."""
    path = wanted.path
    while True:
        version = _current(objects, path)
        place = Path(path.scheme, f"{path.path}/{version_folder(objects, path.path, version)}")
        table, resp = wanted.infer(resp, place)
        name = wanted.name or path.path.rpartition("/")[2]
        pointed = replace(table, name=name, path=str(path), place=table.path)
        saved, resp = metastore.save_table(pointed, response=resp)
        entry = CatalogEntry(metastore.catalog(), saved.database_name, saved.name, version.id)
        note_entry(objects, path.path, entry)
        if _current(objects, path).id == version.id:
            return saved, resp


def _current(objects: ObjectStore, path: Path) -> CommitRecord:
    found = TableObjects(objects, path.path).current()
    if found is None:
        raise NotFound(f"At {path} there is no table that Mason has made any more.")
    return found


def _objects(storage: StorageClient) -> ObjectStore | None:
    """The object store that a storage is; none for a disk, where folders are exchanged."""
    address = storage.address()
    return None if is_local(address) else open_objects(address)
