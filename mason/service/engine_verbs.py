"""The verbs for what the engines of a configuration know: databases, tables and schedules.

A token allows each of them by the name of the operator that does the same, so that nobody gets more by another door.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mason.service.caller import Caller

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.configurations.valid_config import ValidConfig
    from mason.engines.metastore.models.database import Database
    from mason.engines.metastore.models.table import Table, TableSummary
    from mason.engines.scheduler.models.schedule import Schedule


class EngineVerbs:
    """A part of `Service`."""

    caller: Caller

    def list_databases(self, config_id: str, response: Response) -> Sequence[Database]:
        """Return every database of the configuration's metastores."""
        return self._use("database:list", config_id, response).metastore.client.list_databases(response=response)[0]

    def list_tables(self, database: str, config_id: str, response: Response) -> Sequence[TableSummary]:
        """Return what the tables of a database are called and where they are.

        Raises:
            DatabaseNotFound: there is no such database.
        """
        config = self._use("table:list", config_id, response)
        return config.metastore.client.list_tables(database, response=response)[0]

    def get_table(self, database: str, table: str, config_id: str, response: Response) -> Table:
        """Return a table with its schema.

        Raises:
            DatabaseNotFound, TableNotFound: there is no such database or table.
        """
        from mason.operators.catalog_entries import get_known_table

        return get_known_table(self._use("table:get", config_id, response), database, table, response)

    def list_schedules(self, config_id: str, response: Response) -> Sequence[Schedule]:
        """Return every schedule of the configuration's scheduler."""
        return self._use("schedule:list", config_id, response).scheduler.client.list_schedules(response=response)[0]

    def trigger_schedule(self, name: str, config_id: str, response: Response) -> str:
        """Have a schedule run now, and return what its scheduler calls the run.

        Raises:
            NotFound: there is no such schedule.
            Conflict: it is paused.
        """
        config = self._use("schedule:trigger", config_id, response)
        return config.scheduler.client.trigger_schedule(name, response=response)[0]

    def delete_schedule(self, name: str, config_id: str, response: Response) -> None:
        """Delete a schedule: what it would have run is not run any more.

        Raises:
            NotFound: there is no such schedule.
        """
        self._use("schedule:delete", config_id, response).scheduler.client.delete_schedule(name, response=response)

    def _use(self, operator: str, config_id: str, response: Response) -> ValidConfig:
        """Return a configuration for what an operator does, if the caller may do that with it."""
        self.caller.require_operator(operator)
        config = self._configuration(config_id, response)
        self.caller.require_configuration(config.id)
        return config

    def _configuration(self, config_id: str, response: Response) -> ValidConfig:
        raise NotImplementedError
