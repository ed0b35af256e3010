"""Sessions over Spark Connect are closed by whoever holds them, and by nobody else."""

from __future__ import annotations

import gc
from typing import Any, cast

from pyspark.sql.connect.session import SparkSession as ConnectSession

from mason.clients.spark.connection import close_session, open_session
from mason.clients.spark.own_code import is_connect

NOWHERE = "sc://localhost:1"  # a session is opened with its first question


class CountingClient:
    """Stands for the connection, and counts how often it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def held_session(kind: Any) -> tuple[Any, CountingClient]:
    session = open_session(NOWHERE, retries=0) if kind is None else kind(NOWHERE)
    cast(Any, session).client.close()
    client = CountingClient()
    cast(Any, session)._client = client
    return session, client


def test_a_session_that_is_forgotten_is_not_closed_by_the_garbage_collector() -> None:
    """The collector may run in a thread of gRPC's own, which would wait there for itself."""
    session, client = held_session(None)
    assert is_connect(session)

    del session
    gc.collect()

    assert client.closed == 0


def test_a_session_is_closed_by_whoever_holds_it() -> None:
    session, client = held_session(None)

    close_session(session)

    assert client.closed == 1


def test_pyspark_itself_closes_a_session_that_is_forgotten() -> None:
    """What the first test would not notice if it could not fail."""
    session, client = held_session(ConnectSession)

    del session
    gc.collect()

    assert client.closed == 1
