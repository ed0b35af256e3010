"""What lies in the folders around a server is not its calls': hidden files, `.env`, the folder that it runs in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.api.support import CONFIGURATION, Server, operator, prepared
from tests.conftest import write

NOWHERE = CONFIGURATION.partition("clients:")[0].replace("id: files", "id: nowhere")
ENVIRON = 'import os\nresp.add_data({name: os.environ.get(name) for name in parameters.get_required("names")})'
NAMES = ["FROM_HOME", "FROM_FOLDER", "FROM_USER", "LATER", "BASH_ENV", "SPARK_REMOTE"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    """A server that is not started yet, with a configuration without a root and an operator that shows variables."""
    mason = prepared(tmp_path / "work", tmp_path / "home")
    operator(
        tmp_path / "more",
        "test",
        "environ",
        ENVIRON,
        parameters="parameters:\n  required:\n    - {name: names, type: list}\n",
        swagger="paths:\n  /test/environ:\n    post:\n",
    )
    env = MasonEnvironment(mason.home)
    register(env, open_state(env), read_definitions(tmp_path / "more", [OPERATORS]).valid, replace=False)
    write(mason.folder, {"nowhere.yaml": NOWHERE})
    assert mason("config", "nowhere.yaml").exit_code == 0
    server = Server(mason)
    yield server
    if server.process is not None and server.process.poll() is None:
        server.kill()


def variables(server: Server, config: str = "files") -> dict[str, Any]:
    reply = server.post("/api/test/environ", params={"config_id": config}, json={"names": NAMES})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()["Data"][0]
    return found


def test_a_server_reads_its_dotenv_once_when_it_starts_and_only_in_its_home(served: Server) -> None:
    mason = served.mason
    user = mason.folder.parent / "user"
    write(mason.home, {".env": "FROM_HOME=first\nBASH_ENV=/tmp/evil\nSPARK_REMOTE=sc://there\n"})
    write(mason.folder, {".env": "FROM_FOLDER=folder\n"})
    write(user, {".env": "FROM_USER=user\n"})
    served.variables = {"HOME": str(user)}
    server = served.start()
    expected = {**dict.fromkeys(NAMES), "FROM_HOME": "first", "SPARK_REMOTE": "sc://there"}
    assert variables(server) == expected
    place = mason.home / ".env"
    assert f"{place}:2: BASH_ENV is not taken from a .env file: it changes how programs start." in server.log_text()
    assert "/tmp/evil" not in server.log_text()

    write(mason.home, {".env": "FROM_HOME=second\nLATER=later\n"})
    write(mason.folder, {"again.yaml": NOWHERE.replace("id: nowhere", "id: again")})
    assert mason("config", "again.yaml").exit_code == 0  # a configuration that was never used is filled anew

    assert variables(server, "again") == expected


def test_with_several_workers_no_dotenv_is_read_later_either(served: Server) -> None:
    write(served.mason.home, {".env": "FROM_HOME=first\n"})
    served.arguments = ("--workers", "2")
    server = served.start()
    write(served.mason.home, {".env": "FROM_HOME=second\nLATER=later\n"})
    write(served.mason.folder, {".env": "FROM_FOLDER=folder\n"})

    for _ in range(6):
        assert variables(server) == {**dict.fromkeys(NAMES), "FROM_HOME": "first"}


def test_a_configuration_without_a_root_gets_a_folder_of_the_servers_own(served: Server) -> None:
    mason = served.mason
    write(mason.folder, {".env": "PASSWORD=topsecret\n", "words.csv": "word\ntopsecret\n"})
    before = sorted(mason.folder.rglob("*"))
    server = served.start()
    nowhere = {"config_id": "nowhere"}
    for path in (".env", "words.csv", "data/in", str(mason.folder / "words.csv"), "../words.csv", "../.env"):
        reply = server.post("/api/table/preview", params=nowhere, json={"path": path})
        assert reply.status_code in (400, 404), reply.text
        assert "topsecret" not in reply.text
    assert server.get("/api/databases", params=nowhere).json()["Data"] == []

    own = write(mason.home / "data", {"in/a.csv": "id\n1\n"})
    body = {"input_path": "in", "output_path": "out/made"}
    reply = server.post("/api/table/merge", params=nowhere, json=body)
    assert reply.status_code == 200, reply.text
    page = server.post("/api/table/summarize", params=nowhere, json={"path": "in", "html": "page.html"})
    assert page.status_code == 200, page.text
    assert (own / "out/made").is_dir()
    assert (own / "page.html").is_file()
    assert sorted(mason.folder.rglob("*")) == before
    assert own.stat().st_mode & 0o077 == 0


def test_with_a_root_for_all_calls_relative_paths_begin_there(served: Server) -> None:
    given = write(served.mason.folder.parent / "given", {"in/a.csv": "id\n1\n"})
    served.arguments = ("--root", str(given))
    server = served.start()

    body = {"input_path": "in", "output_path": "out/made"}
    reply = server.post("/api/table/merge", params={"config_id": "nowhere"}, json=body)

    assert reply.status_code == 200, reply.text
    assert (given / "out/made").is_dir()


@pytest.mark.parametrize(
    "path", [".env", "in/.secret/words.csv", ".ssh", "in/../.env", "{root}/.env", "file://{root}/.env"]
)
def test_calls_may_not_name_hidden_files(server: Server, path: str) -> None:
    root = server.mason.folder / "data"
    write(
        root, {".env": "word\ntopsecret\n", "in/.secret/words.csv": "word\ntopsecret\n", ".ssh/id.csv": "topsecret\n"}
    )
    asked = path.format(root=root)
    database = {"database_name": "shop"}
    merged = server.post("/api/table/merge", json={"input_path": "in", "output_path": "hidden_test"})
    assert merged.status_code == 200, merged.text
    before = {each: each.read_bytes() for each in root.rglob("*") if each.is_file() and each.name != "lock"}
    for command, body in (
        ("preview", {"path": asked}),
        ("infer", {**database, "storage_path": asked, "table_name": "stolen"}),
        ("merge", {"input_path": asked, "output_path": "stolen"}),
        ("merge", {"input_path": "in", "output_path": asked}),
        ("format", {"path": "in", "format": "csv", "output_path": asked}),
        ("dedupe", {"path": "in", "keys": ["id"], "output_path": "stolen", "removed_path": asked}),
        ("check", {"path": "in", "checks": ["not_null id"], "failures_path": asked}),
        ("diff", {"path": "in", "other_path": asked, "keys": ["id"]}),
        ("explode", {"path": "in", "output_path": asked}),
        ("query", {**database, "query_string": "select * from orders", "output_path": asked}),
        ("summarize", {"path": "in", "output_path": asked}),
        ("summarize", {"path": "in", "html": asked, "overwrite": True}),
        ("quarantine", {"path": "hidden_test", "action": "export", "file": asked, "overwrite": True}),
        ("quarantine", {"path": "hidden_test", "action": "replay", "file": asked}),
        ("history", {"path": asked}),
        ("rollback", {"path": asked, "to": "1"}),
        ("vacuum", {"path": asked}),
    ):
        reply = server.post(f"/api/table/{command}", json=body)
        assert reply.status_code == 400, (command, reply.text)
        assert "is a hidden name" in reply.text, (command, reply.text)
        assert "topsecret" not in reply.text
    for each, content in before.items():
        assert each.read_bytes() == content
    assert not (root / "stolen").exists()


def test_a_hidden_folder_is_no_database(server: Server) -> None:
    write(server.mason.folder / "data", {".ssh/id.csv": "word\ntopsecret\n"})
    for reply in (
        server.get("/api/tables", params={"database_name": ".ssh"}),
        server.get("/api/table/id", params={"database_name": ".ssh"}),
        server.post("/api/table/query", json={"database_name": ".ssh", "query_string": "select * from id"}),
    ):
        assert reply.status_code == 400, reply.text
        assert "is a hidden name" in reply.text


def test_a_link_that_leads_to_a_hidden_name_was_made_by_who_runs_the_server(server: Server) -> None:
    """So are the files of a volume of Kubernetes: links to `..data`."""
    data = server.mason.folder / "data"
    write(data, {"mounted/..2026/a.csv": "id\n1\n"})
    (data / "mounted" / "a.csv").symlink_to("..2026/a.csv")

    reply = server.post("/api/table/preview", json={"path": "mounted/a.csv"})

    assert reply.status_code == 200, reply.text
