"""Requests that mean harm, or are only broken: each gets one clear answer, and the server goes on."""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.support import CONFIGURATION, Server, operator, prepared, until
from tests.conftest import write

SHOP = {"database_name": "shop"}


@pytest.fixture(scope="module")
def outside(server: Server) -> Path:
    """A folder beside the root that no request may reach, and a link in the root that leads there."""
    folder = write(server.mason.folder / "outside", {"secret.csv": "word\ntopsecret\n"})
    (server.mason.folder / "data" / "link").symlink_to(folder)
    (server.mason.folder / "data" / "linked.csv.hidden").symlink_to(folder / "secret.csv")
    return folder


@pytest.fixture(scope="module")
def links(server: Server, outside: Path) -> Path:
    """Folders that may be used, with links among their files that lead out: to a file, and to a folder."""
    data = server.mason.folder / "data"
    write(
        data, {"files/a.csv": "word\nplain\n", "folders/a.csv": "word\nplain\n", "leaking/whole.csv": "word\nplain\n"}
    )
    (data / "files" / "b.csv").symlink_to(outside / "secret.csv")
    (data / "folders" / "more").symlink_to(outside)
    (data / "leaking" / "stolen.csv").symlink_to(outside / "secret.csv")
    (data / "leaking" / "stolen_folder").symlink_to(outside)
    (data / "leaking" / "half").symlink_to(data / "files")
    return data


@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "../outside/secret.csv",
        "in/../../outside/secret.csv",
        "link",
        "link/secret.csv",
        "{outside}/secret.csv",
        "file://{outside}/secret.csv",
        "/etc/passwd",
        "~/.ssh",
        "linked.csv.hidden",
    ],
)
def test_a_path_stays_below_the_root_whatever_it_says(server: Server, outside: Path, path: str) -> None:
    asked = path.format(outside=outside)
    for reply in (
        server.post("/api/table/preview", json={"path": asked}),
        server.post("/api/table/infer", json={**SHOP, "storage_path": asked, "table_name": "stolen"}),
        server.post("/api/table/merge", json={"input_path": asked, "output_path": "stolen"}),
        server.post("/api/table/merge", json={"input_path": "in", "output_path": asked}),
    ):
        assert reply.status_code == 400, reply.text
        assert "is outside of the folders that may be used" in reply.text
        assert "topsecret" not in reply.text


@pytest.mark.parametrize("folder", ["files", "folders"])
@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("preview", {"path": "{}"}),
        ("infer", {**SHOP, "storage_path": "{}", "table_name": "stolen"}),
        ("merge", {"input_path": "{}", "output_path": "stolen"}),
        ("summarize", {"path": "{}"}),
        ("dedupe", {"path": "{}", "keys": ["word"], "output_path": "stolen"}),
        ("format", {"path": "{}", "output_path": "stolen", "format": "csv"}),
        ("explode", {"path": "{}", "columns": ["word"], "output_path": "stolen"}),
        ("check", {"path": "{}", "checks": ["not_null word"]}),
        ("diff", {"path": "{}", "other_path": "leaking/whole.csv", "keys": ["word"]}),
    ],
)
def test_a_link_among_the_files_of_a_path_does_not_lead_out(
    server: Server, links: Path, folder: str, command: str, body: dict[str, Any]
) -> None:
    asked = {name: value.format(folder) if isinstance(value, str) else value for name, value in body.items()}

    reply = server.post(f"/api/table/{command}", json=asked)

    assert reply.status_code == 400, reply.text
    assert "is outside of the folders that may be used" in reply.text
    assert "topsecret" not in reply.text
    assert not (links / "stolen").exists()


@pytest.mark.parametrize("table", ["stolen", "stolen_folder", "half"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/table/{}?database_name=leaking", None),
        ("GET", "/api/table/{}/preview?database_name=leaking", None),
        ("GET", "/api/table/{}/partitions?database_name=leaking", None),
        ("POST", "/api/table/query", {"database_name": "leaking", "query_string": "select * from {}"}),
        ("POST", "/api/table/summarize", {"database_name": "leaking", "table_name": "{}"}),
    ],
)
def test_a_table_that_is_a_link_does_not_lead_out(
    server: Server, links: Path, table: str, method: str, path: str, body: dict[str, str] | None
) -> None:
    asked = {name: value.format(table) for name, value in body.items()} if body else None

    reply = server.request(method, path.format(table), json=asked)

    assert 400 <= reply.status_code < 500, reply.text
    assert "topsecret" not in reply.text


def test_beside_a_link_that_leads_out_other_tables_are_read(server: Server, links: Path) -> None:
    assert server.get("/api/table/whole", params={"database_name": "leaking"}).status_code == 200
    assert server.get("/api/tables", params={"database_name": "leaking"}).status_code == 200


def test_mason_home_is_out_of_reach_though_it_be_below_a_root(server: Server) -> None:
    """A server that is started in `~` has `~/.mason` below its root."""
    everything = {"config_id": "everything"}
    write(server.mason.folder, {"all.yaml": CONFIGURATION.format(root=server.mason.home.parent)})
    text = (server.mason.folder / "all.yaml").read_text().replace("id: files", "id: everything")
    (server.mason.folder / "all.yaml").write_text(text)
    assert server.mason("config", str(server.mason.folder / "all.yaml")).exit_code == 0
    write(server.mason.home, {".env": "PASSWORD=topsecret\n", "words.csv": "word\ntopsecret\n"})
    (server.mason.home.parent / "to_home").symlink_to(server.mason.home)

    for path in ("home/.env", "home/words.csv", "home", "to_home/words.csv", "work/../home/words.csv"):
        for command, body in (
            ("preview", {"path": path}),
            ("merge", {"input_path": path, "output_path": "work/stolen"}),
            ("merge", {"input_path": "work/data/in", "output_path": path}),
            ("summarize", {"path": "work/data/in", "html": path}),
        ):
            reply = server.post(f"/api/table/{command}", params=everything, json=body)
            assert (reply.status_code, "topsecret" in reply.text) == (400, False), reply.text
    read = server.post("/api/table/preview", params=everything, json={"path": "work/data/in"})
    assert read.status_code == 200, read.text


def test_files_that_are_no_tables_stay_below_the_root_too(server: Server, outside: Path) -> None:
    page = server.post("/api/table/summarize", json={"path": "in", "html": str(outside / "page.html")})
    export = server.post(
        "/api/table/quarantine", json={"path": "in", "action": "export", "file": "../outside/export.csv"}
    )

    assert (page.status_code, export.status_code) == (400, 400), page.text + export.text
    assert sorted(each.name for each in outside.iterdir()) == ["secret.csv"]
    assert server.post("/api/table/summarize", json={"path": "in", "html": "page.html"}).status_code == 200
    assert (server.mason.folder / "data" / "page.html").is_file()


@pytest.mark.parametrize(
    "path",
    [
        "/api/table/..%2f..%2fetc",
        "/api/table/%2e%2e",
        "/api/table/%2e%2e%2f%2e%2e%2foutside",
        "/api/../../etc/passwd",
        "/api/%2e%2e/%2e%2e/etc/passwd",
        "/api/ui/../../../../etc/passwd",
        "/api/ui/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/api/ui/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/api/table/orders%00",
        "/api/table/%00",
        "/api/table/%ff%fe",
        "/api/database/..",
        "/api/database/link",
        "/api/run/..%2f..%2fx",
        "/api/job/'%20or%201=1%20--",
        "/api/table/orders'%3B%20drop%20table%20records%3B--?database_name=shop",
    ],
)
def test_a_path_of_the_api_leads_nowhere_else(server: Server, outside: Path, path: str) -> None:
    status, text = raw_get(server, path if "?" in path else f"{path}?database_name=shop")

    assert 400 <= status < 500, text
    assert "root:" not in text and "topsecret" not in text
    assert str(server.mason.folder) not in text


def test_sql_in_a_name_or_a_query_reaches_no_file_and_no_state(server: Server, outside: Path) -> None:
    for query in (
        f"select * from read_csv('{outside}/secret.csv')",
        f"select * from '{outside}/secret.csv'",
        f"copy orders to '{outside}/stolen.csv'",
        "select * from orders; drop table orders",
        "attach 'state.db'",
        f"select * from csv.`{outside}/secret.csv`",
    ):
        reply = server.post("/api/table/query", json={**SHOP, "query_string": query})
        assert 400 <= reply.status_code < 500, f"{query}: {reply.text}"
        assert "topsecret" not in reply.text
    assert server.get("/api/table/orders", params=SHOP).status_code == 200


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"path": ', "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[1, 2]", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
        (b'{"path": NaN}', "is not JSON"),
        (b'{"path": "in", "path": "out"}', '"path" is in it twice'),
        (b'{"path": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"path": ' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
        (b'{"path": {"a": 1}}', "must be of type path"),
        (b'{"path": "in\\u0000"}', "path"),
        (b'{"limit": 1e400}', "limit"),
        (b'{"&a": {"*a": "*a"}}', 'no parameter "&a"'),
    ],
)
def test_a_body_that_cannot_be_meant_is_refused(server: Server, content: bytes, message: str) -> None:
    reply = server.post("/api/table/preview", content=content, headers={"Content-Type": "application/json"})

    assert reply.status_code == 400, reply.text
    assert message in reply.json()["Errors"][0]


@pytest.mark.parametrize("content", [b'{"path": "\\ud800"}', b'{"path": "\xed\xa0\x80"}'])
def test_half_a_character_is_refused(server: Server, content: bytes) -> None:
    reply = server.post("/api/table/preview", content=content, headers={"Content-Type": "application/json"})

    assert reply.status_code == 400, reply.text
    assert "half a character" in reply.json()["Errors"][0]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(server: Server) -> None:
    told = server.post("/api/table/preview", json={"path": "x" * 2_000_000})

    def pieces() -> object:
        for _ in range(400):
            yield b" " * 10_000

    untold = server.post("/api/table/preview", content=pieces(), headers={"Content-Type": "application/json"})

    for reply in (told, untold):
        assert reply.status_code == 413, reply.text
        assert "1,048,576 bytes" in reply.text


def test_what_is_packed_is_not_unpacked(server: Server) -> None:
    bomb = gzip.compress(b'{"path": "' + b"x" * 20_000_000 + b'"}')
    assert len(bomb) < 200_000
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    reply = server.post("/api/table/preview", content=bomb, headers=headers)

    assert (reply.status_code, "is not JSON" in reply.text) == (400, True)


def test_a_yaml_bomb_is_refused_by_its_kind_and_by_what_is_in_it(server: Server) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    bomb = "\n".join(lines)

    for kind, status in (("application/yaml", 415), ("text/plain", 415), ("application/json", 400)):
        reply = server.post("/api/table/preview", content=bomb, headers={"Content-Type": kind})
        assert reply.status_code == status, reply.text
    root = server.mason.folder / "bomb"
    operator(root, "bomb", "word", "pass", swagger=f"{bomb}\npaths:\n  /bomb/word:\n    get:\n")
    assert server.mason("register", str(root)).exit_code == 0
    assert server.get("/api/bomb/word").status_code == 404
    assert [line for line in server.log_lines() if "bomb/word/swagger.yml" in line.get("message", "")]


def test_a_query_that_is_too_long_or_has_too_many_fields_is_refused(server: Server) -> None:
    assert server.get("/api/tables?database_name=" + "x" * 9_000).status_code == 413
    assert server.get("/api/tables?" + "&".join(f"a{n}=" for n in range(700))).status_code == 400


def test_a_head_that_is_too_large_is_cut_off(server: Server) -> None:
    with pytest.raises(httpx.TransportError):
        server.get("/healthz", headers={"X-Long": "x" * 500_000})

    assert server.get("/healthz").status_code == 200


def test_a_header_cannot_carry_another_one(server: Server) -> None:
    reply = server.get("/api/nothing", headers={"X-Request-ID": "a b; c=d"})

    assert reply.headers["X-Request-ID"] != "a b; c=d"
    status, text = raw_get(server, "/api/job/x%0d%0aSet-Cookie:%20a=b")
    assert status == 404
    assert "\r\nSet-Cookie" not in text


@pytest.mark.parametrize("hosts", [("127.0.0.1", "evil.example"), ("evil.example", "127.0.0.1")])
def test_a_request_has_one_host(server: Server, hosts: tuple[str, str]) -> None:
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        told = "".join(f"Host: {host}\r\n" for host in hosts)
        connection.sendall(f"GET /api/configs HTTP/1.1\r\n{told}Connection: close\r\n\r\n".encode())
        reply = b"".join(iter(lambda: connection.recv(65536), b""))

    assert reply.startswith(b"HTTP/1.1 400 "), reply
    assert b"There is more than one header Host." in reply


def test_a_line_of_the_log_is_one_event_whatever_a_client_sends(server: Server) -> None:
    raw_get(server, '/api/x%0a{"event":"forged"}')

    assert not [line for line in server.log_lines() if line["event"] == "forged"]


def test_garbage_instead_of_http_ends_the_connection_and_nothing_else(server: Server) -> None:
    place = urlsplit(server.url)
    for garbage in (b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"\x00" * 1000, b"POST / HTTP/9.9\r\n\r\n"):
        with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
    assert server.get("/healthz").status_code == 200


@pytest.mark.parametrize("how", ["Content-Length: 50\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
@pytest.mark.parametrize("path", ["/api/test/sleep", "/api/workflow/table/infer"])
def test_a_client_that_hangs_up_in_its_body_is_no_bug_of_the_server(server: Server, how: str, path: str) -> None:
    place = urlsplit(server.url)
    asked = f"hung-up-{len(how)}-{len(path)}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {place.netloc}\r\nX-Request-ID: {asked}\r\nContent-Type: application/json\r\n"
    )
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall((head + how).encode())

    server.wait_for_log(f'"request": "{asked}", "method": "POST"')
    lines = [line for line in server.log_lines() if line.get("request") == asked]
    assert [(line["event"], line.get("status")) for line in lines] == [("request", 400)]


def test_many_connections_that_say_nothing_keep_nobody_out(server: Server) -> None:
    place = urlsplit(server.url)
    idle = [socket.create_connection((place.hostname, place.port)) for _ in range(100)]
    try:
        began = time.monotonic()
        assert server.get("/api/tables", params=SHOP).status_code == 200
        assert time.monotonic() - began < 30
    finally:
        for each in idle:
            each.close()


CANARY = "canary-7f3a9c51"


@pytest.fixture(scope="module")
def with_canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, list[httpx.Response]]]:
    """A server that was given secrets in every way there is, and its replies."""
    root = tmp_path_factory.mktemp("canary")
    variables = {"CANARY_VARIABLE": f"env-{CANARY}", "MASON_TOKEN": f"token-{CANARY}"}
    server = Server(prepared(root / "work", root / "home"), variables=variables).start()
    config = server.mason.folder / "secret.yaml"
    config.write_text(
        "id: secret\nmetastore_engine: s3\nstorage_engine: s3\nexecution_engine: local\nclients:\n  s3:\n"
        f"    configuration:\n      aws_region: us-east-1\n      access_key: key-{CANARY}\n"
        f"      secret_key: '{{{{CANARY_VARIABLE}}}}'\n      endpoint: http://user:url-{CANARY}@127.0.0.1:1\n",
    )
    assert server.mason("config", str(config)).exit_code == 0
    with httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer token-{CANARY}"}, timeout=60, trust_env=False
    ) as client:
        yield server, _replies(client)
    server.kill()


def _replies(client: httpx.Client) -> list[httpx.Response]:
    steps = {f"step_{number}": {"parameters": {"password": f"step-{CANARY}"}} for number in (1, 2)}
    key = {"Idempotency-Key": f"key-{CANARY}"}
    replies = [
        client.get("/api/configs"),
        client.post("/api/test/hidden", json={"password": f"given-{CANARY}"}, headers=key),
        client.post("/api/test/hidden", params={"password": f"query-{CANARY}"}),
        client.post("/api/test/hidden", json={"password": [f"list-{CANARY}"]}),
        client.post("/api/test/hidden", json={"password": f"late-{CANARY}"}, params={"wait": 0}),
        client.post("/api/test/blurt", json={"password": f"blurted-{CANARY}"}),
        client.post("/api/test/blurt", json={"password": f"late-{CANARY}"}, params={"wait": 0}),
        client.post("/api/workflow/test/secrets", json=steps),
        client.post("/api/workflow/test/secrets", json=steps, params={"run_now": "true"}),
        client.get("/api/tables", params={**SHOP, "config_id": "secret"}),
        client.get(
            "/api/tables", params={**SHOP, "config_id": f"asked-{CANARY}"}, headers={"Authorization": "Bearer x"}
        ),
    ]
    until(lambda: client.get("/readyz").json()["running"] == 0, "all jobs are over")
    jobs = [each["JobID"] for each in client.get("/api/jobs").json()["Data"]]
    runs = [each["RunID"] for each in client.get("/api/runs").json()["Data"]]
    about = [f"/api/job/{job}{more}" for job in jobs for more in ("", "/log", "/events")]
    pages = [*about, *(f"/api/run/{run}" for run in runs), "/api/jobs", "/api/runs", "/metrics", "/readyz"]
    return replies + [client.get(page) for page in pages]


def test_a_secret_is_in_no_reply(with_canaries: tuple[Server, list[httpx.Response]]) -> None:
    replies = with_canaries[1]

    assert [reply.status_code for reply in replies[:9]] == [200, 200, 400, 400, 202, 500, 202, 200, 422]
    assert "give it in the body" in replies[2].text
    assert [str(reply.url) for reply in replies if CANARY in reply.text] == []
    assert [str(reply.url) for reply in replies if CANARY in str(reply.headers)] == []


def test_a_secret_is_in_no_line_of_the_log_and_in_no_traceback(
    with_canaries: tuple[Server, list[httpx.Response]],
) -> None:
    server, _ = with_canaries

    assert "RuntimeError: it is REDACTED" in server.log_text()
    assert [line for line in server.log_lines() if CANARY in str(line)] == []


def test_a_secret_is_in_no_record_and_in_no_argument(with_canaries: tuple[Server, list[httpx.Response]]) -> None:
    server, _ = with_canaries
    kept = b"".join(file.read_bytes() for file in server.mason.home.rglob("*") if file.is_file())

    for kind in ("given", "query", "list", "late", "blurted", "step", "env", "token"):
        assert f"{kind}-{CANARY}".encode() not in kept, kind
    assert server.process is not None
    assert CANARY.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()


def raw_get(server: Server, target: str) -> tuple[int, str]:
    """Send a request line as it is: a client library would tidy it up."""
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        head = f"GET {target} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode("latin-1"))
        received = b""
        while piece := connection.recv(65536):
            received += piece
    text = received.decode("utf-8", errors="replace")
    return int(text.split(" ", 2)[1]), text
