"""Saves a table in Glue's catalog, with its partitions as far as they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mason.clients.aws.service import AwsService
from mason.clients.glue.catalog import GlueCatalog, check_name
from mason.clients.glue.partitions import GluePartitions
from mason.clients.glue.tables import covers, glue_from_table, refuse_other_kinds, save_warnings
from mason.clients.response import Response
from mason.engines.metastore.models.table import Table
from mason.errors import AlreadyExists, Conflict


def save(glue: AwsService, table: Table, response: Response) -> Table:
    """Create a table, or describe it anew, and return it by the names that Glue has for it.

    Raises:
        DatabaseNotFound: there is no such database.
        Conflict: somebody else changes it at the same time, or what has its name is no plain table.
        Unsupported: a column has a type that Glue has nothing for.
        ClientFailed: some of its partitions could not be saved.
    """
    database, name = check_name(table.database_name, "database"), check_name(table.name, "table")
    named = replace(table, database_name=database, name=name, created_by=table.created_by or "mason")
    existing = GlueCatalog(glue).find_table(database, name)
    if existing is None:
        _create(glue, named)
    else:
        _update(glue, named, existing, response)
    if named.partitions is not None and (named.partition_keys or (existing or {}).get("PartitionKeys")):
        response.add_info(str(GluePartitions(glue, named).save()))
    if name != table.name:
        response.add_info(f'Glue keeps names in lower case: "{table.name}" is "{name}" there.')
    for warning in save_warnings(named):
        response.add_warning(warning)
    return named


def _create(glue: AwsService, table: Table) -> None:
    try:
        glue.call("create_table", DatabaseName=table.database_name, TableInput=glue_from_table(table))
    except AlreadyExists as error:
        raise _conflict_of_writers(table) from error


def _update(glue: AwsService, table: Table, existing: Mapping[str, Any], response: Response) -> None:
    """Describe a table anew; Glue keeps the former description as a version. What is the same makes none."""
    refuse_other_kinds(existing)
    wanted = glue_from_table(table, existing)
    if covers(existing, wanted):
        return
    # With the version that was looked at, Glue refuses what would undo somebody else's change.
    version = {"VersionId": existing["VersionId"]} if "VersionId" in existing else {}
    try:
        glue.call("update_table", DatabaseName=table.database_name, TableInput=wanted, **version)
    except Conflict as error:
        raise _conflict_of_writers(table) from error
    if version:
        response.add_info(f'Glue keeps the former description of "{table.name}" as version {existing["VersionId"]}.')


def _conflict_of_writers(table: Table) -> Conflict:
    place = f'"{table.name}" in database "{table.database_name}"'
    return Conflict(f"Somebody else changed table {place} at the same time.", hint="Do it again.")
