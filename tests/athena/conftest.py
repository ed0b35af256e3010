"""One emulated AWS for all tests here, whose Athena runs SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from mason.clients.athena.metastore import AthenaMetastoreClient
from mason.clients.s3.storage import S3StorageClient
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from mason.testing import Place
from mason.testing.contract import answer
from mason.testing.operators.fixtures import write_parquet
from tests.aws import forget_user
from tests.glue.proxy import AwsProxy, running_aws_proxy
from tests.ministack import Ministack, running_ministack


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ministack]:
    with running_ministack(tmp_path_factory.mktemp("ministack")) as server:
        yield server


@pytest.fixture(scope="session")
def bucket(ministack: Ministack) -> str:
    return ministack.bucket()


@pytest.fixture(autouse=True)
def nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the test, never from whoever runs it."""
    forget_user(tmp_path, monkeypatch)


@pytest.fixture
def settings(ministack: Ministack, bucket: str) -> dict[str, str]:
    """What a configuration of the client `athena` says."""
    return ministack.configuration(output_location=f"s3://{bucket}/results/")


@pytest.fixture
def proxy(ministack: Ministack) -> Iterator[AwsProxy]:
    with running_aws_proxy(ministack.endpoint) as running:
        yield running


@pytest.fixture
def database(ministack: Ministack) -> str:
    name = f"db_{uuid4().hex[:8]}"
    answer(AthenaMetastoreClient(ministack.configuration()).create_database, name)
    return name


@pytest.fixture
def make_athena_table(ministack: Ministack, bucket: str, database: str) -> Callable[[str, pa.Table], str]:
    """Write rows to S3 and save the table in the catalog."""
    storage = S3StorageClient(ministack.configuration())
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    catalog = AthenaMetastoreClient(ministack.configuration())

    def make(name: str, rows: pa.Table) -> str:
        path = write_parquet(place, f"{name}/part.parquet", rows).rpartition("/")[0]
        columns = [Column(each.name, each.type) for each in rows.schema]
        answer(catalog.save_table, Table(name, database, path, schema=Schema("parquet", columns)))
        return path

    return make
