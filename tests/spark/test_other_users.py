"""What another user of the machine gets from a Spark that Mason started: nothing."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import connect_server
from tests.spark.conftest import KERNELS, PROJECT, Commands

BROADCAST = "select /*+ broadcast(b) */ count(*) as n from range(10) a join range(10) b on a.id = b.id"
FIRST_BLOCKS = [f"broadcast_{number}_piece0" for number in range(12)]
UP = "/artifacts" + "/.." * 20


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.touch(mode=0o600)
    file.write_text("canary")
    return file


def test_another_user_gets_no_block_no_file_and_no_socket_of_the_warm_server(commands: Commands, secret: Path) -> None:
    commands("echo", "x")
    commands("query", BROADCAST)
    (server,) = commands.servers()

    answers = ask_as_another_user(questions(server.server.pid, secret, server.scratch))

    assert not [answer for answer in answers.items() if "GOT" in answer[1]]
    assert answers[f"ask_connect {server.port}"] == "UNAUTHENTICATED"
    assert len([key for key in answers if key.startswith("open_file")]) == 3, "Connect, the driver and its blocks"
    assert [key for key in answers if key.startswith("reach")], "the daemon of Python's workers listens, too"


_IN_PROCESS = f"""
import json, sys, tempfile
from mason.clients.spark.in_process import InProcessRunner
from mason.clients.spark.settings import RunnerSettings
from mason.pipeline.sql.query import SqlQuery, fetch_rows
runner = InProcessRunner(RunnerSettings())
list(runner.run("spark_kernels:echo", [b"x"]))
fetch_rows(runner, SqlQuery(statement={BROADCAST!r}, tables=[]))
from pyspark import SparkContext
conf = SparkContext._active_spark_context.getConf()
print(json.dumps([SparkContext._gateway.proc.pid, conf.get("spark.local.dir")]), flush=True)
sys.stdin.readline()
"""


def test_another_user_gets_nothing_from_the_spark_of_a_process_either(secret: Path) -> None:
    path = os.pathsep.join(map(str, (PROJECT, KERNELS)))
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_PROCESS],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    jvm, scratch = json.loads(process.stdout.readline())

    asked = [*questions(jvm, secret, scratch), *questions(process.pid, secret, scratch)]
    answers = ask_as_another_user(asked)

    process.communicate("\n", timeout=60)
    assert not [answer for answer in answers.items() if "GOT" in answer[1]]
    assert len([key for key in answers if key.startswith("ask_gateway")]) == 3, "Python's door, the driver, its blocks"
    assert not Path(scratch).exists(), "nothing is left behind"


def test_whoever_asks_so_gets_blocks_and_files_from_a_spark_without_authentication(
    tmp_path: Path, secret: Path
) -> None:
    """The questions are the right ones: a Spark that Mason did not start answers them."""
    from mason.clients.spark.connection import close_session, open_session

    with connect_server(tmp_path) as port:
        session = open_session(f"sc://localhost:{port}", retries=3)
        session.sql(BROADCAST).collect()
        answers = ask_as_another_user(questions(_server_of(port), secret, str(tmp_path)))
        close_session(session)

    assert "GOT canary" in answers.values(), answers
    assert [answer for key, answer in answers.items() if key.startswith("fetch_blocks") and "GOT" in answer]
    assert answers[f"ask_connect {port}"].startswith("GOT")


def questions(process: int, secret: Path, scratch: str) -> list[list[Any]]:
    """Everything that can be asked of the ports and sockets of a process and its children."""
    ports, sockets = listeners(_with_children(process))
    return [
        *(["fetch_blocks", port, *FIRST_BLOCKS] for port in ports),
        *(["open_file", port, f"{UP}{secret}"] for port in ports),
        *(["ask_connect", port] for port in ports),
        *(["ask_gateway", port] for port in ports),
        *(["reach", path] for path in sockets),
        ["read", scratch],
        ["read", str(secret)],
    ]


def ask_as_another_user(asked: list[list[Any]]) -> dict[str, str]:
    """Return the answers by their questions."""
    if os.getuid() != 0:
        why = "only root can become another user of the machine"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    uid = pwd.getpwnam("nobody").pw_uid
    done = subprocess.run(
        [sys.executable, str(KERNELS / "other_user.py"), str(uid)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return {
        " ".join(map(str, question)): answer for question, answer in zip(asked, json.loads(done.stdout), strict=True)
    }


def listeners(processes: Iterable[int]) -> tuple[list[int], list[str]]:
    """Return the ports and the sockets in the file system at which processes listen."""
    mine = {inode for process in processes for inode in _sockets_of(process)}
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    ports = {int(each[1].rpartition(":")[2], 16) for each in lines if each[3] == "0A" and each[9] in mine}
    unix = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return sorted(ports), sorted({each[7] for each in unix if len(each) > 7 and each[6] in mine and each[7][0] == "/"})


def _sockets_of(process: int) -> Iterator[str]:
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:  # it was closed just now
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def _threads(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/task").iterdir())
    except FileNotFoundError:
        return []


def _with_children(process: int) -> list[int]:
    found = [process]
    for each in found:
        for thread in _threads(each):
            try:
                found += map(int, (thread / "children").read_text().split())
            except FileNotFoundError:  # it ended just now
                continue
    return found


def _server_of(port: int) -> int:
    """The process that listens at a port."""
    for folder in Path("/proc").iterdir():
        is_java = folder.name.isdigit() and (folder / "comm").read_text().strip() == "java"
        if is_java and port in listeners([int(folder.name)])[0]:
            return int(folder.name)
    raise AssertionError(f"nobody listens at {port}")
