"""S3 as storage: what a user writes, what goes over the wire, and what goes wrong."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from uuid import uuid4

import pytest

from mason.clients.response import Response
from mason.clients.s3.metastore import S3MetastoreClient
from mason.clients.s3.storage import S3StorageClient
from mason.engines.metastore.models.table import Table
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, ClientFailed, Forbidden, MasonError, PathNotFound
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import is_file
from mason.testing import Place
from mason.testing.contract import answer
from tests.s3.proxy import Proxy, error_body
from tests.seaweed import Seaweed, User


@pytest.fixture
def client(seaweed: Seaweed) -> S3StorageClient:
    return S3StorageClient(seaweed.configuration())


@pytest.fixture
def place(client: S3StorageClient, bucket: str) -> Place:
    return Place(client.filesystem(), client.path(f"{bucket}/{uuid4().hex}"))


def failing(client: S3StorageClient, path: str) -> list[MasonError]:
    """Return what each verb says of a path, having checked that all say the same."""
    errors = []
    place = client.path(path)
    for verb, arguments in (("list_files", ()), ("infer_table", ("db", "t", InferOptions())), ("delete", ())):
        with pytest.raises(MasonError) as caught:
            getattr(client, verb)(place, *arguments, response=Response())
        errors.append(caught.value)
    assert {type(each) for each in errors} == {type(errors[0])}
    return errors


@pytest.mark.parametrize(
    "text", ["s3://b/k/x", "s3a://b/k/x/", "s3n://b/k/x", "S3://b/k/x", "b/k/x", "/b/k/x", "b/k/x/"]
)
def test_a_path_is_the_same_in_every_spelling_of_the_seeds(client: S3StorageClient, text: str) -> None:
    assert str(client.path(text)) == "s3://b/k/x"


@pytest.mark.parametrize("text", ["s3://b/../c", "b//k", "b/./k", "b/k/..", "gs://b/k", "file:///b", "s3://", "/"])
def test_a_path_that_tools_read_differently_is_refused(client: S3StorageClient, text: str) -> None:
    with pytest.raises(BadPath):
        client.path(text)


def test_a_wrong_secret_key_is_said_to_be_wrong(seaweed: Seaweed, bucket: str) -> None:
    client = S3StorageClient(seaweed.configuration(User(seaweed.owner.access_key, "w" * 32)))

    for error in failing(client, f"{bucket}/orders"):
        assert isinstance(error, Forbidden)
        assert "w" * 32 not in str(error)
    assert "the secret key does not fit the access key" in str(failing(client, f"{bucket}/orders")[0])
    assert client.check() == ["S3: the secret key does not fit the access key. Check both."]


def test_an_unknown_access_key_is_said_to_be_unknown(seaweed: Seaweed, bucket: str) -> None:
    client = S3StorageClient(seaweed.configuration(User("NOBODY", "w" * 32)))

    assert "the access key is not known there" in str(failing(client, f"{bucket}/orders")[0])
    assert "not known" in client.check()[0]


def test_no_credentials_at_all_are_missed_with_a_way_out(seaweed: Seaweed, bucket: str) -> None:
    client = S3StorageClient({"endpoint": seaweed.endpoint, "aws_region": "us-east-1"})

    for error in failing(client, f"{bucket}/orders"):
        assert isinstance(error, Forbidden)
        assert "AWS_ACCESS_KEY_ID" in str(error)


def test_a_missing_bucket_is_named(client: S3StorageClient) -> None:
    for error in failing(client, "no-such-bucket/orders"):
        assert isinstance(error, PathNotFound)
    assert 'There is no bucket "no-such-bucket".' in str(failing(client, "no-such-bucket/orders")[0])


def test_what_a_reader_may_not_delete_is_denied_and_stays(seaweed: Seaweed, place: Place) -> None:
    path = place.write("orders/a.csv", b"id\n1\n")
    client = S3StorageClient(seaweed.configuration(seaweed.reader))

    assert [each.path for each in answer(client.list_files, path)] == [path.path]
    for path_or_folder in (path, place.below("orders")):
        with pytest.raises(Forbidden, match="access denied"):
            answer(client.delete, path_or_folder)
    assert list(place.contents()) == ["orders/a.csv"]


def test_a_server_that_is_not_there_is_named(seaweed: Seaweed) -> None:
    client = S3StorageClient(seaweed.configuration(endpoint="http://127.0.0.1:9"))

    with pytest.raises(ClientFailed, match=r'nothing answers at "http://127.0.0.1:9/.*Check aws_region, the endpoint'):
        answer(client.list_files, client.path("bucket/orders"))


def test_an_output_on_a_server_that_is_not_there_is_named(seaweed: Seaweed) -> None:
    """A plan looks there by Arrow, which has words of its own for it."""
    client = S3StorageClient(seaweed.configuration(endpoint="http://127.0.0.1:9"))

    with pytest.raises(ClientFailed, match=r"^s3://bucket/out: the store cannot be reached: .*Check aws_") as told:
        is_file(Location("bucket/out", client.address()))
    assert "AWS Error" not in str(told.value)


@pytest.mark.parametrize("path", ["s3:/bucket/orders", "a bucket/orders"])
def test_what_cannot_be_a_bucket_is_refused_in_one_line(client: S3StorageClient, path: str) -> None:
    with pytest.raises(BadPath, match="^.* cannot be the name of a bucket. Write s3://bucket/key, or bucket/key.$"):
        answer(client.list_files, client.path(path))


@pytest.mark.parametrize("length", [300, 2000])
def test_a_key_that_is_too_long_for_the_store_is_refused(seaweed: Seaweed, bucket: str, length: int) -> None:
    """SeaweedFS takes 255 bytes for each part of a key, AWS 1,024 for all of them."""
    metastore = S3MetastoreClient(seaweed.configuration())
    table = Table("x" * length, bucket, f"s3://{bucket}/orders")

    with pytest.raises(BadPath, match="its key, or a part of it, is longer than this store takes"):
        answer(metastore.save_table, table)


WRONG_REGION = error_body(
    "AuthorizationHeaderMalformed",
    "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1'",
    Region="eu-west-1",
)
EXPIRED = error_body("ExpiredToken", "The provided token has expired.")
SKEWED = error_body("RequestTimeTooSkewed", "The difference between the request time and now is too large.")
BUSY = error_body("SlowDown", "Please reduce your request rate.")


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, WRONG_REGION, ClientFailed, "another region, eu-west-1. Set aws_region."),
        (400, EXPIRED, Forbidden, "the credentials have expired"),
        (403, SKEWED, ClientFailed, "the clock of this machine"),
    ],
    ids=["wrong region", "expired token", "clock skew"],
)
def test_what_aws_refuses_is_said_in_one_sentence(
    seaweed: Seaweed, proxy: Proxy, bucket: str, status: int, body: str, kind: type[MasonError], words: str
) -> None:
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))
    proxy.says = lambda method, path: (status, body)

    with pytest.raises(kind, match=words):
        answer(client.list_files, client.path(f"{bucket}/orders"))


def test_a_store_that_is_busy_for_a_moment_is_asked_again(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    written = place.write("orders/a.csv", b"id\n1\n")
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))
    busy = iter([(503, BUSY), (500, error_body("InternalError", "We encountered an internal error."))])
    proxy.says = lambda method, path: next(busy, None)

    assert [each.path for each in answer(client.list_files, place.below("orders"))] == [written.path]


def test_one_object_that_is_denied_is_named_among_those_that_are_not(
    seaweed: Seaweed, proxy: Proxy, place: Place
) -> None:
    for name in ("a", "b", "c"):
        place.write(f"orders/{name}.csv", b"id\n1\n")
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))
    denied = error_body("AccessDenied", "Access Denied")
    proxy.says = lambda method, path: (403, denied) if path.endswith("/b.csv") else None

    response = Response()
    table, _ = client.infer_table(place.below("orders"), "db", "t", InferOptions(), response=response)

    assert [each.name for each in table.schema.columns] == ["id"]
    assert [each for each in response.warnings if "b.csv" in each]


@pytest.mark.parametrize("length", [100, 1000])
def test_a_long_key_is_a_key_like_any_other(client: S3StorageClient, place: Place, length: int) -> None:
    room = length - len(place.path.path.partition("/")[2]) - 1
    name = "/".join(["x" * 99] * (room // 100 + 1))[: room - 4].rstrip("/") + ".csv"
    written = place.write(name, b"id\n1\n")

    assert [each.path for each in answer(client.list_files, place.path)] == [written.path]
    answer(client.delete, written)
    assert place.contents() == {}


def test_a_listing_of_more_than_one_page_is_whole_and_deleted_in_batches(
    seaweed: Seaweed, proxy: Proxy, client: S3StorageClient, bucket: str
) -> None:
    folder, plain = uuid4().hex, seaweed.client()
    for number in range(2100):
        plain.put_object(Bucket=bucket, Key=f"{folder}/part-{number:05}.csv", Body=b"id\n1\n")
    through = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))
    path = through.path(f"{bucket}/{folder}")

    response = Response()
    through.infer_table(path, "db", "t", InferOptions(), response=response)

    assert response.info == ("Looked at 3 rows of 3 of 2,100 files; read_all: true reads everything.",)
    assert len(proxy.requests) <= 3 + 10, proxy.requests
    assert len(answer(through.list_files, path)) == 2100
    proxy.requests.clear()
    answer(through.delete, path)
    # Three batches of objects, and the folder without objects that SeaweedFS would go on listing.
    assert len([each for each in proxy.requests if each.startswith("POST")]) == 3 + 1
    with pytest.raises(PathNotFound):
        answer(client.list_files, path)


def test_infer_reads_few_bytes_of_a_large_object(seaweed: Seaweed, proxy: Proxy, place: Place) -> None:
    place.write("orders.csv", b"id,price\n" + b"1,2.5\n" * 2_000_000)
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))

    answer(client.infer_table, place.below("orders.csv"), "db", "t", InferOptions())

    assert len(proxy.requests) <= 5, proxy.requests


def test_the_address_of_a_storage_opens_it_and_has_no_secret_in_it(
    seaweed: Seaweed, client: S3StorageClient, place: Place, tmp_path: Path
) -> None:
    written = place.write("orders.csv", b"id\n1\n")

    address = client.address()

    assert open_filesystem(address).get_file_info(written.path).size == 5
    for secret in (seaweed.owner.access_key, seaweed.owner.secret_key):
        assert secret not in address
    [file] = (tmp_path / "runtime" / "keys").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_task_on_another_machine_follows_the_chain_there(
    seaweed: Seaweed, client: S3StorageClient, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = place.write("orders.csv", b"id\n1\n")
    address = client.address()
    (tmp_path / "runtime").rename(tmp_path / "not on that machine")

    with pytest.raises(Forbidden, match="no credentials"):
        open_filesystem(address)

    for name, value in seaweed.environment(seaweed.reader).items():
        monkeypatch.setenv(name, value)
    assert open_filesystem(address).get_file_info(written.path).size == 5


@pytest.mark.parametrize("how", ["environment", "dotenv", "profile"])
def test_credentials_are_found_by_the_usual_chain(
    seaweed: Seaweed, place: Place, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = place.write("orders.csv", b"id\n1\n")
    variables = seaweed.environment()
    if how == "environment":
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
    elif how == "dotenv":
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    else:
        lines = "".join(f"{name.lower()} = {value}\n" for name, value in variables.items())
        Path(os.environ["AWS_SHARED_CREDENTIALS_FILE"]).write_text(f"[team]\n{lines}")
        monkeypatch.setenv("AWS_PROFILE", "team")
    client = S3StorageClient({"endpoint": seaweed.endpoint, "aws_region": "us-east-1"})

    assert [each.path for each in answer(client.list_files, written)] == [written.path]
    assert open_filesystem(client.address()).get_file_info(written.path).size == 5


def test_the_doctor_compares_the_clocks(seaweed: Seaweed, proxy: Proxy) -> None:
    client = S3StorageClient(seaweed.configuration(endpoint=proxy.endpoint))
    assert client.check() == []

    proxy.date = "Mon, 01 Jan 2001 00:00:00 GMT"

    [trouble] = client.check()
    assert "s ahead of that of AWS" in trouble


def test_the_doctor_tries_whether_a_place_can_be_written_to(
    seaweed: Seaweed, client: S3StorageClient, place: Place, bucket: str
) -> None:
    reader = S3StorageClient(seaweed.configuration(seaweed.reader))
    assert reader.check() == []  # who may read is known there

    assert client.check_place(place.path) == []
    [trouble] = reader.check_place(place.path)
    assert trouble.startswith("it cannot be written to: ") and "access denied" in trouble
    [trouble] = client.check_place(client.path("no-such-bucket/t"))
    assert trouble.startswith("it cannot be listed: ") and 'There is no bucket "no-such-bucket"' in trouble
    assert not [key for key in seaweed.keys(bucket) if "probes" in key]


def test_a_whole_bucket_is_not_deleted(client: S3StorageClient, bucket: str) -> None:
    with pytest.raises(BadPath, match="whole bucket"):
        answer(client.delete, client.path(bucket))
