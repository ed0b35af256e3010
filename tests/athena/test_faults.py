"""What AWS says when it says no: the proxy answers with AWS's own words, which no emulator has."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from mason.clients.athena.execution import AthenaExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobStatus
from mason.errors import BadInput, ClientFailed, Conflict, Forbidden, Interrupted, MasonError, NotFound
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.query import BadQuery
from mason.testing.contract import answer
from tests.glue.proxy import Answer, AwsProxy, error
from tests.ministack import Ministack

ONE = QueryJob(statement="select 1 as one", database="default", tables={}).to_job()
QUERY_ID = "9cd5b1c4-7c1a-4ae7-a8a0-9b2d7a4c6e11"


@pytest.fixture
def through(settings: dict[str, str], proxy: AwsProxy) -> AthenaExecutionClient:
    """The client with the proxy between it and AWS."""
    return AthenaExecutionClient({**settings, "endpoint": proxy.endpoint})


def run(client: AthenaExecutionClient, job: Job = ONE) -> Any:
    return answer(client.run_job, answer(client.plan_job, job))


def says(proxy: AwsProxy, **answers: Answer) -> None:
    """Let the proxy give these answers to these operations."""
    proxy.says = lambda operation, request: answers.get(operation)


def execution(state: str, **status: Any) -> Answer:
    """Return what GetQueryExecution answers."""
    times = {"SubmissionDateTime": 1767225600.0, "CompletionDateTime": 1767225601.5}
    told = {
        "QueryExecutionId": QUERY_ID,
        "Query": "SELECT 1",
        "StatementType": "DML",
        "WorkGroup": "primary",
        "Status": {"State": state, **times, **status},
        "Statistics": {"DataScannedInBytes": 10_485_760, "EngineExecutionTimeInMillis": 1200},
    }
    return 200, {"QueryExecution": told}


DENIED = error(
    "AccessDeniedException",
    "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: athena:StartQueryExecution on resource: "
    "arn:aws:athena:us-east-1:123456789012:workgroup/primary because no identity-based policy allows the "
    "athena:StartQueryExecution action",
)
EXPIRED = error("ExpiredTokenException", "The security token included in the request is expired")
UNKNOWN_KEY = error("UnrecognizedClientException", "The security token included in the request is invalid.")
NO_PLACE = error(
    "InvalidRequestException",
    "No output location provided. An output location is required either through the Workgroup result configuration "
    "setting or as an API input.",
)
NO_GROUP = error("InvalidRequestException", "WorkGroup reports is not found.")
OTHER_REQUEST = error("InvalidRequestException", "Idempotent parameters do not match")
TOO_LONG = error("InvalidRequestException", "Query string is too long")
THROTTLED = error("ThrottlingException", "Rate exceeded")


@pytest.mark.parametrize(
    ("said", "expected", "message"),
    [
        (DENIED, Forbidden, "Athena: access denied. The credentials are not allowed to do athena:StartQueryExecution."),
        (EXPIRED, Forbidden, "Athena: the credentials have expired. Get new ones."),
        (UNKNOWN_KEY, Forbidden, "Athena: the access key is not known there."),
        (NO_PLACE, BadInput, 'Athena has no place for results in the work group "primary". Give output_location'),
        (NO_GROUP, BadInput, 'Athena does not take the work group "primary": WorkGroup reports is not found.'),
        (
            OTHER_REQUEST,
            Conflict,
            "something has changed since: the tables, the work group or the place for results. Run",
        ),
        (TOO_LONG, BadQuery, "Athena does not take the query: Query string is too long"),
    ],
)
def test_a_query_that_athena_does_not_take_says_why(
    through: AthenaExecutionClient, proxy: AwsProxy, said: Answer, expected: type[MasonError], message: str
) -> None:
    says(proxy, StartQueryExecution=said)

    with pytest.raises(expected) as caught:
        run(through)

    assert message in str(caught.value)


def test_throttling_is_waited_out(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    def throttle(operation: str, request: Mapping[str, Any]) -> Answer | None:
        return THROTTLED if proxy.operations.count(operation) == 1 else None

    proxy.says = throttle

    assert run(through).details["Rows"] == [{"one": 1}]
    assert proxy.operations.count("StartQueryExecution") == 2


@pytest.mark.parametrize(
    ("status", "expected", "message"),
    [
        (
            {
                "StateChangeReason": "COLUMN_NOT_FOUND: line 1:8: Column 'x' cannot be resolved or requester is not "
                "authorized to access requested resources",
                "AthenaError": {"ErrorCategory": 2, "ErrorType": 1006, "Retryable": False},
            },
            BadQuery,
            "The query failed: COLUMN_NOT_FOUND: line 1:8: Column 'x' cannot be resolved",
        ),
        (
            {
                "StateChangeReason": "GENERIC_INTERNAL_ERROR: Query exhausted resources at this scale factor",
                "AthenaError": {"ErrorCategory": 1, "ErrorType": 100, "Retryable": True},
            },
            ClientFailed,
            "Athena failed: GENERIC_INTERNAL_ERROR: Query exhausted resources at this scale factor"
            " Athena says that it may work when it is run again.",
        ),
        (
            {"StateChangeReason": "Access denied when writing output to url: s3://results/x.csv ."},
            BadQuery,
            "The query failed: Access denied when writing output to url: s3://results/x.csv .",
        ),
        ({}, BadQuery, "The query failed: Athena does not say."),
    ],
)
def test_a_query_that_fails_gives_athenas_own_reason(
    through: AthenaExecutionClient,
    proxy: AwsProxy,
    status: dict[str, Any],
    expected: type[MasonError],
    message: str,
) -> None:
    says(
        proxy,
        StartQueryExecution=(200, {"QueryExecutionId": QUERY_ID}),
        GetQueryExecution=execution("FAILED", **status),
    )

    with pytest.raises(expected) as caught:
        run(through)

    assert message in str(caught.value)
    assert type(caught.value) is expected
    found = answer(through.get_job, QUERY_ID)
    assert found.status is JobStatus.FAILED
    assert found.details["Error"] in str(caught.value)


def test_a_query_that_somebody_cancelled_is_told_so(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    cancelled = execution("CANCELLED", StateChangeReason="Query was cancelled by user")
    says(proxy, StartQueryExecution=(200, {"QueryExecutionId": QUERY_ID}), GetQueryExecution=cancelled)

    with pytest.raises(Interrupted, match="cancelled by another process"):
        run(through)

    assert answer(through.get_job, QUERY_ID).details["Error"] == "Query was cancelled by user"


def test_the_record_has_what_was_scanned_and_when(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    says(proxy, GetQueryExecution=execution("SUCCEEDED"))

    found = answer(through.get_job, QUERY_ID).to_dict()

    assert found["BytesScanned"] == 10_485_760
    assert found["StartedAt"] == "2026-01-01T00:00:00.000000+00:00"
    assert found["EndedAt"] == "2026-01-01T00:00:01.500000+00:00"
    assert "Error" not in found


def test_a_job_that_athena_does_not_know_is_not_found(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    says(proxy, GetQueryExecution=error("InvalidRequestException", f"QueryExecution {QUERY_ID} was not found"))

    with pytest.raises(NotFound, match=QUERY_ID):
        answer(through.get_job, QUERY_ID)


def test_ctrl_c_stops_the_query(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    says(
        proxy,
        StartQueryExecution=(200, {"QueryExecutionId": QUERY_ID}),
        GetQueryExecution=execution("RUNNING"),
        StopQueryExecution=(200, {}),
    )
    me = threading.get_ident()

    def press() -> None:
        while "GetQueryExecution" not in [name for name, _ in proxy.requests]:
            time.sleep(0.01)
        signal.pthread_kill(me, signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()

    with pytest.raises(KeyboardInterrupt):
        run(through)

    pressing.join()
    assert proxy.requests[-1] == ("StopQueryExecution", {"QueryExecutionId": QUERY_ID})


def test_a_query_that_takes_long_is_asked_for_less_and_less_often(
    through: AthenaExecutionClient, proxy: AwsProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, waits = 0, list[float]()
    plan = answer(through.plan_job, ONE)

    def slow(operation: str, request: Mapping[str, Any]) -> Answer | None:
        nonlocal asked
        if operation == "StartQueryExecution":
            return 200, {"QueryExecutionId": QUERY_ID}
        if operation == "GetQueryExecution":
            asked += 1
            return execution("RUNNING" if asked < 6 else "FAILED")
        return None

    proxy.says = slow
    monkeypatch.setattr("mason.clients.athena.queries.pause", waits.append)
    with pytest.raises(BadQuery):
        answer(through.run_job, plan)

    assert len(waits) == 5
    assert waits[-1] > 2 * waits[0]


def test_many_jobs_are_asked_for_in_pages_of_fifty(through: AthenaExecutionClient, proxy: AwsProxy) -> None:
    ids = [f"{number:08}-0000-0000-0000-000000000000" for number in range(700)]

    def many(operation: str, request: Mapping[str, Any]) -> Answer | None:
        if operation == "ListQueryExecutions":
            start = int(request.get("NextToken", 0))
            return 200, {"QueryExecutionIds": ids[start : start + 50], "NextToken": str(start + 50)}
        if operation == "BatchGetQueryExecution":
            _, one = execution("SUCCEEDED")
            return 200, {
                "QueryExecutions": [
                    {**one["QueryExecution"], "QueryExecutionId": each}
                    for each in reversed(request["QueryExecutionIds"])
                ]
            }
        return None

    proxy.says = many
    response = Response()

    jobs, _ = through.list_jobs(response=response)

    assert [each.id for each in jobs] == ids[:500]
    assert proxy.operations.count("ListQueryExecutions") == 10
    assert proxy.operations.count("BatchGetQueryExecution") == 10
    assert response.info == ("These are the newest 500; there may be older ones.",)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            (200, {"WorkGroup": {"Name": "primary", "State": "DISABLED"}}),
            'The work group "primary" of Athena is disabled.',
        ),
        (NO_GROUP, 'Athena has no work group "primary".'),
        (DENIED, "access denied"),
    ],
)
def test_the_doctor_says_what_is_wrong_with_the_work_group(
    through: AthenaExecutionClient, proxy: AwsProxy, said: Answer, expected: str
) -> None:
    says(proxy, GetWorkGroup=said)

    [line] = through.check()

    assert expected in line


def test_the_doctor_misses_a_place_for_results(ministack: Ministack, proxy: AwsProxy) -> None:
    client = AthenaExecutionClient(ministack.configuration(endpoint=proxy.endpoint))
    says(proxy, GetWorkGroup=(200, {"WorkGroup": {"Name": "primary", "State": "ENABLED", "Configuration": {}}}))

    assert client.check() == ["Athena has no place for results: give output_location, or set one in the work group."]


def test_nobody_at_the_endpoint_is_said(settings: dict[str, str]) -> None:
    client = AthenaExecutionClient({**settings, "endpoint": "http://127.0.0.1:9"})

    with pytest.raises(ClientFailed, match="nothing answers at"):
        answer(client.get_job, QUERY_ID)
