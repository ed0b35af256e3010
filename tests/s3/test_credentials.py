"""Whom Mason is for AWS: roles, which an emulated STS hands out, and keys that stay where they belong."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from mason.clients.aws.credentials import PROFILE, Keys
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.s3.connection import S3Connection
from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.credentials import Credentials
from mason.errors import Forbidden
from mason.testing.contract import answer
from tests.s3.proxy import error_body, running_proxy

ROLE = "arn:aws:iam::123456789012:role/data"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://{host}:{port}")
    yield f"http://{host}:{port}"
    server.stop()


def with_role(endpoint: str) -> dict[str, str]:
    keys = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "canary-secret"}
    return {"aws_region": "us-east-1", "endpoint": endpoint, "aws_role_arn": ROLE, **keys}


def test_a_role_is_assumed_with_the_keys_that_were_given(aws: str) -> None:
    client = S3StorageClient(with_role(aws))
    client.objects.make_bucket("data")
    client.objects.write("data/orders/a.csv", b"id\n1\n")

    assert [each.path for each in answer(client.list_files, client.path("data/orders"))] == ["data/orders/a.csv"]
    connection = S3Connection.at(client.address())
    found = connection.keys.session(connection.region).get_credentials()
    assert found is not None
    assert found.method == "assume-role"
    assert found.get_frozen_credentials().access_key != "AKIAIOSFODNN7EXAMPLE"
    assert connection.filesystem().get_file_info("data/orders/a.csv").size == 5


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the machine itself has for keys: a profile of AWS's."""
    file = tmp_path / "their credentials"
    file.write_text("[their own]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = canary-secret\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "their own")
    return file


def test_a_role_is_assumed_with_what_the_machine_itself_has(
    aws: str, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Keys.of({"aws_role_arn": ROLE})
    assert asked(here).startswith("ASIA")

    kept = here.keep("us-east-1")
    # A task has the variables that Spark's own reading of S3 needs, and no others.
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", kept)
    monkeypatch.setenv("AWS_PROFILE", PROFILE)
    monkeypatch.delenv("AWS_ENDPOINT_URL_STS")

    assert Keys.read_kept(kept) == here
    assert asked(Keys.read_kept(kept)).startswith("ASIA")
    assert asked(Keys()).startswith("ASIA"), "so does Spark find them: by the profile"
    assert "canary-secret" not in Path(kept).read_text()


def asked(keys: Keys) -> str:
    found = keys.session("us-east-1").get_credentials()
    assert found is not None
    return str(found.get_frozen_credentials().access_key)


def test_neither_the_address_nor_its_printed_form_tells_a_key_or_a_role(aws: str) -> None:
    connection = S3Connection.of(with_role(aws))

    for shown in (connection.address(), repr(connection), repr(connection.keys)):
        assert "canary-secret" not in shown
        assert "AKIAIOSFODNN7EXAMPLE" not in shown
        assert ROLE not in shown


def test_a_role_that_may_not_be_assumed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: sts:AssumeRole on resource: x"
    with running_proxy("http://127.0.0.1:9") as sts:
        sts.says = lambda method, path: (403, f"<ErrorResponse>{error_body('AccessDenied', told)[39:]}</ErrorResponse>")
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", sts.endpoint)
        client = S3StorageClient(with_role("http://127.0.0.1:9"))

        for ask in (client.filesystem, lambda: answer(client.list_files, client.path("lake/orders"))):
            with pytest.raises(Forbidden, match="not allowed to do sts:AssumeRole"):
                ask()
        assert "sts:AssumeRole" in client.check()[0]


def test_half_a_pair_of_keys_and_a_profile_that_is_not_there_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(words: str) -> None:
        storage, catalog = S3StorageClient({}), GlueMetastoreClient({})
        for ask in (storage.filesystem, catalog.catalog, lambda: answer(catalog.list_databases)):
            with pytest.raises(Forbidden, match=words):
                ask()
        assert storage.check() == catalog.check()
        assert words in storage.check()[0]

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    told("no secret key that belongs to it. Set AWS_SECRET_ACCESS_KEY")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    told('AWS has no profile "nobody" on this machine. Check AWS_PROFILE.')
    monkeypatch.setenv("AWS_DEFAULT_PROFILE", "someone")
    told('AWS has no profile "someone" on this machine. Check AWS_DEFAULT_PROFILE.')


def test_keys_that_nobody_used_for_a_week_are_removed(tmp_path: Path) -> None:
    old = Keys("A", "B").keep("us-east-1")
    os.utime(old, (0, time.time() - 8 * 24 * 3600))

    new = Keys("C", "D").keep("us-east-1")

    assert list(map(str, (tmp_path / "runtime" / "keys").iterdir())) == [new]
    assert Keys.read_kept(new) == Keys("C", "D")
    assert Keys.read_kept(old) == Keys()


def test_keys_in_a_folder_that_others_can_look_into_are_not_used(tmp_path: Path) -> None:
    kept = Keys("A", "B").keep("us-east-1")
    (tmp_path / "runtime" / "keys").chmod(0o755)

    with pytest.raises(Forbidden, match="belongs to you alone"):
        Keys.read_kept(kept)


def test_credentials_are_a_model_that_shows_no_key() -> None:
    configuration = {
        "aws_region": "eu-west-1",
        "access_key": "AKIAHERE",
        "secret_key": "geheim",
        "session_token": "t0ken",
    }

    found = S3Connection.of(configuration).credentials()

    assert found == Credentials("AKIAHERE", "geheim", "t0ken", "eu-west-1")
    assert repr(found) == "Credentials(region='eu-west-1')"
