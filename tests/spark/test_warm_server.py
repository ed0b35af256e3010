"""Commands on one warm server: what a user sees, and what nobody may see."""

from __future__ import annotations

import json
import signal
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.spark.job import run_query
from mason.clients.spark.results import Streamed
from mason.clients.spark.runners.local import LocalRunner
from mason.clients.spark.server.record import TOKEN
from mason.clients.spark.settings import RunnerSettings
from mason.errors import InvalidParameters, UnreadableFile
from mason.pipeline.sql.query import SqlQuery
from mason.pipeline.work.tasks import without_beats
from tests.spark.conftest import Commands, eventually

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@pytest.fixture(scope="module")
def runner(commands: Commands) -> Iterator[LocalRunner]:
    runner = LocalRunner(RunnerSettings(warm="always"))
    yield runner
    runner.close()


def test_every_task_yields_its_own_result(runner: LocalRunner) -> None:
    tasks = [f"task {number}".encode() for number in range(200)]

    results = dict(without_beats(runner.run("spark_kernels:echo", tasks)))

    assert results == {number: b"done " + task for number, task in enumerate(tasks)}


def test_no_tasks_are_no_work(runner: LocalRunner) -> None:
    assert list(runner.run("spark_kernels:echo", [])) == []


def test_large_tasks_and_any_bytes_arrive_whole(runner: LocalRunner) -> None:
    tasks = [bytes(range(256)) * 8000, b"", b"\0"]

    assert dict(without_beats(runner.run("spark_kernels:echo", tasks))) == {
        n: b"done " + task for n, task in enumerate(tasks)
    }


def test_an_error_of_masons_comes_back_as_it_was_raised(runner: LocalRunner) -> None:
    with pytest.raises(UnreadableFile, match=r"^a\.csv: it is torn Mend it\.$"):
        list(runner.run("spark_kernels:unreadable", [b"a.csv"]))
    with pytest.raises(InvalidParameters) as raised:
        list(runner.run("spark_kernels:two_problems", [b""]))
    assert list(raised.value.messages) == ["no input", "no output"]


def test_a_bug_comes_back_with_the_traceback_of_the_task(runner: LocalRunner) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug") as raised:
        list(runner.run("spark_kernels:bug", [b""]))
    assert "spark_kernels.py" in raised.value.__notes__[0]


def test_what_failed_once_is_tried_again(runner: LocalRunner, tmp_path: Path) -> None:
    assert dict(without_beats(runner.run("spark_kernels:flaky", [bytes(tmp_path / "flaky")]))) == {0: b"well"}
    assert dict(without_beats(runner.run("spark_kernels:killed_once", [bytes(tmp_path / "killed")]))) == {0: b"alive"}


def test_closing_the_results_interrupts_the_job(runner: LocalRunner, tmp_path: Path) -> None:
    notes = [tmp_path / f"note {number}" for number in range(16)]
    results = runner.run("spark_kernels:note_and_sleep", [bytes(note) for note in notes])
    next(without_beats(results))

    results.close()  # type: ignore[attr-defined]

    begun = [note for note in notes if note.exists()]
    assert len(begun) < len(notes), "no task that waited is begun any more"


def test_a_job_that_reaches_spark_after_it_was_told_to_stop_is_interrupted(runner: LocalRunner) -> None:
    list(runner.run("spark_kernels:echo", [b"x"]))
    assert runner._held
    endless = "select count(*) from range(1000000000) a cross join range(1000000000) b where a.id + b.id > 7"
    before = set(threading.enumerate())
    events = run_query(runner._held.spark, SqlQuery(statement=endless, tables=[]).to_bytes(), Late)
    assert next(events) is None, "a beat, and the query is not sent yet"

    events.close()  # type: ignore[attr-defined]

    left = set(threading.enumerate()) - before
    assert [thread for thread in left if thread.name.startswith("mason-")] == []
    assert dict(without_beats(runner.run("spark_kernels:echo", [b"x"]))) == {0: b"done x"}


class Late(Streamed):
    """Results that are asked for late, as on a busy machine."""

    def fetch_rows(self, frame: DataFrame, tag: str, most_bytes: int | None = None) -> pa.Table:
        time.sleep(2)
        return super().fetch_rows(frame, tag, most_bytes)


def test_two_commands_at_once_share_the_server_and_have_sessions_of_their_own(
    commands: Commands, tmp_path: Path
) -> None:
    commands("echo", "x")
    before = commands.sessions_in_use()
    both = [commands.start("wait_for", str(tmp_path / "both")) for _ in range(2)]
    eventually(lambda: commands.sessions_in_use() == before + 2, 120)
    (tmp_path / "both").touch()
    first, second = map(commands.finished, both)

    assert first["server"] == second["server"]
    assert first["session"] != second["session"]
    assert commands("echo", "x")["session"] in (first["session"], second["session"]), "a session is used again"


def test_a_command_that_was_killed_gives_its_session_back_and_its_job_is_given_up(
    commands: Commands, runner: LocalRunner, tmp_path: Path
) -> None:
    list(runner.run("spark_kernels:echo", [b"x"]))
    notes = [tmp_path / f"note {number}" for number in range(16)]
    killed = commands.start("note_and_sleep", *map(str, notes))
    eventually(lambda: notes[0].exists())
    killed.kill()
    killed.communicate()

    assert commands("echo", "x")["results"] == [[0, "done x"]]
    assert not notes[-1].exists(), "what still waited is not begun any more"


def test_ctrl_c_interrupts_the_job(commands: Commands, tmp_path: Path) -> None:
    notes = [tmp_path / f"note {number}" for number in range(16)]
    command = commands.start("note_and_sleep", *map(str, notes))
    eventually(lambda: notes[0].exists())

    command.send_signal(signal.SIGINT)

    assert "KeyboardInterrupt" in command.communicate(timeout=60)[1]
    assert not notes[-1].exists()
    assert commands("echo", "x")["results"] == [[0, "done x"]]


def test_another_process_sees_the_rows_that_were_appended_and_replaced(commands: Commands, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2]}), folder / "1.parquet")
    first = commands("count", str(folder))
    pq.write_table(pa.table({"a": [3]}), folder / "2.parquet")
    appended = commands("count", str(folder))
    for file in folder.iterdir():
        file.unlink()
    pq.write_table(pa.table({"a": [4, 5, 6, 7]}), folder / "3.parquet")
    replaced = commands("count", str(folder))

    assert [first["rows"], appended["rows"], replaced["rows"]] == [2, 3, 4]
    assert first["session"] == appended["session"] == replaced["session"], "the very case that a cached plan breaks"


def test_the_token_is_in_no_argument_and_no_log_and_nobody_else_can_read_it(commands: Commands) -> None:
    commands("echo", "x")
    (server,) = commands.servers()
    folder = commands.folder(server)
    token = (folder / TOKEN).read_text(encoding="utf-8")

    assert len(token) > 30
    for process in (server.server, server.keeper):
        assert token not in Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8")
    for file in folder.iterdir():
        assert file.name == TOKEN or token not in file.read_text(encoding="utf-8")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_of_the_environment_reaches_the_server_but_what_spark_needs(commands: Commands) -> None:
    commands.mason("stop")
    told = commands("whereabouts", "x", AWS_SECRET_ACCESS_KEY="s3cret", DATABASE_PASSWORD="pa55word")

    (server,) = commands.servers()
    environment = Path(f"/proc/{server.server.pid}/environ").read_text(encoding="utf-8")
    assert "s3cret" not in environment and "pa55word" not in environment
    assert "AWS_SECRET_ACCESS_KEY" not in json.loads(told["results"][0][1])["variables"]


def test_only_this_machine_can_reach_the_server(commands: Commands) -> None:
    commands("echo", "x")
    (server,) = commands.servers()
    tables = [Path(f"/proc/{server.server.pid}/net/{name}").read_text(encoding="ascii") for name in ("tcp", "tcp6")]
    addresses = [line.split()[1] for table in tables for line in table.splitlines()[1:]]

    of_port = {address.split(":")[0] for address in addresses if address.endswith(f":{server.port:04X}")}
    assert of_port and of_port <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_status_shows_the_server_and_stop_stops_it(commands: Commands) -> None:
    told = commands("echo", "x")

    (shown,) = json.loads(commands.mason("status", "--json"))["Data"]
    assert shown["pid"] == told["server"]
    assert shown["key"] == told["key"]
    assert str(told["server"]) in commands.mason("status")
    assert str(told["server"]) in commands.mason("stop")
    assert not Path(f"/proc/{told['server']}").exists()
    assert commands.mason("status") == "none\n"
    assert commands.mason("stop") == "none\n"
    assert commands.servers() == []
