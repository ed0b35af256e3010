"""What the tests of a metastore start from."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs
import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.path import Path
from mason.testing.contract import answer
from mason.testing.place import Place

MakeDatabase = Callable[[str], None]
MakeTable = Callable[[Table], None]
MakePartitions = Callable[[str, Sequence[Mapping[str, str | None]]], None]


class MetastoreFixtures:
    """The fixtures of the suite; a subclass has `client` and overrides what does not suit its technology."""

    refuses: ClassVar[Mapping[str, str]] = {}
    """What the technology cannot keep, each with words of its refusal: `{"uint64": "no unsigned integers"}`.

    A type goes by the name that the test shows, a name by what it names: `"column a.b"`, `"table two words"`. Saving
    such a table must raise Unsupported, with those words, rather than lose something.
    """

    joint: ClassVar[str] = "_"
    """What joins the words of a database's name; a technology that has no underscores in them gives another one."""

    @pytest.fixture
    def client(self) -> MetastoreClient:
        raise NotImplementedError("A suite is given its client by a fixture `client` in the subclass.")

    @pytest.fixture
    def database(self, make_database: MakeDatabase) -> str:
        """A database without tables, of a name that nobody else has."""
        name = f"contract{self.joint}{uuid4().hex[:8]}"
        make_database(name)
        return name

    @pytest.fixture
    def make_database(self, client: MetastoreClient) -> MakeDatabase:
        """How the suite creates a database."""
        return lambda name: answer(client.create_database, name)

    @pytest.fixture
    def make_table(self, client: MetastoreClient) -> MakeTable:
        """How the suite creates a table."""
        return lambda table: answer(client.save_table, table)

    @pytest.fixture
    def data(self, tmp_path: pathlib.Path) -> Place:
        """Where the data of tables lie: local files by default."""
        return Place(pyarrow.fs.LocalFileSystem(), Path("file", str(tmp_path / "contract_data")))

    @pytest.fixture
    def make_partitions(self, data: Place) -> MakePartitions:
        """How the suite adds partitions to the table whose data are below that name in `data`."""

        def make(name: str, partitions: Sequence[Mapping[str, str | None]]) -> None:
            for values in partitions:
                folders = [f"{key}={value or '__HIVE_DEFAULT_PARTITION__'}" for key, value in values.items()]
                data.write("/".join([name, *folders, "part.csv"]), b"id\n1\n")

        return make


def a_table(database: str, name: str, path: str = "", columns: Sequence[Column] = ()) -> Table:
    """Return a table as an operator would save it."""
    schema = Schema("parquet", columns or (Column("id", pa.int64()), Column("price", pa.float64())))
    return Table(name, database, path, schema=schema)
