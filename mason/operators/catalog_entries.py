"""Tables in a metastore; where others read by it, its entries are switched with every commit to an object store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.engines.storage.models.path import Path
from mason.errors import BadPath, MasonError, MissingDependency, NotFound, RoleNotFilled, UnreadableFile
from mason.pipeline.storage.address import abilities_of, open_objects
from mason.pipeline.storage.object_store import ObjectStore
from mason.pipeline.tables.catalog_entries import CatalogEntry, forget_entry, note_entry, read_entries, version_folder
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.files import newest_commit
from mason.pipeline.tables.objects import TableObjects


@dataclass(frozen=True)
class Inference:
    """A place, how its files are to be read, and what the table that they make up is to be called."""

    location: Location
    database: str
    name: str
    options: InferOptions

    def infer(self, config: ValidConfig, resp: Response, location: Location | None = None) -> tuple[Table, Response]:
        """Return the table by what is at its place, or at another one."""
        place = location or self.location
        path = Path(place.scheme, place.path)
        return config.storage_at(place).infer_table(path, self.database, self.name, self.options, response=resp)


def infer_and_save(config: ValidConfig, wanted: Inference, resp: Response) -> tuple[Table, Response]:
    """Infer the schema of what is at a place and save it in the metastore.

    Of a table that Mason has made, a catalog is told the folder of its newest version, and told again with each commit.
    """
    metastore, database = config.metastore.client.resolve_database(wanted.database)
    # What is noted of it beside the table says what the catalog calls it.
    saved, resp = _infer_and_save(config, metastore, replace(wanted, database=database), resp)
    return replace(saved, database_name=wanted.database), resp


def _infer_and_save(
    config: ValidConfig, metastore: MetastoreClient, wanted: Inference, resp: Response
) -> tuple[Table, Response]:
    objects = _objects(wanted.location)
    if objects:
        TableObjects(objects, wanted.location.path).settle()
    if objects and metastore.catalog() and TableObjects(objects, wanted.location.path).current():
        return _save_newest(config, metastore, objects, wanted, resp)
    table, resp = wanted.infer(config, resp)
    saved, resp = metastore.save_table(table, response=resp)
    return replace(saved, readings=table.readings), resp


def follow_job(config: ValidConfig, job: Job, resp: Response) -> Response:
    """Have the catalogs show what a job has committed, where it has committed a table."""
    return follow_commit(config, job.output, resp) if job.output else resp


def get_known_table(config: ValidConfig, database: str, table: str, resp: Response) -> Table:
    """Return a table that the metastore knows, as its newest commit left it.

    Raises:
        DatabaseNotFound, TableNotFound: there is no such database or table.
    """
    metastore = config.metastore.client
    found, resp = metastore.get_table(database, table, response=resp)
    resp = settle_known(config, found, resp)
    if found.place:  # where others look by a catalog, it may have lagged behind the table
        found, _ = metastore.get_table(database, table, response=resp)
    return found


def settle_known(config: ValidConfig, table: Table, resp: Response) -> Response:
    """Finish the commit of a table that the metastore knows, as `settle_table` does; on a disk it needs no finishing.

    A catalog tells whether the table is one that Mason writes; where there is none, only the storage does.
    """
    if not table.path or (_catalog_of(config, table) and not table.place):
        return resp
    try:
        location = config.location_of_table(table.path)
    except (BadPath, MissingDependency, RoleNotFilled):
        return resp  # its files are out of reach of the configuration, and what was asked for may not need them
    if _objects(location) is None:
        return _warn_of_damage(location, resp)
    return settle_table(config, location, resp)


def _warn_of_damage(location: Location, resp: Response) -> Response:
    """Say that the rows of a table cannot be read: what the metastore knows of it can be told all the same."""
    try:
        newest_commit(location)
    except MasonError as error:
        resp.add_warning(f"The rows of the table cannot be read: {error}")
    return resp


def settle_read(config: ValidConfig, job: Job, resp: Response) -> Response:
    """Finish the commits of the tables that a job reads, where the commands that made them have died."""
    for each in job.places_read:
        resp = settle_table(config, each, resp)
    return resp


def settle_table(config: ValidConfig, location: Location, resp: Response) -> Response:
    """Finish the commit of a table whose command has died: what others see of it, and what the catalogs show.

    Whoever reads the table by Mason sees it anyway, so that a failure to do so is a warning.
    """
    objects = _objects(location)
    if objects is None:
        return resp
    table = TableObjects(objects, location.path)
    try:
        entries = _entries_in_reach(config, read_entries(objects, location.path)) if table.settle() else []
        newest = table.current() if entries else None
    except MasonError as error:  # what a catalog knows of the table can be told without its files
        resp.add_warning(f"Whether the last commit to {location} was finished cannot be looked up: {error}")
        return resp
    behind = [each for each in entries if newest and each.commit != newest.id]
    return _follow_all(config, objects, location, behind, resp)


def follow_commit(config: ValidConfig, location: Location, resp: Response) -> Response:
    """Have the catalogs show the newest version of a table.

    The commit stands, whatever becomes of this: readers of an entry that could not be switched see the former version.
    """
    objects = _objects(location)
    if objects is None:
        return resp
    for each in [location, *_children(objects, location)]:
        try:
            entries = read_entries(objects, each.path)
        except UnreadableFile as error:
            resp.add_warning(f"Catalogs may still show the former version of {each}: {error}")
            continue
        resp = _follow_all(config, objects, each, entries, resp)
    return resp


def _children(objects: ObjectStore, location: Location) -> Sequence[Location]:
    """The tables that came with a table: those of the lists that were exploded."""
    newest = TableObjects(objects, location.path).current()
    return [location.child(folder) for folder in newest.child_folders] if newest else []


def _follow_all(
    config: ValidConfig, objects: ObjectStore, location: Location, entries: Sequence[CatalogEntry], resp: Response
) -> Response:
    for entry in entries:
        subject = f'Table "{entry.table}" in database "{entry.database}" of {entry.catalog}'
        try:
            if _follow(config, objects, location, entry):
                resp.add_info(f"{subject} shows it.")
        except MasonError as error:
            resp.add_warning(f"{subject} still shows the former version: {error}")
    return resp


def _follow(config: ValidConfig, objects: ObjectStore, location: Location, entry: CatalogEntry) -> bool:
    """Switch an entry; False for one that does not show the table any more, and is forgotten."""
    if not _entries_in_reach(config, [entry]):
        raise NotFound(
            f'The configuration "{config.id}" does not reach it.', hint='Run "table refresh" with one that does.'
        )
    metastore = next(each for each in config.metastore.client.metastores() if each.catalog() == entry.catalog)
    try:
        known, _ = metastore.get_table(entry.database, entry.table, response=Response())
    except NotFound:
        known = None
    if known is None or known.path.rstrip("/") != str(location):
        forget_entry(objects, location.path, entry)
        return False
    wanted = Inference(location, entry.database, entry.table, known.read_options)
    _save_newest(config, metastore, objects, wanted, Response())
    return True


def _entries_in_reach(config: ValidConfig, entries: Sequence[CatalogEntry]) -> Sequence[CatalogEntry]:
    """Those of the catalogs that the configuration has."""
    metastores = config.metastore.client.metastores() if config.metastore.client_names else ()
    catalogs = {each.catalog() for each in metastores}
    return [each for each in entries if each.catalog in catalogs]


def _catalog_of(config: ValidConfig, table: Table) -> str:
    return config.metastore.client.resolve_database(table.database_name)[0].catalog()


def _save_newest(
    config: ValidConfig, metastore: MetastoreClient, objects: ObjectStore, wanted: Inference, resp: Response
) -> tuple[Table, Response]:
    """Point an entry to the newest version; if another is committed meanwhile it is that one."""
    table = wanted.location
    while True:
        version = _current(objects, table)
        place = table.beside(version_folder(objects, table.path, version))
        found, resp = (
            wanted.infer(config, resp, place) if version.files else (_without_rows(wanted, version, place), resp)
        )
        name = wanted.name or table.path.rpartition("/")[2]
        pointed = replace(found, name=name, path=str(table), place=found.path)
        saved, resp = metastore.save_table(pointed, response=resp)
        entry = CatalogEntry(metastore.catalog(), saved.database_name, saved.name, version.id)
        note_entry(objects, table.path, entry)
        if _current(objects, table).id == version.id:
            return saved, resp


def _without_rows(wanted: Inference, version: CommitRecord, place: Location) -> Table:
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


def _current(objects: ObjectStore, location: Location) -> CommitRecord:
    found = TableObjects(objects, location.path).current()
    if found is None:
        raise NotFound(f"At {location} there is no table that Mason has made any more.")
    return found


def _objects(location: Location) -> ObjectStore | None:
    """The object store that a place is in; none for a disk, where folders are exchanged."""
    return None if abilities_of(location.storage).exchanges_folders else open_objects(location.storage)
