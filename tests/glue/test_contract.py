"""The glue client keeps the contract of a metastore, on an emulated AWS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.engines.metastore.models.partition import Partition
from mason.testing import MetastoreContract, Place
from mason.testing.contract import answer
from mason.testing.metastore.fixtures import MakePartitions
from tests.aws import Moto


class TestGlueMetastore(MetastoreContract):
    @pytest.fixture
    def client(self, moto: Moto) -> MetastoreClient:
        return GlueMetastoreClient(moto.configuration())

    @pytest.fixture
    def make_partitions(self, client: MetastoreClient, database: str, data: Place) -> MakePartitions:
        """Glue learns of partitions from whoever saves a table."""

        def make(name: str, partitions: Sequence[Mapping[str, str | None]]) -> None:
            found = [
                Partition(
                    values, str(data.below("/".join([name, *(f"{key}={value}" for key, value in values.items())])))
                )
                for values in partitions
            ]
            answer(client.save_table, replace(answer(client.get_table, database, name), partitions=found))

        return make
