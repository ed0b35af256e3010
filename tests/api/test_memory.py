"""What one call may take of a server's memory: values made of constants, answers, and fields of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Start
from tests.api.support import Server, prepared
from tests.conftest import Mason

SHOP = {"database_name": "shop"}
LARGE = "select repeat('abcdefgh', 20000) r from orders"
"""Three rows of 160,000 bytes."""


def asked(server: Server, statement: str, **more: Any) -> tuple[int, dict[str, Any]]:
    body = {**SHOP, "query_string": statement, **more}
    reply = server.post("/api/table/query", json=body, params={"config_id": "files", "wait": "60"})
    return reply.status_code, reply.json()


def megabytes(server: Server) -> int:
    """The most memory that the server has had."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) // 1000


@pytest.mark.parametrize(
    ("statement", "function"),
    [
        ("select repeat('a', 2000000000) r from orders limit 1", "repeat"),
        ("select repeat(repeat('a', 100000), 100000) r from orders limit 1", "repeat"),
        ("select rpad(id, 2000000000, 'x') r from orders limit 1", "rpad"),
        ("select size(sequence(1, 2000000000)) r from orders limit 1", "sequence"),
    ],
)
def test_a_value_that_constants_make_too_large_is_refused_before_anything_is_read(
    server: Server, statement: str, function: str
) -> None:
    for _ in range(3):
        status, said = asked(server, statement)
        assert status == 422
        assert f"{function}(…) can make a value of" in said["Errors"][0]
        assert "here a value has at most 256,000,000" in said["Errors"][0]

    assert megabytes(server) < 700
    assert server.get("/readyz").status_code == 200


def test_a_parameter_makes_no_larger_value_than_a_constant(server: Server) -> None:
    status, said = asked(server, "select repeat('a', :n) r from orders", parameters={"n": 2_000_000_000})

    assert status == 422
    assert "repeat(…) can make a value of 2,000,000,000 bytes" in said["Errors"][0]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that gives and reads little."""
    root = tmp_path_factory.mktemp("small")
    mason = prepared(root / "work", root / "home")
    (mason.home / "settings.yaml").write_text("result_bytes: 300kB\nfield_bytes: 100kB\n")
    running = Server(mason).start()
    yield running
    running.kill()


def test_an_answer_of_too_many_bytes_is_refused_and_a_table_of_it_is_not(small: Server) -> None:
    status, said = asked(small, LARGE)
    assert status == 422
    assert said["Errors"][0].startswith("The answer has more than 300,000 bytes, which is the most that is given here.")
    assert "output_path" in said["Errors"][0]

    status, said = asked(small, f"{LARGE} where id = 1")
    assert (status, len(said["Data"][0]["Rows"])) == (200, 1)
    status, said = asked(small, LARGE, output_path="large")
    assert (status, said["Data"][0]["RowsOut"]) == (200, 3)


def test_a_query_that_fails_says_why_under_a_limit_as_without_one(small: Server) -> None:
    status, said = asked(small, "select id / (id - 2) r from orders")

    assert status == 422
    assert "zero" in said["Errors"][0].lower()


def test_a_preview_of_too_many_bytes_is_refused(small: Server) -> None:
    rows = "".join(json.dumps({"id": number, "note": "x" * 90_000}) + "\n" for number in range(5))
    folder = small.mason.folder / "data" / "shop" / "notes"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text(rows)

    query = {**SHOP, "config_id": "files"}
    assert small.get("/api/table/notes/preview", params={**query, "limit": "2"}).status_code == 200
    reply = small.get("/api/table/notes/preview", params=query)
    assert reply.status_code == 422
    assert "more than 300,000 bytes" in reply.json()["Errors"][0]


def test_a_field_that_is_too_long_goes_to_the_quarantine_also_out_of_a_compressed_file(small: Server) -> None:
    folder = small.mason.folder / "data" / "long"
    folder.mkdir()
    (folder / "a.csv.gz").write_bytes(gzip.compress(b'id,note\n1,a\n2,"' + b"x" * 20_000_000 + b'"\n3,c\n'))

    body = {"input_path": "long", "output_path": "merged"}
    reply = small.post("/api/table/merge", json=body, params={"config_id": "files", "wait": "60"})

    assert reply.status_code == 200, reply.text
    done = reply.json()["Data"][0]
    assert (done["RowsIn"], done["RowsOut"], done["RowsQuarantined"]) == (3, 2, 1)
    reply = small.post("/api/table/quarantine", json={"path": "merged"}, params={"config_id": "files", "wait": "60"})
    assert "(field_bytes)" in reply.text


def test_neither_a_command_nor_a_connection_of_ones_own_is_limited(
    small: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = f'database_name:shop,query_string:"{LARGE}"'
    said = small.mason("operator", "table", "query", "-c", "files", "-p", given).json
    assert (said["Errors"], len(said["Data"][0]["Rows"])) == ([], 3)

    import mason

    monkeypatch.setenv("MASON_HOME", str(small.mason.home))
    with mason.connect(config="files") as connection:
        response = connection.operator("table", "query", database_name="shop", query_string=LARGE)
    assert len(response.data[0]["Rows"]) == 3


def test_a_variable_wins_and_off_is_no_limit(start: Start) -> None:
    server = start(MASON_RESULT_BYTES="off")

    assert asked(server, LARGE)[0] == 200


def test_a_limit_that_is_none_is_told_before_there_is_a_server(tmp_path: Path) -> None:
    mason: Mason = prepared(tmp_path / "work", tmp_path / "home")

    for given in ("much", "-5", "1"):
        said = mason("run", "--port", "0", variables={"MASON_FIELD_BYTES": given})
        assert said.exit_code == 1
        assert f'MASON_FIELD_BYTES: "{given}" is not a limit of bytes.' in said.stderr
