"""The variables by which AWS's own tools are sent to another server send every part of Mason there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.athena.metastore import AthenaMetastoreClient
from mason.clients.aws.endpoints import Endpoint
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.glue.scheduler import GlueSchedulerClient
from mason.clients.s3.metastore import S3MetastoreClient
from mason.clients.s3.storage import S3StorageClient
from mason.engines.metastore.models.database import Database
from mason.errors import BadInput
from mason.pipeline.storage.address import java_needs, open_filesystem, open_objects
from mason.testing.contract import answer
from tests.aws import KEYS, REGION, ROLE, Moto, running_moto
from tests.cli.support import configured, strict_json
from tests.conftest import PROJECT, Mason
from tests.seaweed import Seaweed

EVERY, ONLY_S3 = "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        yield server


@pytest.fixture
def bare(seaweed: Seaweed) -> dict[str, str]:
    """A configuration of s3 that says who asks, and not where."""
    return {key: value for key, value in seaweed.configuration().items() if key != "endpoint"}


@pytest.mark.parametrize("variable", [EVERY, ONLY_S3])
def test_s3_is_asked_there_by_boto3_by_arrow_and_by_spark(
    seaweed: Seaweed, bare: dict[str, str], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, seaweed.endpoint)
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=b"n\n1\n")

    storage = S3StorageClient(bare)
    monkeypatch.delenv(variable)  # the address of the storage is enough for tasks, which may run elsewhere

    assert [each.path for each in answer(storage.list_files, storage.path(f"{bucket}/in"))] == [f"{bucket}/in/a.csv"]
    assert storage.filesystem().get_file_info(f"{bucket}/in/a.csv").size == 4
    assert open_filesystem(storage.address()).open_input_file(f"{bucket}/in/a.csv").read() == b"n\n1\n"
    assert open_objects(storage.address()).find(f"{bucket}/in/a.csv")
    needs = java_needs(storage.address())
    assert needs.conf["fs.s3a.endpoint"] == seaweed.endpoint
    assert needs.conf["fs.s3a.path.style.access"] == "true"
    assert needs.conf["fs.s3a.connection.ssl.enabled"] == "false"
    assert S3MetastoreClient(bare).describe_place() == ""
    assert storage.describe_place() == f"{seaweed.endpoint} ({variable})"


def test_every_client_of_aws_is_asked_there(moto: Moto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EVERY, moto.endpoint)
    mine = {"aws_region": REGION, **KEYS}
    answer(GlueMetastoreClient(mine).create_database, "elsewhere")
    moto.client("athena").create_work_group(Name="elsewhere", Configuration={})

    assert Database("elsewhere") in [Database(each.name) for each in answer(AthenaMetastoreClient(mine).list_databases)]
    assert "disabled" not in str(AthenaExecutionClient({**mine, "work_group": "elsewhere"}).check())
    for client in (
        S3StorageClient(mine),
        S3MetastoreClient(mine),
        GlueMetastoreClient(mine),
        GlueSchedulerClient({**mine, "aws_role_arn": ROLE}),
        AthenaMetastoreClient(mine),
        AthenaExecutionClient(mine),
    ):
        assert client.describe_place() == f"{moto.endpoint} ({EVERY})"
    targets = {"S3Targets": [{"Path": "s3://elsewhere"}]}
    there = {"Name": "crawler_elsewhere", "DatabaseName": "elsewhere", "Targets": targets}
    moto.client("glue").create_crawler(**there, Role=ROLE, Schedule="cron(0 6 * * ? *)")
    assert "crawler_elsewhere" in [each.name for each in answer(GlueSchedulerClient(mine).list_schedules)]


def test_the_nearer_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "[default]\nendpoint_url = http://profile\nservices = here\n"
        "[services here]\ns3 =\n  endpoint_url = http://profile-s3\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))

    assert Endpoint.of("s3", {}) == Endpoint("http://profile-s3", f"endpoint_url in {file}")
    assert Endpoint.of("glue", {}) == Endpoint("http://profile", f"endpoint_url in {file}")
    monkeypatch.setenv(EVERY, "every.example.com")
    assert Endpoint.of("s3", {}) == Endpoint("https://every.example.com", EVERY)
    monkeypatch.setenv(ONLY_S3, "http://s3.example.com:8333")
    assert Endpoint.of("s3", {}) == Endpoint("http://s3.example.com:8333", ONLY_S3)
    assert Endpoint.of("glue", {}) == Endpoint("https://every.example.com", EVERY)
    assert Endpoint.of("s3", {"endpoint": "http://mine"}) == Endpoint("http://mine", "endpoint")
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    assert Endpoint.of("s3", {}) == Endpoint()
    assert Endpoint.of("s3", {"endpoint": "http://mine"}) == Endpoint("http://mine", "endpoint")


def test_a_variable_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ONLY_S3, "http://not an address")

    with pytest.raises(BadInput, match='AWS_ENDPOINT_URL_S3 is "http://not an address", which is not the address'):
        S3StorageClient({})


def configuration(bare: dict[str, str], engine: str) -> str:
    roles = {"metastore_engine": "s3", "storage_engine": "s3", "execution_engine": engine}
    spark = {"runner": {"type": "local", "warm": "never"}}
    clients = {"s3": {"configuration": bare}, "spark": {"configuration": spark}}
    return yaml.safe_dump({"id": "elsewhere", **roles, "clients": clients})


def test_doctor_shows_it_and_jobs_read_and_write_there(mason: Mason, seaweed: Seaweed, bare: dict[str, str]) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=b"n\n1\n2\n")
    configured(mason.register_examples(), configuration(bare, "local"))
    (mason.home / ".env").write_text(f"{ONLY_S3}={seaweed.endpoint}\n")

    found = mason("doctor")
    merged = mason("operator", "table", "merge", "-p", f"input_path:{bucket}/in,output_path:{bucket}/out")
    shown = mason("operator", "table", "preview", "-p", f"path:{bucket}/out")

    assert f"s3 as storage: ready, at {seaweed.endpoint} ({ONLY_S3})" in found.stdout
    assert f"s3 as metastore: ready, at {seaweed.endpoint} ({ONLY_S3})" in found.stdout
    assert merged.exit_code == 0, merged.stderr
    assert [each["n"] for each in strict_json(shown)["Data"][0]["Rows"]] == [1, 2]
    lost = mason("doctor", variables={ONLY_S3: "http://127.0.0.1:9"})
    assert lost.exit_code == 1
    assert f"It is asked at http://127.0.0.1:9 ({ONLY_S3})." in lost.stdout


@pytest.mark.timeout(600)
def test_spark_asks_there(mason: Mason, seaweed: Seaweed, bare: dict[str, str]) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="orders/a.csv", Body=b"n\n1\n2\n")
    mason.variables |= {EVERY: seaweed.endpoint, "XDG_CACHE_HOME": str(PROJECT / ".cache")}
    configured(mason.register_examples(), configuration(bare, "spark"))

    query = f"database_name:{bucket},query_string:select sum(n) as n from orders"
    answered = mason("operator", "table", "query", "-p", query)

    assert answered.exit_code == 0, answered.stderr
    assert strict_json(answered)["Data"][0]["Rows"] == [{"n": 3}]
