"""Tables in a metastore; where others read by it, its entries are switched with every commit to an object store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.storage import StorageClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.path import Path
from mason.errors import BadPath, MasonError, MissingDependency, NotFound, RoleNotFilled, UnreadableFile
from mason.pipeline.storage.address import is_local, open_objects
from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.catalog_entries import CatalogEntry, forget_entry, note_entry, read_entries, version_folder
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.objects import TableObjects


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
    objects = _objects(wanted.storage)
    if objects:
        TableObjects(objects, wanted.path.path).settle()
    if objects and metastore.catalog() and TableObjects(objects, wanted.path.path).current():
        return _save_newest(metastore, objects, wanted, resp)
    table, resp = wanted.infer(resp)
    saved, resp = metastore.save_table(table, response=resp)
    return replace(saved, readings=table.readings), resp


def follow_job(config: ValidConfig, job: Job, resp: Response) -> Response:
    """Have the catalogs show what a job has committed, where it has committed a table."""
    output, address = job.outputs.get("path"), job.inputs.get("storage")
    if not output or not address or is_local(address):
        return resp
    scheme = address.partition("://")[0]
    return follow_commit(config, config.storage.client_for(f"{scheme}://{output}"), Path(scheme, output), resp)


def settle_known(config: ValidConfig, table: Table, resp: Response) -> Response:
    """Finish the commit of a table that the metastore knows, as `settle_table` does.

    A catalog tells whether the table is one that Mason writes; where there is none, only the storage does.
    """
    if not table.path or (config.metastore.client.catalog() and not table.place):
        return resp
    try:
        storage = config.storage.client_for(table.path)
        path = storage.path(table.path)
    except (BadPath, MissingDependency, RoleNotFilled):
        return resp  # its files are out of reach of the configuration, and what was asked for may not need them
    return settle_table(config, storage, path, resp)


def settle_read(config: ValidConfig, job: Job, resp: Response) -> Response:
    """Finish the commits of the tables that a job reads, where the commands that made them have died."""
    address = job.inputs.get("storage")
    if not address or is_local(address):
        return resp
    scheme = address.partition("://")[0]
    for path in _tables_read(job):
        resp = settle_table(config, config.storage.client_for(f"{scheme}://{path}"), Path(scheme, path), resp)
    return resp


def settle_table(config: ValidConfig, storage: StorageClient, path: Path, resp: Response) -> Response:
    """Finish the commit of a table whose command has died: what others see of it, and what the catalogs show.

    Whoever reads the table by Mason sees it anyway, so that a failure to do so is a warning.
    """
    objects = _objects(storage)
    if objects is None:
        return resp
    table = TableObjects(objects, path.path)
    try:
        entries = _reached(config, read_entries(objects, path.path)) if table.settle() else []
        newest = table.current() if entries else None
    except MasonError as error:  # what a catalog knows of the table can be told without its files
        resp.add_warning(f"Whether the last commit to {path} was finished cannot be looked up: {error}")
        return resp
    behind = [each for each in entries if newest and each.commit != newest.id]
    return _follow_all(config, storage, objects, path, behind, resp)


def follow_commit(config: ValidConfig, storage: StorageClient, path: Path, resp: Response) -> Response:
    """Have the catalogs show the newest version of a table.

    The commit stands, whatever becomes of this: readers of an entry that could not be switched see the former version.
    """
    objects = _objects(storage)
    if objects is None:
        return resp
    for each in [path, *_children(objects, path)]:
        try:
            entries = read_entries(objects, each.path)
        except UnreadableFile as error:
            resp.add_warning(f"Catalogs may still show the former version of {each}: {error}")
            continue
        resp = _follow_all(config, storage, objects, each, entries, resp)
    return resp


def _children(objects: ObjectStore, path: Path) -> Sequence[Path]:
    """The tables that came with a table: those of the lists that were exploded."""
    newest = TableObjects(objects, path.path).current()
    return [Path(path.scheme, f"{path.path}/{folder}") for folder in newest.child_folders] if newest else []


def _follow_all(
    config: ValidConfig,
    storage: StorageClient,
    objects: ObjectStore,
    path: Path,
    entries: Sequence[CatalogEntry],
    resp: Response,
) -> Response:
    for entry in entries:
        shown = f'Table "{entry.table}" in database "{entry.database}" of {entry.catalog}'
        try:
            if _follow(config, storage, objects, path, entry):
                resp.add_info(f"{shown} shows it.")
        except MasonError as error:
            resp.add_warning(f"{shown} still shows the former version: {error}")
    return resp


def _follow(config: ValidConfig, storage: StorageClient, objects: ObjectStore, path: Path, entry: CatalogEntry) -> bool:
    """Switch an entry; False for one that does not show the table any more, and is forgotten."""
    if not _reached(config, [entry]):
        raise NotFound(
            f'The configuration "{config.id}" does not reach it.', hint='Run "table refresh" with one that does.'
        )
    metastore = config.metastore.client
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


def _reached(config: ValidConfig, entries: Sequence[CatalogEntry]) -> Sequence[CatalogEntry]:
    """Those of the catalog that the configuration has."""
    catalog = config.metastore.client.catalog() if config.metastore.client_names else ""
    return [each for each in entries if each.catalog == catalog]


def _tables_read(job: Job) -> Sequence[str]:
    """The paths that a job reads, each once; tables or not."""
    single, tables = [job.inputs.get("path"), job.inputs.get("other")], job.inputs.get("tables", {})
    found = [*single, *tables.values(), *job.inputs.get("references", ())]
    return list(dict.fromkeys(each for each in found if each))


def _save_newest(
    metastore: MetastoreClient, objects: ObjectStore, wanted: Inference, resp: Response
) -> tuple[Table, Response]:
    """Point an entry to the newest version; if another is committed meanwhile it is that one."""
    path = wanted.path
    while True:
        version = _current(objects, path)
        place = Path(path.scheme, f"{path.path}/{version_folder(objects, path.path, version)}")
        table, resp = wanted.infer(resp, place) if version.files else (_without_rows(wanted, version, place), resp)
        name = wanted.name or path.path.rpartition("/")[2]
        pointed = replace(table, name=name, path=str(path), place=table.path)
        saved, resp = metastore.save_table(pointed, response=resp)
        entry = CatalogEntry(metastore.catalog(), saved.database_name, saved.name, version.id)
        note_entry(objects, path.path, entry)
        if _current(objects, path).id == version.id:
            return saved, resp


def _without_rows(wanted: Inference, version: CommitRecord, place: Path) -> Table:
    """A version that has no files, as its commit describes it."""
    from mason.pipeline.types.evidence_json import decode_schema  # heavy: most versions have files

    return Table(
        wanted.name,
        wanted.database,
        str(place),
        created_by="mason",
        schema=Schema(version.format, [Column(each.name, each.type) for each in decode_schema(version.schema)]),
        partition_keys=version.partition_keys,
        read_options=wanted.options,
        partitions=[],
    )


def _current(objects: ObjectStore, path: Path) -> CommitRecord:
    found = TableObjects(objects, path.path).current()
    if found is None:
        raise NotFound(f"At {path} there is no table that Mason has made any more.")
    return found


def _objects(storage: StorageClient) -> ObjectStore | None:
    """The object store that a storage is; none for a disk, where folders are exchanged."""
    address = storage.address()
    return None if is_local(address) else open_objects(address)
