"""What the tests of a storage start from."""

from __future__ import annotations

import pytest

from mason.clients.engines.storage import StorageClient
from mason.testing.place import Place


class StorageFixtures:
    """The fixtures of the suite; a subclass has `client` and `base_path`."""

    @pytest.fixture
    def client(self) -> StorageClient:
        raise NotImplementedError("A suite is given its client by a fixture `client` in the subclass.")

    @pytest.fixture
    def base_path(self) -> str:
        raise NotImplementedError("A suite is told where to write by a fixture `base_path` in the subclass.")

    @pytest.fixture
    def place(self, client: StorageClient, base_path: str) -> Place:
        """The place that `base_path` names."""
        return Place(client.filesystem(), client.path(base_path))
