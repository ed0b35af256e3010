"""The s3 client keeps the contracts of the roles that it fills, on a real server."""

from __future__ import annotations

from uuid import uuid4

import pytest

from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.storage import StorageClient
from mason.clients.s3.metastore import S3MetastoreClient
from mason.clients.s3.storage import S3StorageClient
from mason.testing import MetastoreContract, Place, StorageContract
from tests.seaweed import Seaweed


class TestS3Storage(StorageContract):
    @pytest.fixture
    def client(self, seaweed: Seaweed) -> StorageClient:
        return S3StorageClient(seaweed.configuration())

    @pytest.fixture
    def base_path(self, bucket: str) -> str:
        return f"s3://{bucket}/{uuid4().hex}"


class TestS3StorageWithoutAScheme(TestS3Storage):
    """The same with paths as the configuration's storage lets users write them."""

    @pytest.fixture
    def base_path(self, bucket: str) -> str:
        return f"{bucket}/{uuid4().hex}"


class TestS3Metastore(MetastoreContract):
    """Its databases are buckets."""

    joint = "-"

    @pytest.fixture
    def client(self, seaweed: Seaweed) -> MetastoreClient:
        return S3MetastoreClient(seaweed.configuration())

    @pytest.fixture
    def data(self, seaweed: Seaweed, bucket: str) -> Place:
        storage = S3StorageClient(seaweed.configuration())
        return Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
