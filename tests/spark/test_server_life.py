"""How a warm server comes and goes: whatever is killed, one server fits and none is left behind."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
from dataclasses import replace
from pathlib import Path

from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.keeper import Keeper, tells_of_deaf_tasks
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.server.record import ServerRecord
from mason.clients.spark.server.runtime import private_folder
from mason.clients.spark.settings import RunnerSettings
from mason.util.processes import ProcessId
from tests.ports import free_port
from tests.spark.conftest import KERNELS, PROJECT, Commands, eventually


def test_a_server_that_was_killed_is_replaced_and_so_is_one_whose_keeper_was_killed(commands: Commands) -> None:
    first = commands("echo", "x")["server"]
    os.kill(first, signal.SIGKILL)
    second = commands("echo", "x")["server"]
    assert second != first

    (server,) = commands.servers()
    server.keeper.send(signal.SIGKILL)
    eventually(lambda: not server.server.alive)

    third = commands("echo", "x")
    assert third["results"] == [[0, "done x"]]
    assert third["server"] != second
    assert not Path(server.scratch).exists(), "what the dead server had on disk is gone"


def test_a_record_of_a_process_id_that_came_round_again_is_noticed(commands: Commands) -> None:
    commands("echo", "x")
    (server,) = commands.servers()
    commands.mason("stop")
    bystander = ProcessId.of(os.getpid())
    for pid in (bystander.pid, 2**22 - 3):
        dead = ProcessId(pid, "1")
        folder = private_folder(commands.folder(server))
        replace(server, server=dead, keeper=dead, scratch="").write(folder)

        assert commands.mason("status") == "none\n"
        assert commands.mason("stop") == "none\n"
        assert bystander.alive, "a process of the same id was left alone"
        replace(server, server=dead, keeper=dead, scratch="").write(folder)

    assert commands("echo", "x")["results"] == [[0, "done x"]]


def test_changed_code_gets_another_server_and_the_old_one_stops(commands: Commands, tmp_path: Path) -> None:
    old = commands("echo", "x")
    (old_server,) = commands.servers()
    shutil.copytree(PROJECT / "mason", tmp_path / "mason", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "mason" / "upgraded.py").write_text('"""More."""\n')
    commands.path = [tmp_path, KERNELS]

    new = commands("whereabouts", "x")

    assert new["key"] != old["key"]
    assert str(tmp_path) in new["results"][0][1], "the workers run the new code"
    eventually(lambda: not old_server.server.alive)
    commands.path = [PROJECT, KERNELS]


def test_an_idle_server_stops_by_itself(commands: Commands) -> None:
    commands.mason("stop")
    commands("echo", "x", MASON_SPARK_IDLE_MINUTES="0.2")
    (server,) = commands.servers()

    eventually(lambda: not server.server.alive and not server.keeper.alive)
    assert commands.servers() == []


def test_a_server_whose_tasks_do_not_hear_that_they_are_cancelled_is_replaced(commands: Commands) -> None:
    commands("echo", "x")
    (server,) = commands.servers()
    busy = cpu_seconds(server.server.pid) + 20  # by then it is past planning and sending the smaller side around
    endless = "select /*+ broadcast(b) */ sum(a.id * b.id % 7) as x from range(1000000) a cross join range(2000000) b"
    command = commands.start("query", endless)
    eventually(lambda: cpu_seconds(server.server.pid) > busy, 120)

    command.send_signal(signal.SIGINT)

    assert "KeyboardInterrupt" in command.communicate(timeout=60)[1]
    eventually(lambda: not server.server.alive)
    log = (commands.folder(server) / "server.log").read_text(encoding="utf-8")
    assert "is still running" in log
    assert commands("echo", "x")["server"] != server.server.pid


def test_a_task_that_takes_its_time_to_end_is_not_taken_for_one_that_does_not_hear() -> None:
    """Spark gives a task in Python two seconds to end by itself; then it says so every two and a half."""
    said = b"WARN Executor: Killed task 7 is still running after %d ms"

    assert not tells_of_deaf_tasks(said % 2_501)
    assert tells_of_deaf_tasks(said % 2_501 + b"\n" + said % 5_002)


def cpu_seconds(pid: int) -> float:
    """How long a process has computed."""
    user, system = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_a_port_that_is_taken_is_left_to_who_has_it(commands: Commands) -> None:
    folder = private_folder(private_folder(commands.runtime / "spark") / "taken")
    launch = Launch.of(RunnerSettings(), java_home())
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        taken = other.getsockname()[1]  # bound, but not listening: only who binds it finds out
        ports = itertools.chain([taken], iter(free_port, None))
        child = os.fork()
        if not child:
            os.environ.update(launch.environment)
            Keeper(folder, "taken", launch.conf, idle_minutes=60).run(lambda: next(ports))
            os._exit(0)
        eventually(lambda: (found := ServerRecord.read(folder)) and found.ready, 180)
    server = ServerRecord.read(folder)
    assert server is not None and server.port != taken
    commands.servers()
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    assert not server.server.alive


def test_when_the_server_cannot_start_the_job_runs_in_the_process_with_one_warning(
    commands: Commands, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    told = commands("echo", "x", "y", MASON_RUNTIME_DIR=str(tmp_path / "file" / "none"))

    assert told["results"] == [[0, "done x"], [1, "done y"]]
    assert "server" not in told
    assert told["stderr"].count("WARNING") == 1
    assert len(told["stderr"].splitlines()) == 1, "a JVM's small talk is not for a terminal"
