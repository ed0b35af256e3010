"""Where lineage goes, and what happens when it cannot go there: nothing, to the job."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mason.connection.call_response import CallResponse
from mason.connection.connection import Connection
from mason.errors import InvalidConfiguration
from mason.lineage.settings import lineage_settings
from mason.operators.diagnosis import FindingStatus, diagnose
from mason.util.environment import MasonEnvironment
from tests.conftest import Mason, write
from tests.lineage.conftest import Told
from tests.lineage.specification import problems

KEY = "an-api-key-4711"


class Collector(ThreadingHTTPServer):
    """A server that takes events, as a small one of OpenLineage's would."""

    daemon_threads = True

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"]))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Tests say what they have to say by failing."""


@contextmanager
def collecting(status: int = 201) -> Iterator[Collector]:
    with Collector(status) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(home: Mason) -> Iterator[Path]:
    file = home.home / "settings.yaml"
    yield file
    file.unlink(missing_ok=True)


def merged(m: Connection) -> CallResponse:
    response = m.operator("table", "merge", input_path="in", output_path="sent")
    assert response.data[0]["RowsOut"] == 2
    return response


def test_events_are_sent_to_a_server_with_its_key(
    m: Connection, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEAGE_KEY", KEY)
    with collecting() as server:
        where = f"  url: {server.url}\n  endpoint: api/v2/lineage\n  namespace: shop\n"
        settings.write_text('lineage:\n  api_key: "{{LINEAGE_KEY}}"\n' + where)
        response = merged(m)

    events = [json.loads(body) for body in server.bodies]
    assert response.warnings == ()
    assert server.requests == [("/api/v2/lineage", f"Bearer {KEY}")] * 2
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert {event["job"]["namespace"] for event in events} == {"shop"}
    assert [problem for event in events for problem in problems(event)] == []
    assert KEY not in str(events)


def test_nothing_is_told_unless_somebody_wants_it(m: Connection) -> None:
    assert lineage_settings(MasonEnvironment.of()) is None
    assert merged(m).warnings == ()


def test_the_variable_goes_before_the_settings_and_turns_it_off_too(
    m: Connection, settings: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text("lineage: http://127.0.0.1:9\n")
    merged(m)
    assert len(told()) == 2
    monkeypatch.setenv("MASON_LINEAGE", "off")
    assert merged(m).warnings == ()
    assert len(told()) == 2


def test_a_server_that_is_down_is_one_warning(m: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("MASON_LINEAGE", url)
        first, second = merged(m), merged(m)

    assert first.warnings == (f"No lineage is sent for 60 seconds: nothing answers at {url}.",)
    assert second.warnings == ()


def test_a_server_that_hangs_holds_a_job_up_once_and_not_for_long(m: Connection, settings: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # it takes connections and never answers
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        settings.write_text(f"lineage:\n  url: {url}\n  timeout: 0.2\n")
        began = time.monotonic()
        response = merged(m)
        again = merged(m)

    assert response.warnings == (f"No lineage is sent for 60 seconds: {url} does not answer within 0.2 seconds.",)
    assert again.warnings == ()
    assert time.monotonic() - began < 10


def test_a_server_that_refuses_events_is_one_warning(m: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting(403) as server:
        monkeypatch.setenv("MASON_LINEAGE", server.url)
        response = merged(m)

    assert response.warnings == (f"No lineage is sent for 60 seconds: {server.url} answers 403.",)
    assert len(server.bodies) == 1


def test_a_file_that_cannot_be_written_is_one_warning(
    m: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASON_LINEAGE", str(tmp_path))  # a folder

    assert merged(m).warnings == (f"No lineage is sent for 60 seconds: {tmp_path}: Is a directory.",)


def test_a_workflow_goes_on_when_its_lineage_does_not(
    m: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MASON_LINEAGE", str(tmp_path / "file" / "below"))
    steps = {"step_1": {"parameters": {"database_name": "shop", "storage_path": "in", "table_name": "quiet"}}}

    response = m.workflow("table", "infer", steps, run=True)

    assert response.data[0]["Status"] == "succeeded"
    assert len(response.warnings) == 1 and "No lineage is sent" in response.warnings[0]


def test_a_missing_package_is_named_with_what_installs_it(
    m: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASON_LINEAGE", str(tmp_path / "missing.jsonl"))
    monkeypatch.delitem(sys.modules, "mason.lineage.events", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "openlineage"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openlineage", None)  # as Python has it where the package is not there

    assert merged(m).warnings == (
        "No lineage is sent for 60 seconds: openlineage-python is not installed. "
        "Run: pip install 'mason-data[openlineage]'",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lineage: ftp://somewhere", "ftp:// is not a place for lineage. Give http://HOST:PORT"),
        ("lineage: [a]", "must be an address, or keys with their values"),
        ("lineage: {urll: http://a}", 'lineage: "urll" is not a key of it. Did you mean "url"'),
        ("lineage: {url: http://a, timeout: soon}", "timeout must be a number of seconds, at most 60"),
        (
            'lineage: {url: http://a, api_key: "{{NOT_SET_ANYWHERE}}"}',
            "api_key: the variable NOT_SET_ANYWHERE is not set",
        ),
        ("lineage: {url: 5}", "url must be text"),
        ("linage: http://a", '"linage" is not a setting. Did you mean "lineage"'),
    ],
)
def test_settings_that_cannot_be_meant_are_named(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {"settings.yaml": text + "\n"})

    with pytest.raises(InvalidConfiguration) as caught:
        lineage_settings(MasonEnvironment(tmp_path), {})

    assert message in str(caught.value)
    assert "settings.yaml" in str(caught.value)


def test_settings_that_cannot_be_meant_fail_no_job(m: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASON_LINEAGE", "gopher://somewhere")

    first, second = merged(m), merged(m)

    assert len(first.warnings) == 1 and "gopher:// is not a place for lineage" in first.warnings[0]
    assert second.warnings == ()


def test_a_password_in_the_address_is_in_no_warning(m: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASON_LINEAGE", f"http://somebody:{KEY}@127.0.0.1:9")

    [warning] = merged(m).warnings

    assert "127.0.0.1:9" in warning
    assert KEY not in warning


def test_doctor_says_where_lineage_goes_and_what_is_wrong_with_that(
    m: Connection, home: Mason, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[tuple[FindingStatus, str]]:
        every = diagnose(MasonEnvironment.of(), "files")
        return [(each.verdict, each.message) for each in every if each.subject == "Lineage"]

    assert found() == []
    monkeypatch.setenv("MASON_LINEAGE", f"http://me:{KEY}@127.0.0.1:9")
    assert found() == [(FindingStatus.FINE, "events go to http://me:REDACTED@127.0.0.1:9")]
    monkeypatch.setenv("MASON_LINEAGE", "ftp://x")
    assert found()[0][0] is FindingStatus.WRONG


def test_a_plain_name_is_a_file_beside_the_settings_or_in_the_folder_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shell").mkdir()
    monkeypatch.chdir(tmp_path / "shell")
    env = MasonEnvironment(write(tmp_path / "home", {"settings.yaml": "lineage: events.jsonl\n"}))

    in_settings, in_shell = lineage_settings(env, {}), lineage_settings(env, {"MASON_LINEAGE": "here.jsonl"})

    assert in_settings and in_settings.file == str(tmp_path / "home" / "events.jsonl")
    assert in_shell and in_shell.file == str(tmp_path / "shell" / "here.jsonl")
