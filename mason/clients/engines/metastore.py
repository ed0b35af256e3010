"""The metastore role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.metastore.models.database import Database
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table, TableSummary
from mason.errors import NotEmpty, TableNotFound


class MetastoreClient(Role):
    """What Mason knows about databases and tables, whoever keeps them.

    A client writes plain methods under `@verb`: they return a value and raise. A verb that the technology does not
    have is one line: `delete_table = unsupported("reason")`.
    """

    @abstractmethod
    def list_databases(self, *, response: Response) -> tuple[Sequence[Database], Response]:
        """Return every database, sorted by name."""

    @abstractmethod
    def get_database(self, database: str, *, response: Response) -> tuple[Database, Response]:
        """Return the database.

        Raises:
            DatabaseNotFound: there is no such database.
        """

    @abstractmethod
    def create_database(self, database: str, *, response: Response) -> tuple[Database, Response]:
        """Create a database without tables.

        Raises:
            AlreadyExists: there is a database of that name.
        """

    @abstractmethod
    def delete_database(self, database: str, *, response: Response) -> tuple[None, Response]:
        """Delete a database that has no tables.

        Raises:
            DatabaseNotFound: there is no such database.
            NotEmpty: it still has tables.
        """

    @abstractmethod
    def list_tables(self, database: str, *, response: Response) -> tuple[Sequence[TableSummary], Response]:
        """Return what the tables are called and where they are, sorted by name, without reading their data.

        Raises:
            DatabaseNotFound: there is no such database.
        """

    @abstractmethod
    def get_table(self, database: str, table: str, *, response: Response) -> tuple[Table, Response]:
        """Return the table with its schema.

        Raises:
            DatabaseNotFound: there is no such database.
            TableNotFound: the database has no such table.
        """

    @abstractmethod
    def save_table(self, table: Table, *, response: Response) -> tuple[Table, Response]:
        """Create the table, or replace what is known of it; its data are not touched.

        Raises:
            DatabaseNotFound: there is no such database.
        """

    @abstractmethod
    def delete_table(self, database: str, table: str, *, response: Response) -> tuple[None, Response]:
        """Delete the table: afterwards it is neither listed nor found.

        Raises:
            DatabaseNotFound: there is no such database.
            TableNotFound: the database has no such table.
        """

    @abstractmethod
    def list_partitions(self, database: str, table: str, *, response: Response) -> tuple[Sequence[Partition], Response]:
        """Return the table's partitions, sorted by their values; none for a table that is not partitioned.

        Raises:
            DatabaseNotFound: there is no such database.
            TableNotFound: the database has no such table.
        """

    def metastores(self) -> Sequence[MetastoreClient]:
        """Return the metastores behind this one: itself, but for one that stands for several."""
        return (self,)

    def resolve_database(self, database: str) -> tuple[MetastoreClient, str]:
        """Return the metastore that has a database, and the name that the database has there.

        Raises:
            DatabaseNotFound: of several metastores none has it. A single one is not asked.
        """
        return self, database

    def catalog(self) -> str:
        """Return what the catalog is called whose readers go by the location that it has for a table.

        Nothing for one that only Mason reads: it finds the newest version by itself.
        """
        return ""

    def require_empty_database(self, database: str, response: Response) -> None:
        """Check that a database could be deleted.

        Raises:
            DatabaseNotFound: there is no such database.
            NotEmpty: it still has tables.
        """
        tables, _ = self.list_tables(database, response=response)
        if tables:
            names = ", ".join(table.name for table in tables)
            raise NotEmpty(f'Database "{database}" is not empty: {names}.', hint="Delete what is in it first.")

    def has_table(self, database: str, table: str, response: Response) -> bool:
        """Say whether the database has the table.

        Raises:
            DatabaseNotFound: there is no such database.
        """
        try:
            self.get_table(database, table, response=response)
        except TableNotFound:
            return False
        return True
