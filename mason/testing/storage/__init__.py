"""The suite of the storage role."""

from __future__ import annotations

from mason.testing.storage.addresses import AddressTests
from mason.testing.storage.deletion import DeletionTests
from mason.testing.storage.inference import InferenceTests
from mason.testing.storage.listing import ListingTests, PathTests
from mason.testing.storage.odd_names import OddNameTests
from mason.testing.storage.verbs import VerbTests


class StorageContract(VerbTests, PathTests, ListingTests, InferenceTests, DeletionTests, OddNameTests, AddressTests):
    """What Mason expects of a storage client.

        class TestMyStorage(StorageContract):
            @pytest.fixture
            def client(self) -> StorageClient:
                return MyStorageClient({"endpoint": "http://localhost:9000"})

            @pytest.fixture
            def base_path(self) -> str:
                return f"my://a-bucket/{uuid4()}"

    A subclass must have both fixtures: a client, and a path as a user would write it, below which there is nothing
    yet and the suite may write through `client.filesystem()`. What it writes is not cleaned up.

    A verb that the client declares unsupported is not skipped: its tests demand that it is refused with its reason.
    """
