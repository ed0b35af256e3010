"""Calls that take too much, never end, or take their process with them: the server lives on and says what happened."""

from __future__ import annotations

import gzip
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mason.configurations.saved import read_configurations, save_configurations
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.util.yaml_file import parse_yaml
from tests.api.conftest import Start
from tests.api.support import Server, children_of, is_alive, operator, prepared, until
from tests.conftest import EXAMPLES, Mason

MEMORY = 700_000_000
ENDED = f"table:query wanted more memory than a call may have here ({MEMORY:,} bytes), and was ended."


def define(folder: Path, command: str, body: str, parameters: str = "") -> None:
    operator(folder, "wild", command, body, parameters=parameters, swagger=f"paths:\n  /wild/{command}:\n    post:\n")


def wild_operators(folder: Path) -> Path:
    """Write operators that nobody should run without limits."""
    begin = "import os, pathlib, subprocess, sys, time\n"
    define(folder, "where", f'{begin}resp.add_data({{"pid": os.getpid()}})')
    define(folder, "peek", f'{begin}resp.add_data({{"token": os.environ.get("MASON_TOKEN", "")}})')
    hang = 'resp.add_info("It hangs.")\npathlib.Path("hangs").write_text(str(os.getpid()))\ntime.sleep(600)'
    define(folder, "hang", f"{begin}{hang}")
    deaf = (
        f'{begin}import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\npathlib.Path("deaf").touch()\n'
        "while True:\n    time.sleep(1)"
    )
    define(folder, "deaf", deaf)
    define(folder, "shout", f'{begin}for _ in range(160_000):\n    os.write(1, b"x" * 65_535 + b"\\n")')
    define(
        folder,
        "breed",
        f'{begin}born = [subprocess.Popen(["sleep", "601.5"]) for _ in range(500)]\ntime.sleep(20)',
    )
    define(folder, "take", f'{begin}taken = b"x" * 5_000_000_000\nresp.add_info(str(len(taken)))')
    grow = r"""
import resource
pathlib.Path("limit").write_text(str(resource.getrlimit(resource.RLIMIT_AS)[0]))
taken = []
for _ in range(200):
    taken.append(b"x" * 10_000_000)
    time.sleep(0.03)
"""
    define(folder, "grow", f"{begin}{grow.strip()}")
    shout_and_crash = r"""
for _ in range(40):
    os.write(1, b"x" * 65_535 + b"\n")
os.write(2, b'Traceback (most recent call last):\n  File "/home/me/x.py", line 1\nValueError: my last words')
os._exit(7)
"""
    define(folder, "crash", f"{begin}{shout_and_crash.strip()}")
    babble = (
        f"{begin}import socket, stat\nfor each in range(3, 60):\n    try:\n"
        "        if stat.S_ISSOCK(os.fstat(each).st_mode):\n            os.write(each, b'\\0\\0\\0\\5hello')\n"
        "    except OSError:\n        pass\ntime.sleep(30)"
    )
    define(folder, "babble", babble)
    define(folder, "abort", f"{begin}os.abort()")
    define(
        folder,
        "secret",
        f'{begin}pathlib.Path("secretive").touch()\ntime.sleep(600)',
        parameters="parameters:\n  required:\n    - {name: password, type: secret}\n",
    )
    return folder


def prepare(root: Path) -> Mason:
    mason = prepared(root / "work", root / "home")
    env = MasonEnvironment(mason.home)
    found = read_definitions(wild_operators(mason.folder / "wild"), [OPERATORS])
    register(env, open_state(env), found.valid, replace=False)
    (mason.folder / "sparky.yaml").write_text(_SPARKY)
    save_configurations(env, read_configurations(mason.folder / "sparky.yaml").valid)
    return mason


_SPARKY = """\
id: sparky
metastore_engine: local
storage_engine: local
execution_engine: spark
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    variables = {"MASON_CALL_MEMORY": str(MEMORY), "MASON_CALL_PROCESSES": "100", "MASON_FIELD_BYTES": "off"}
    running = Server(prepare(tmp_path_factory.mktemp("wild")), ("--jobs", "2"), variables).start()
    yield running
    running.kill()


def ask(server: Server, path: str, wait: int = 60, **body: Any) -> tuple[int, dict[str, Any]]:
    reply = server.post(path, json=body, params={"config_id": "files", "wait": wait})
    return reply.status_code, reply.json()


def begin(server: Server, path: str, **body: Any) -> str:
    status, said = ask(server, path, 0, **body)
    assert status == 202, said
    job: str = said["Data"][0]["JobID"]
    return job


def resident(server: Server) -> int:
    assert server.process is not None
    words = Path(f"/proc/{server.process.pid}/statm").read_text().split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "statement",
    [
        "select repeat('a', cast(id * 700000000 as int)) r from orders",
        "select size(sequence(1, id * 1000000000)) r from orders",
        "select length(rpad('a', cast(id * 700000000 as int), 'x')) r from orders",
        "select count(*) n from (select explode(sequence(1, id * 1000000000)) e from orders) group by e",
    ],
    ids=["repeat", "sequence", "rpad", "groups"],
)
def test_a_query_that_wants_all_memory_ends_with_its_name_and_the_server_stays_small(
    server: Server, statement: str
) -> None:
    before = resident(server)

    status, said = ask(server, "/api/table/query", database_name="shop", query_string=statement)

    assert (status, said["Errors"][0].partition(" Ask")[0]) == (422, ENDED)
    assert resident(server) < before + 100_000_000
    assert ask(server, "/api/table/query", database_name="shop", query_string="select 1 as x from orders")[0] == 200


def test_a_field_of_a_gigabyte_ends_its_call_and_not_the_server(server: Server) -> None:
    file = server.mason.folder / "data" / "bomb" / "a.csv.gz"
    file.parent.mkdir()
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write(b"id,text\n1,")
        for _ in range(1000):
            stream.write(b"x" * 1_000_000)
        stream.write(b"\n")
    before = resident(server)

    status, said = ask(server, "/api/table/merge", input_path="bomb", output_path="bombed")

    assert (status, said["Errors"][0].partition(" (")[0]) == (
        422,
        "table:merge wanted more memory than a call may have here",
    )
    assert resident(server) < before + 100_000_000
    assert not (server.mason.folder / "data" / "bombed").exists()


def test_an_operator_that_takes_memory_by_itself_is_ended_the_same_way(server: Server) -> None:
    status, said = ask(server, "/api/wild/take")
    assert (status, said["Errors"][0].partition(" (")[0]) == (
        422,
        "wild:take wanted more memory than a call may have here",
    )


def test_where_java_may_be_started_what_is_in_use_is_watched(server: Server) -> None:
    """Java takes far more addresses than memory, so that a limit of addresses would say nothing."""
    reply = server.post("/api/wild/grow", json={}, params={"config_id": "sparky", "wait": 60})

    assert (reply.status_code, reply.json()["Errors"][0].partition(" Ask")[0]) == (
        422,
        f"wild:grow wanted more memory than a call may have here ({MEMORY:,} bytes), and was ended.",
    )
    assert (server.mason.folder / "limit").read_text() == "-1"


def test_an_operator_that_starts_five_hundred_processes_ends_with_all_of_them(server: Server) -> None:
    status, said = ask(server, "/api/wild/breed")

    assert status == 422
    assert said["Errors"][0].startswith("wild:breed started more processes than a call may here (100)")
    assert not sleepers()


def sleepers() -> list[Path]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if line.read_bytes() == b"sleep\x00601.5\x00" and is_alive(int(line.parent.name)):
                found.append(line)
        except OSError:
            continue
    return found


def test_without_a_limit_as_many_processes_run_as_were_started(tmp_path: Path) -> None:
    """The watch is what ends them: where it may not count, they live."""
    server = Server(prepare(tmp_path), (), {"MASON_CALL_PROCESSES": "off"}).start()
    job = begin(server, "/api/wild/breed")
    until(lambda: len(sleepers()) == 500, "all were started", 60)
    assert server.job(job)["Status"] == "running"

    server.kill()

    until(lambda: not sleepers(), "all end with the server")


def test_an_operator_that_never_returns_is_cancelled(server: Server) -> None:
    job = begin(server, "/api/wild/hang")
    until((server.mason.folder / "hangs").exists, "it hangs")

    ask(server, f"/api/job/{job}/cancel")

    assert server.wait_for_job(job, "cancelled")["Error"]
    until(lambda: not is_alive(int((server.mason.folder / "hangs").read_text())), "its process is gone")


def test_an_operator_that_hears_of_nothing_is_killed(server: Server) -> None:
    job = begin(server, "/api/wild/deaf")
    until((server.mason.folder / "deaf").exists, "it has begun")

    ask(server, f"/api/job/{job}/cancel")

    ended = server.wait_for_job(job, "cancelled")
    assert ended["Error"] == "The job was cancelled. It did not end by itself, and its process was killed."


def test_an_operator_that_takes_longer_than_it_may_is_ended(tmp_path: Path) -> None:
    server = Server(prepare(tmp_path), (), {"MASON_CALL_SECONDS": "2"}).start()
    try:
        status, said = ask(server, "/api/wild/hang")
    finally:
        server.kill()
    assert status == 422
    assert said["Errors"][0].startswith("wild:hang took longer than a call may here (2 s), and was ended.")


def test_of_ten_gigabytes_that_an_operator_prints_the_beginning_is_logged(server: Server) -> None:
    before, logged = resident(server), server.log_file.stat().st_size

    status, said = ask(server, "/api/wild/shout")

    assert (status, said["Errors"]) == (200, [])
    assert resident(server) < before + 100_000_000
    assert server.log_file.stat().st_size - logged < 3_000_000
    server.wait_for_log("which are left out here")


def test_a_process_that_ends_by_itself_is_told_of_with_its_last_words(server: Server) -> None:
    status, said = ask(server, "/api/wild/crash")
    [error] = said["Errors"]
    assert status == 502
    assert error.startswith("The process that ran wild:crash ended with the exit code 7. It said last:\n  xxx")
    assert error.endswith("xxx\n  ValueError: my last words")  # though it has said more than is logged
    assert "x.py" not in error
    status, said = ask(server, "/api/wild/abort")
    assert said["Errors"] == ["The process that ran wild:abort ended by the signal 6."]


def test_an_operator_that_writes_to_the_connection_of_its_process_fails_alone(server: Server) -> None:
    status, said = ask(server, "/api/wild/babble")
    assert (status, said["Errors"]) == (502, ["The process that ran wild:babble talked nonsense."])
    assert ask(server, "/api/wild/where")[0] == 200


def test_a_process_that_the_kernel_kills_was_out_of_memory(server: Server) -> None:
    (server.mason.folder / "hangs").unlink(missing_ok=True)
    job = begin(server, "/api/wild/hang")
    until((server.mason.folder / "hangs").exists, "it hangs")
    until(lambda: server.job(job).get("Log", [""])[-1].endswith(" It hangs."), "what it says is told while it runs")

    os.kill(int((server.mason.folder / "hangs").read_text()), signal.SIGKILL)

    ended = server.wait_for_job(job, "failed")
    assert ended["Error"].startswith(
        f"wild:hang wanted more memory than a call may have here ({MEMORY:,} bytes), and was ended."
    )
    assert ended["Log"][-1].endswith(" It hangs.")


def test_no_argument_and_no_environment_of_any_process_has_a_secret(server: Server) -> None:
    assert server.process is not None
    job = begin(server, "/api/wild/secret", password="open-sesame-1001")
    until((server.mason.folder / "secretive").exists, "it knows the secret")

    family = [server.process.pid, *children_of(server.process.pid)]
    shown = [Path(f"/proc/{each}/{what}").read_bytes() for each in family for what in ("cmdline", "environ")]

    assert len(family) > 2
    assert not [each for each in shown if b"open-sesame" in each]
    ask(server, f"/api/job/{job}/cancel")
    server.wait_for_job(job, "cancelled")


def test_the_token_of_the_server_is_not_in_the_environment_of_a_call(tmp_path: Path) -> None:
    token = "for-the-server-alone-0123456789"
    server = Server(prepare(tmp_path), (), {"MASON_TOKEN": token}).start()
    try:
        reply = server.post("/api/wild/peek", json={}, headers={"Authorization": f"Bearer {token}"})
    finally:
        server.kill()
    assert (reply.status_code, reply.json()["Data"]) == (200, [{"token": ""}])


def test_code_of_others_has_a_process_for_each_call_and_mason_s_own_is_used_again(server: Server) -> None:
    pids = [ask(server, "/api/wild/where")[1]["Data"][0]["pid"] for _ in range(3)]
    assert server.process is not None
    assert len(set(pids)) == 3
    assert server.process.pid not in pids
    until(lambda: not any(map(is_alive, pids)), "they end with their call")

    def query() -> set[int]:
        ask(server, "/api/table/query", database_name="shop", query_string="select 1 as x from orders")
        assert server.process is not None
        return set(children_of(server.process.pid))

    query()
    assert query() == query()


def test_no_process_that_is_used_again_was_given_a_secret() -> None:
    """Only operators that come with Mason leave their process to the next call, and none of them takes a secret."""
    definitions = sorted((EXAMPLES / "operators").glob("*/*/operator.yaml"))
    specs = [OperatorSpec.of(parse_yaml(each.read_text(), name=str(each)).value) for each in definitions]

    assert len(specs) > 20
    assert [each for spec in specs for each in spec.parameters.all if each.type == "secret"] == []


def test_what_others_import_is_not_imported_into_the_server(tmp_path: Path) -> None:
    mason = prepared(tmp_path / "work", tmp_path / "home")
    note = tmp_path / "imported"
    define(tmp_path / "wild", "imports", "pass")
    source = tmp_path / "wild" / "imports" / "__init__.py"
    source = next((tmp_path / "wild").rglob("__init__.py"))
    source.write_text(f"import os\nopen({str(note)!r}, 'a').write(f'{{os.getpid()}} ')\n{source.read_text()}")
    env = MasonEnvironment(mason.home)
    register(env, open_state(env), read_definitions(tmp_path / "wild", [OPERATORS]).valid, replace=False)
    server = Server(mason).start()
    try:
        assert ask(server, "/api/wild/imports")[0] == 200
    finally:
        server.kill()
    assert server.process is not None
    assert str(server.process.pid) not in note.read_text().split()


def test_children_end_with_a_server_that_is_killed(start: Start) -> None:
    server = start()
    begin(server, "/api/test/until", file="never")
    assert server.process is not None
    family = children_of(server.process.pid)
    until(lambda: len(children_of(server.process.pid)) >= 2 if server.process else False, "there are children")
    family = children_of(server.process.pid)

    server.kill()

    until(lambda: not any(map(is_alive, family)), "they are gone")


def test_a_limit_that_is_none_is_told_before_there_is_a_server(tmp_path: Path) -> None:
    mason = prepared(tmp_path / "work", tmp_path / "home")
    (mason.home / "settings.yaml").write_text("call_memory: lots\n")
    result = mason("run", "--port", "0")
    assert result.exit_code == 1
    assert 'settings.yaml: call_memory: "lots" is not a limit. Say it as 128MB, 1GB or 64MiB.' in result.stderr
    result = mason("run", "--port", "0", variables={"MASON_CALL_SECONDS": "soon", "MASON_CALL_MEMORY": "1GB"})
    assert 'MASON_CALL_SECONDS: "soon" is not a limit. Say a number from 1 on, or off for no limit.' in result.stderr
