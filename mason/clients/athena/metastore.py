"""Athena as metastore: its tables are those of the Glue catalog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mason.clients.athena.ddl import create_statement
from mason.clients.engines.role import verb
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.response import Response
from mason.engines.metastore.models.table import Table


class AthenaMetastoreClient(GlueMetastoreClient):
    """The tables that Athena reads.

    They are saved through Glue rather than by a statement of Athena's: it has none that replaces a table in one step,
    and would forget what Hive's types cannot say. The statement that makes the same table is told.
    """

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        # Glue's own key of that name is the role of its crawlers.
        super().__init__({**configuration, "assume_role_arn": configuration.get("aws_role_arn")})

    @verb
    def save_table(self, table: Table, *, response: Response) -> Table:
        saved, _ = super().save_table(table, response=response)
        statement = create_statement(saved)
        if statement:
            response.add_info(f"In Athena's words: {statement}")
        return saved
