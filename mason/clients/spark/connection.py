"""Sessions over Spark Connect."""

from __future__ import annotations

import atexit
import os
import re
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import grpc  # type: ignore[import-untyped]
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql.connect import proto
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.proto import base_pb2_grpc
from pyspark.sql.connect.session import SparkSession as ConnectSession

from mason.clients.spark.quiet import keep_quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PING_SECONDS = 15.0
_DETAILS = re.compile(r'details = "(.+)"')

# Closed by `stop()` or by idleness, or unknown to a server that was started anew.
_CLOSED = ("SESSION_CLOSED", "SESSION_NOT_FOUND", "SESSION_CHANGED")


class SessionClosed(Exception):
    """Raised when the server has closed the session for good."""


class NoAnswer(Exception):
    """Raised when the server does not answer, or does not know the token."""


class LoopbackBuilder(DefaultChannelBuilder):
    """Reaches a server of this user's on loopback.

    A token is only sent without TLS to a host that is literally `localhost`; yet that name may stand for `::1` too,
    where another user could be listening. So the name is kept and the address is said.
    """

    def __init__(self, port: int, token: str, session_id: str) -> None:
        super().__init__(f"sc://localhost:{port}")
        self._address = f"127.0.0.1:{port}"
        self.set("token", token)
        self.set("session_id", session_id)
        # A part of the session's name, and else taken from USER, which cron and a shell set differently.
        self.set("user_id", str(os.getuid()))

    @property
    def endpoint(self) -> str:
        return self._address


def ping(builder: LoopbackBuilder) -> None:
    """Ask the server something that only it answers, and only to who has its token; opens the session, too.

    Raises:
        SessionClosed: the server has closed this session.
        NoAnswer: the server does not answer, or refuses.
    """
    request = proto.ConfigRequest(session_id=builder.session_id or "", client_type=builder.userAgent)
    request.user_context.user_id = builder.userId or ""
    request.operation.get_option.keys.append("spark.app.name")
    with builder.toChannel() as channel:
        try:
            stub = base_pb2_grpc.SparkConnectServiceStub(channel)  # type: ignore[no-untyped-call]
            stub.Config(request, timeout=_PING_SECONDS)
        except grpc.RpcError as error:
            if any(word in str(error) for word in _CLOSED):
                raise SessionClosed from error
            raise NoAnswer(cast("grpc.Call", error).code().name) from error


class _HeldSession(ConnectSession):
    """A session that is closed when it is told to be.

    pyspark closes one that is forgotten, in whichever thread that is found out: in one of gRPC's own that thread waits
    for itself, and every call to Spark of this process with it.
    """

    def __del__(self) -> None:
        """Leave the connection to whoever holds it."""


_HeldSession.__module__ = ConnectSession.__module__  # by which a session over Connect is told from a classic one


def open_session(connection: str | DefaultChannelBuilder, *, retries: int) -> SparkSession:
    """Return a session; one that is not there after some retries is given up, by default that takes ten minutes."""
    keep_quiet()
    session = _HeldSession(connection)
    session.client.set_retry_policies([DefaultPolicy(max_retries=retries)])
    # At exit pyspark would run a command for ML caches that Mason has none of: it costs time, and was seen to hang.
    atexit.unregister(session.client._cleanup_ml_cache)
    return cast("SparkSession", session)


def first_line(error: Exception) -> str:
    """Return what an error says, in a line; one of gRPC's begins with its class, also where pyspark wraps it."""
    said = str(error).strip()
    details = _DETAILS.search(said)
    return details[1] if details else (said.splitlines() or [type(error).__name__])[0]


def is_unanswered(error: BaseException) -> bool:
    """Say whether an error is gRPC's own; those of a server that has answered are of the classes below."""
    return isinstance(error, grpc.RpcError) or type(error) is SparkConnectGrpcException


def when_forgotten(owner: object, end: Callable[[], None]) -> None:
    """Call a function when an object is forgotten, or when the process ends.

    That an object is forgotten may be found out in any thread, one of gRPC's too: a call that waits for gRPC would wait
    there for ever. So it gets a thread of its own.
    """
    weakref.finalize(owner, _end_apart, end)


def _end_apart(end: Callable[[], None]) -> None:
    if threading.current_thread() is threading.main_thread():
        end()
    else:
        threading.Thread(target=end, daemon=True).start()


def close_session(session: SparkSession) -> None:
    """Close the connection; the server keeps the session."""
    with suppress(Exception):
        cast("Any", session).client.close()


def end_session(session: SparkSession) -> None:
    """End the session on the server, and close the connection."""
    with suppress(Exception):
        session.stop()
