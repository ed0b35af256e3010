"""A connection to a server: what goes wrong on the way, and what takes long."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import mason
from mason.connection.connection import Connection
from mason.errors import BadInput, ClientFailed, Conflict, Forbidden, MissingDependency, Unauthorized, Unsupported
from mason.state.home import open_state
from mason.state.tokens import Scope, create_token
from mason.util.environment import MasonEnvironment
from tests.api.support import Server, prepared, until
from tests.conftest import Mason
from tests.http_server import serving
from tests.ports import free_port

TOKEN = "mason_a-token-of-the-tests"


def naps(connection: Connection, status: str) -> list[str]:
    found = connection.jobs(status=status, limit=1000).data
    return [each["JobID"] for each in found if each.get("Operator") == "test:nap"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://somewhere", '"ftp://somewhere" is not an address of a server. An address looks like'),
        ("127.0.0.1:5000", "is not an address of a server"),
        ("http://", "is not an address of a server"),
        ("http://host:99999", "is not an address of a server"),
        ("http://host/?a=b", "is not an address of a server"),
        ("http://me:secret@host", "Give the token as token="),
    ],
)
def test_what_is_no_address_is_said(url: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        mason.connect(url)

    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_token_without_a_server_is_refused() -> None:
    with pytest.raises(BadInput, match="for a server"):
        mason.connect(token="x")


def test_the_end_of_a_line_is_no_part_of_a_token(guarded: tuple[Server, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    server, file = guarded
    monkeypatch.setenv("MASON_TOKEN", f"{TOKEN}\n")

    with mason.connect(server.url, ca_file=str(file)) as m:
        assert m.configurations().data
    with mason.connect(server.url, token=f" {TOKEN}\r\n", ca_file=str(file)) as m:
        assert m.configurations().data


@pytest.mark.parametrize("token", ["secr\u00e8t", "sec\nret"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(BadInput, match="can be no token") as caught:
        mason.connect("http://127.0.0.1:1", token=token)

    assert token not in str(caught.value)


def test_nobody_at_the_address_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with mason.connect(url) as m, pytest.raises(ClientFailed, match=f"Nobody answers at {url}.*mason run"):
            m.operator("table", "list")


def test_a_server_that_hangs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mason.connection.rest._PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # it takes connections and never answers
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        with mason.connect(url) as m, pytest.raises(ClientFailed, match="does not answer in time"):
            m.configurations()


@contextmanager
def another_site(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Tests say what they have to say by failing."""

    with serving(Handler) as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>"), (502, b"Bad gateway"), (200, b"[]"), (404, b'{"detail": "x"}')]
)
def test_another_site_is_not_taken_for_mason(status: int, body: bytes) -> None:
    with another_site(status, body) as url, mason.connect(url) as m:
        with pytest.raises(ClientFailed, match=f"does not answer as Mason does .HTTP {status}"):
            m.configurations()
        with pytest.raises(ClientFailed, match="Check the address"):
            m.operator("table", "list")


def test_the_address_of_the_api_means_the_server(server: Server) -> None:
    with mason.connect(f"{server.url}/api/", config="files") as m:
        assert m.operator("table", "list", database_name="shop").data


def test_an_older_version_is_for_this_process(remote: Connection, embedded: Connection) -> None:
    with pytest.raises(Unsupported, match="mason.connect()"):
        remote.operator("table", "list@sha256:0000", database_name="shop")
    planned = embedded.operator("table", "list", database_name="shop", plan=True).data[0]["Operator"]
    digest = planned.partition("@")[2]
    assert embedded.operator("table", f"list@{digest}", database_name="shop").data


def test_a_name_that_is_dots_alone_is_no_other_address(remote: Connection) -> None:
    with pytest.raises(BadInput, match='".." cannot be a table'):
        remote.operator("table", "get", database_name="shop", table_name="..")


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.operator("table", "preview", path="\ud800"),
        lambda m: m.operator("table", "get", database_name="shop", table_name="\ud800"),
        lambda m: m.operator("table", "list", database_name="\ud800"),
        lambda m: m.job("\ud800"),
        lambda m: m.workflow("table", "infer", {"step_1": {"parameters": {"storage_path": "\ud800"}}}),
    ],
)
def test_what_no_request_can_carry_is_said(remote: Connection, call: Callable[[Connection], object]) -> None:
    with pytest.raises(BadInput, match="half a character"):
        call(remote)


def test_a_large_answer_that_takes_long_comes_whole(remote: Connection) -> None:
    data = remote.operator("test", "much", seconds=1.2).data

    assert len(data[0]["Text"]) == 3_000_000


def test_ctrl_c_ends_the_job_at_the_server(remote: Connection, embedded: Connection) -> None:
    before = set(naps(embedded, "cancelled"))
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        until(lambda: bool(naps(embedded, "running")), "the job runs")
        signal.pthread_kill(main, signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        remote.operator("test", "nap", seconds=60)
    watcher.join()

    until(lambda: len(set(naps(embedded, "cancelled")) - before) == 1, "the job is cancelled")


def test_ctrl_c_in_this_process_is_ctrl_c(embedded: Connection, tmp_path: Path) -> None:
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        until((tmp_path / "began").exists, "the nap has begun")
        signal.pthread_kill(main, signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        watcher.start()
        embedded.operator("test", "nap", seconds=60, began=str(tmp_path / "began"))
    watcher.join()


def test_a_server_that_dies_under_a_job_says_so_when_it_is_back(home: Mason, embedded: Connection) -> None:
    port = str(free_port())
    server = Server(home, ("--port", port)).start()
    raised: list[BaseException] = []

    def nap() -> None:
        with mason.connect(server.url, config="files") as m:
            try:
                m.operator("test", "nap", seconds=60)
            except Conflict as error:  # it is not sent again by itself: nobody knows how far it came
                raised.append(error)

    thread = threading.Thread(target=nap)
    thread.start()
    until(lambda: bool(naps(embedded, "running")), "the job runs")
    server.kill()
    again = Server(home, ("--port", port)).start()
    try:
        thread.join(60)
    finally:
        again.kill()

    assert "was lost with its server" in str(raised[0])


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    """A server that speaks TLS and wants a token, and its certificate."""
    file, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
            *["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            *["-out", str(file), "-keyout", str(key)],
        ],
        check=True,
        capture_output=True,
    )
    known = ssl.create_default_context(cafile=str(file))
    own = prepared(tmp_path / "work", tmp_path / "home")
    arguments = ("--certificate", str(file), "--key", str(key))
    server = Server(own, arguments, {"MASON_TOKEN": TOKEN}, certificates=known).start()
    yield server, file
    server.kill()


def test_a_server_wants_its_token_and_may_have_a_certificate_of_its_own(
    guarded: tuple[Server, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, file = guarded
    reader = create_token(open_state(MasonEnvironment(server.mason.home)), "reader", Scope.READ)
    orders = {"database_name": "shop", "table_name": "orders"}

    with mason.connect(server.url, token=TOKEN, ca_file=str(file), config="files") as m:
        assert m.operator("table", "merge", input_path="in", output_path="out").data
        assert TOKEN not in repr(vars(m))
    with mason.connect(server.url, token=reader, ca_file=str(file), config="files") as m:
        assert m.operator("table", "preview", orders, limit=2).to_arrow().num_rows == 2
        with pytest.raises(Forbidden, match='The token "reader" is for read; this takes run'):
            m.operator("table", "merge", input_path="in", output_path="out")
    with mason.connect(server.url, token="another", ca_file=str(file)) as m, pytest.raises(Unauthorized):
        m.configurations()
    monkeypatch.setenv("MASON_TOKEN", TOKEN)
    with mason.connect(server.url, ca_file=str(file)) as m:
        assert m.configurations().data
    with (
        mason.connect(server.url) as m,
        pytest.raises(ClientFailed, match="certificate of https:.* is not trusted here.* as ca_file"),
    ):
        m.configurations()
    with pytest.raises(BadInput, match="no.pem has no certificates"):
        mason.connect(server.url, ca_file="no.pem")


def test_without_httpx_the_message_says_what_to_install() -> None:
    script = "import sys; sys.modules['httpx'] = None; import mason; mason.connect('http://127.0.0.1:1')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ}, check=False
    )

    assert MissingDependency.__name__ in done.stderr
    assert "pip install 'mason-data[client]'" in done.stderr
