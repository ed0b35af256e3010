"""The suite of the metastore role."""

from __future__ import annotations

from mason.testing.metastore.databases import DatabaseTests
from mason.testing.metastore.names import NameTests
from mason.testing.metastore.partitions import PartitionTests
from mason.testing.metastore.saved_tables import SavedTableTests
from mason.testing.metastore.tables import TableTests
from mason.testing.metastore.verbs import VerbTests


class MetastoreContract(VerbTests, DatabaseTests, TableTests, SavedTableTests, PartitionTests, NameTests):
    """What Mason expects of a metastore client.

        class TestMyMetastore(MetastoreContract):
            @pytest.fixture
            def client(self, tmp_path: Path) -> MetastoreClient:
                return MyMetastoreClient({"file": str(tmp_path / "metastore.json")})

    `client` is the one fixture that a subclass must have: a client of a metastore that is thrown away after the test.
    The others have a default and are there to be overridden: `make_database` and `make_table` (for a client that
    cannot create or save), `make_partitions` (for one that learns of partitions otherwise than from `key=value`
    folders), `data` (for one that cannot speak of local files).

    A verb that the client declares unsupported is not skipped: its tests demand that it is refused with its reason.
    A type, a column or a table name that the technology cannot keep is declared in `refuses`; `joint` is for one whose
    databases have no underscores in their names.
    """
