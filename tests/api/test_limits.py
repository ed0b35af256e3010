"""The limits on what a request may take, looked at one by one."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.types import Message

from mason.api.server import patience
from mason.api.server.guard import _LimitedBody
from mason.api.server.replies import PathHider, json_reply
from mason.api.server.serve import listen
from mason.api.server.settings import ServerSettings, is_loopback
from mason.errors import BadInput, ClientFailed, TooLarge
from mason.util.environment import MasonEnvironment
from tests.api.support import until

_LONG = 15


def body_of(settings: ServerSettings, *messages: Message, pause: float = 0.0) -> list[Message]:
    """Return what is handed on of a body that arrives like this."""

    async def read() -> list[Message]:
        waiting = list(messages)

        async def receive() -> Message:
            await asyncio.sleep(pause)
            return waiting.pop(0)

        limited = _LimitedBody(receive, settings)
        return [await limited() for _ in messages]

    return asyncio.run(read())


def piece(content: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": content, "more_body": more}


def test_a_body_arrives_as_it_was_sent() -> None:
    sent = [piece(b"ab", more=True), piece(b"c", more=False), {"type": "http.disconnect"}]

    assert body_of(ServerSettings(body_bytes=3), *sent) == sent


def test_a_body_of_one_byte_too_many_is_refused() -> None:
    with pytest.raises(TooLarge):
        body_of(ServerSettings(body_bytes=2), piece(b"ab", more=True), piece(b"c", more=False))


def test_a_client_that_takes_too_long_is_refused_however_often_it_sends_something() -> None:
    with pytest.raises(BadInput, match=r"did not arrive within 0\.1 seconds"):
        body_of(ServerSettings(body_seconds=0.1), *[piece(b"a", more=True)] * 10, pause=0.04)


@pytest.fixture
def impatient(patient: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """Where a server listens that waits half a second for a head; it answers in no time."""
    monkeypatch.setattr(patience, "HEAD_SECONDS", 0.5)
    return patient


@pytest.fixture
def patient() -> Iterator[tuple[str, int]]:
    """Where a server listens that waits for a head, and between requests, longer than the tests have time."""
    assert patience.HEAD_SECONDS >= _LONG
    listener = socket.create_server(("127.0.0.1", 0))
    app = json_reply({"status": "ok"})
    protocol = patience.PatientProtocol
    config = uvicorn.Config(app, http=protocol, lifespan="off", log_config=None, timeout_keep_alive=2 * _LONG)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(30)


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
def test_a_head_that_comes_byte_by_byte_is_waited_for_only_so_long(impatient: tuple[str, int], before: bytes) -> None:
    """Also the head of the second request of a connection."""
    with socket.create_connection(impatient, timeout=20) as connection:
        if before:
            connection.sendall(before)
            assert b"200 OK" in connection.recv(65536)
        sent = 0
        with suppress(ConnectionError):
            for byte in b"GET / HTTP/1.1\r\nX-Slow: " + b"x" * 200:
                connection.sendall(bytes([byte]))
                sent += 1
                time.sleep(0.05)  # each byte comes well within the time, all of them do not
        with suppress(ConnectionError):
            assert connection.recv(65536) == b""

    assert sent < 100


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
@pytest.mark.parametrize(
    "head",
    [
        b"X-Long: " + b"x" * 500_000,
        b"X-Long: " + b"x" * 70_000,
        b"".join(b"X-%d: xxxxxxxxxx\r\n" % number for number in range(10_000)),
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"".join(b"X-%d: xxxxxxx\r\n" % each for each in range(10_000)),
    ],
    ids=["one header", "little too much", "many headers", "headers behind a body"],
)
def test_a_head_that_is_too_large_is_not_read_to_its_end(patient: tuple[str, int], before: bytes, head: bytes) -> None:
    began = time.monotonic()
    with socket.create_connection(patient, timeout=20) as connection:
        if before:
            connection.sendall(before)
            assert b"200 OK" in connection.recv(65536)
        with suppress(ConnectionError):
            connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
            while connection.recv(65536):  # until it is hung up, before the time for a head or between requests is over
                pass
        assert time.monotonic() - began < _LONG


def test_a_head_of_many_kilobytes_is_taken(patient: tuple[str, int]) -> None:
    with socket.create_connection(patient, timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 60_000 + b"\r\n\r\n")
        assert b"200 OK" in connection.recv(65536)


def test_a_client_that_is_silent_between_requests_is_not_hung_up_on_for_its_head(impatient: tuple[str, int]) -> None:
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(impatient, timeout=20) as connection:
        connection.sendall(request)
        assert b"200 OK" in connection.recv(65536)
        time.sleep(0.8)
        connection.sendall(request)
        assert b"200 OK" in connection.recv(65536)


def test_what_is_no_http_is_answered_as_everything_else_is(
    patient: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="mason.api")
    with socket.create_connection(patient, timeout=20) as connection:
        connection.sendall(b"GET / HTTP/9.9\r\n\r\n")
        head, _, body = connection.recv(65536).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["Errors"] == ["Invalid HTTP request received."]
    told = dict(line.split(": ", 1) for line in head.decode().splitlines()[1:])

    def is_logged() -> bool:
        return told["x-request-id"] in [getattr(each, "fields", {}).get("request") for each in caplog.records]

    until(is_logged, "the log has the id of the reply")  # the server writes it after the reply


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.1.2.3"])
def test_the_loopback_is_known_by_every_name(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example", ""])
def test_nothing_else_is_taken_for_the_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_folders_of_the_server_are_taken_out_of_a_message(env: MasonEnvironment) -> None:
    hide = PathHider(env, ["/srv/data"])

    assert hide("/srv/data/in/a.csv: broken. See /srv/data.") == "in/a.csv: broken. See .."
    assert hide("/srv/database/x stays") == "/srv/database/x stays"
    assert hide(f"{env.home}/state.db: locked") == "MASON_HOME/state.db: locked"
    assert hide("/proc/self/srv/data/x stays") == "/proc/self/srv/data/x stays"
    assert hide(repr("cut:\n/srv/data/x, file:///srv/data/y")) == repr("cut:\nx, file://y")


@pytest.mark.parametrize("host", ["192.0.2.1", "nobody.invalid"])
def test_an_address_that_this_machine_does_not_have_is_told_as_one(host: str) -> None:
    with pytest.raises(ClientFailed, match="Choose an address of this machine with --host"):
        listen(ServerSettings(host=host, port=0))


def test_a_port_is_one_servers_from_the_moment_that_it_says_so() -> None:
    with listen(ServerSettings(port=0)) as first:
        port = first.getsockname()[1]

        with pytest.raises(ClientFailed, match="Address already in use"):
            listen(ServerSettings(port=port))
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
