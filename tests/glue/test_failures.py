"""What goes wrong between Mason and AWS, each said in one sentence; the proxy answers with AWS's own bodies."""

from __future__ import annotations

import pytest

from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.aws.failures import failure
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.glue.scheduler import GlueSchedulerClient
from mason.errors import ClientFailed, DatabaseNotFound, Forbidden, MasonError, NotFound, TableNotFound
from mason.testing.contract import answer
from tests.aws import KEYS, Moto
from tests.glue.proxy import AwsProxy, error

DENIED = (
    "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: glue:GetTables on resource: "
    "arn:aws:glue:us-east-1:123456789012:catalog because no identity-based policy allows the glue:GetTables action"
)
WRONG_SECRET = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)
LATE = "Signature expired: 20261116T080000Z is now earlier than 20261116T081000Z (20261116T081500Z - 5 min.)"
CASES = {
    "access denied": (error("AccessDeniedException", DENIED), Forbidden, "not allowed to do glue:GetTables"),
    "lake formation": (
        error("AccessDeniedException", "Insufficient Lake Formation permission(s): Required Describe on orders"),
        Forbidden,
        "Insufficient Lake Formation permission(s): Required Describe on orders.",
    ),
    "expired token": (
        error("ExpiredTokenException", "The security token included in the request is expired"),
        Forbidden,
        "the credentials have expired. Get new ones.",
    ),
    "unknown key": (
        error("UnrecognizedClientException", "The security token included in the request is invalid."),
        Forbidden,
        "the access key is not known there",
    ),
    "wrong secret": (error("InvalidSignatureException", WRONG_SECRET), Forbidden, "does not fit the access key"),
    "wrong clock": (error("InvalidSignatureException", LATE), ClientFailed, "the clock of this machine"),
    "wrong region": (
        error("InvalidSignatureException", "Credential should be scoped to a valid region. "),
        ClientFailed,
        "belongs to another region. Set aws_region.",
    ),
    "something else": (
        error("GlueEncryptionException", "The key is disabled.\nAsk its owner."),
        ClientFailed,
        "it failed with GlueEncryptionException: The key is disabled. Ask its owner.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_aws_refuses_is_said_in_one_sentence(through: GlueMetastoreClient, proxy: AwsProxy, case: str) -> None:
    said, kind, words = CASES[case]
    proxy.says = lambda operation, request: said

    with pytest.raises(kind) as caught:
        answer(through.list_tables, "shop")

    assert words in str(caught.value)
    assert str(caught.value).startswith("Glue: ")
    assert "\n" not in str(caught.value)
    assert through.check() == [str(caught.value)]


def test_a_glue_that_is_busy_for_a_moment_is_asked_again(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    busy = iter([error("ThrottlingException", "Rate exceeded")])
    proxy.says = lambda operation, request: next(busy, None)

    assert list(answer(through.list_tables, database)) == []
    assert proxy.operations == ["GetTables", "GetTables"]


def test_a_glue_that_stays_busy_is_said_to_be() -> None:
    told = failure("Glue", "ThrottlingException", "Rate exceeded")

    assert type(told) is ClientFailed
    assert str(told) == "Glue: AWS is too busy for so many requests, also after a while. Try later."


def test_an_endpoint_where_nobody_is_is_named(moto: Moto) -> None:
    client = GlueMetastoreClient(moto.configuration(endpoint="http://127.0.0.1:9"))

    with pytest.raises(ClientFailed, match=r'nothing answers at "http://127.0.0.1:9/". Check aws_region'):
        answer(client.list_databases)


def test_no_credentials_at_all_are_missed_with_a_way_out(moto: Moto) -> None:
    client = GlueMetastoreClient({"aws_region": "us-east-1", "endpoint": moto.endpoint})

    with pytest.raises(Forbidden, match="no credentials for Glue here.*AWS_ACCESS_KEY_ID"):
        answer(client.list_databases)


def test_no_secret_is_in_what_is_said_of_a_client(through: GlueMetastoreClient, proxy: AwsProxy) -> None:
    said: list[str] = [repr(through), repr(vars(through))]
    for each, _, _ in CASES.values():
        proxy.says = lambda operation, request, each=each: each  # type: ignore[misc]
        with pytest.raises(MasonError) as caught:
            answer(through.list_databases)
        said.append(str(caught.value))

    assert not [each for each in said if KEYS["secret_key"] in each]


@pytest.mark.parametrize("role", [GlueMetastoreClient, GlueSchedulerClient, AthenaExecutionClient])
@pytest.mark.parametrize(
    ("date", "words"),
    [
        ("Mon, 01 Jan 2001 00:00:00 GMT", "s ahead of that of AWS"),
        ("Tue, 01 Jan 2199 00:00:00 GMT", "s behind that of AWS"),
    ],
    ids=["ahead", "behind"],
)
def test_the_doctor_compares_the_clocks(moto: Moto, proxy: AwsProxy, role: type, date: str, words: str) -> None:
    place = {"output_location": "s3://results/"} if role is AthenaExecutionClient else {}
    client = role(moto.configuration(endpoint=proxy.endpoint, **place))
    assert client.check() == []

    proxy.date = date

    [trouble] = client.check()
    assert words in trouble


def test_the_doctor_misses_a_permission(through: GlueMetastoreClient, proxy: AwsProxy, database: str) -> None:
    denied = error("AccessDeniedException", DENIED)
    proxy.says = lambda operation, request: denied if operation == "GetTables" else None

    assert through.check() == ["Glue: access denied. The credentials are not allowed to do glue:GetTables."]


def test_what_is_missing_is_said_to_be_for_who_may_not_list_what_is_there(
    moto: Moto, through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    listing = ("GetTables", "GetDatabases", "ListCrawlers")
    proxy.says = lambda operation, request: error("AccessDeniedException", DENIED) if operation in listing else None
    crawlers = GlueSchedulerClient(moto.configuration(endpoint=proxy.endpoint))

    with pytest.raises(TableNotFound, match='Table "orders" not found'):
        answer(through.get_table, database, "orders")
    with pytest.raises(DatabaseNotFound, match='Database "nowhere" not found'):
        answer(through.get_database, "nowhere")
    with pytest.raises(NotFound, match='Schedule "daily" not found in Glue'):
        answer(crawlers.delete_schedule, "daily")
