"""What one sees who waits for a merge, and what ctrl-C and `job cancel` leave behind; here, and on Spark."""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mason.cli.views.progress_bar import bar_line
from mason.clients.spark.runners import build_runner
from mason.pipeline.driving.job_progress import JobProgress, Tally
from mason.pipeline.work.tasks import Starting, running, without_beats
from mason.state.home import read_state
from mason.state.models import Record, RecordKind
from mason.util.environment import MasonEnvironment
from tests.cli.test_terminal import on_a_terminal
from tests.conftest import Mason, write
from tests.spark.conftest import Commands, commands  # noqa: F401 (the fixture)

ENGINE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: {engine}\nclients:\n{clients}"
SPARK = "  spark:\n    configuration:\n      runner:\n        type: {type}\n        {more}\n"
SMALL = "input_path:small,output_path:out"
LARGE = "input_path:large,output_path:out"
BAR = re.compile(r"\r\x1b\[K\[[#-]+\] +\d+%  \d of 1 task  [^\r\n]+")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mason]:
    root = tmp_path_factory.mktemp("progress")
    mason = Mason(root / "work", root / "home", {"XDG_RUNTIME_DIR": str(root / "runtime")})
    (root / "runtime").mkdir(mode=0o700)
    write(
        mason.folder,
        {
            "small/a.csv": "a,b\n1,x\n2\n",
            "configs/here.yaml": ENGINE.format(engine="local", clients="  local: {configuration: {}}\n"),
            "configs/warm.yaml": ENGINE.format(engine="spark", clients=SPARK.format(type="local", more="warm: always")),
            "configs/cold.yaml": ENGINE.format(engine="spark", clients=SPARK.format(type="local", more="warm: never")),
            "configs/submit.yaml": ENGINE.format(
                engine="spark", clients=SPARK.format(type="submit", more='master: "local[2]"')
            ),
        },
    )
    large = mason.folder / "large"
    large.mkdir()
    text = "".join(f"{number},name {number},{number / 7:.4f}\n" for number in range(400_000))
    (large / "00.csv").write_text(f"a,b,c\n{text}")
    for number in range(1, 24):  # some hundred megabytes to read: links would be read once
        shutil.copyfile(large / "00.csv", large / f"{number:02}.csv")
    assert mason("config", "configs").exit_code == 0
    yield mason.register_examples()
    assert mason("spark", "stop").exit_code == 0


def test_who_waits_at_a_terminal_sees_a_bar_that_is_gone_at_the_end(here: Mason) -> None:
    written = on_a_terminal(here, "operator", "table", "merge", "-c", "here", "-p", SMALL)

    assert BAR.search(written)
    screen = [seen_at_last(line) for line in written.split("\n")]
    assert "2 records in, 1 row out, 1 quarantined: " + str(here.folder / "out") in screen
    assert not [line for line in screen if "of 1 task" in line], "nothing of the bar is left"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_plain_terminal_gets_lines(here: Mason, variables: dict[str, str]) -> None:
    written = on_a_terminal(here, "operator", "table", "merge", "-c", "here", "-p", SMALL, **variables)

    assert "\x1b" not in written and "\r" not in written
    assert "1 of 1 task, 2 records\n" in written


def test_who_asks_for_warnings_alone_gets_no_bar(here: Mason) -> None:
    written = on_a_terminal(here, "operator", "table", "merge", "-l", "warning", "-c", "here", "-p", SMALL)

    assert "\r" not in written and "of 1 task" not in written


def test_a_pipe_gets_lines(here: Mason) -> None:
    result = here("operator", "table", "merge", "-c", "here", "-p", SMALL)

    assert "1 of 1 task, 2 records\n" in result.stderr
    assert "\r" not in result.stderr


def test_a_bar_fits_its_terminal_and_leaves_out_what_has_no_room() -> None:
    half = JobProgress(
        done=8,
        tasks=16,
        records=4_812_330,
        bytes_done=500_000_000,
        bytes=1_000_000_000,
        seconds=5.0,
        seconds_of_done=4.0,
    )

    assert bar_line(half, 100) == (
        "[" + "#" * 15 + "-" * 15 + "]  50%  8 of 16 tasks  3 s left  4,812,330 records  0.5 of 1.0 GB"
    )
    assert bar_line(half, 50) == "[#########---------]  50%  8 of 16 tasks  3 s left"
    assert all(len(bar_line(half, width)) <= width for width in range(1, 200))


def test_the_time_left_is_told_by_the_bytes_and_only_when_it_is_more_than_a_guess() -> None:
    assert (
        JobProgress(done=0, tasks=4, records=0, bytes_done=0, bytes=100, seconds=60.0, seconds_of_done=0.0).seconds_left
        is None
    )
    assert (
        JobProgress(done=3, tasks=4, records=9, bytes_done=75, bytes=100, seconds=0.5, seconds_of_done=0.5).seconds_left
        is None
    ), "the first moments say nothing of the rest"
    assert JobProgress(
        done=1, tasks=4, records=9, bytes_done=80, bytes=100, seconds=8.0, seconds_of_done=8.0
    ).seconds_left == pytest.approx(2)
    assert JobProgress(
        done=1, tasks=4, records=9, bytes_done=80, bytes=100, seconds=9.0, seconds_of_done=8.0
    ).seconds_left == pytest.approx(1), "it counts down meanwhile"
    assert JobProgress(
        done=2, tasks=4, records=9, bytes_done=0, bytes=0, seconds=8.0, seconds_of_done=8.0
    ).seconds_left == pytest.approx(8), "by tasks, where bytes are unknown"


def test_tasks_that_an_engine_is_done_with_count_before_their_results_are_here() -> None:
    tally = Tally([10, 30, 30, 30])
    tally.note(None)
    tally.note(2)
    assert (tally.progress().done, tally.progress().bytes_done) == (2, 50)
    tally.note((0, b""))
    assert (tally.progress().done, tally.progress().bytes_done) == (2, 40)
    for number in (1, 2, 3):
        tally.note((number, b""))
    assert (tally.progress().done, tally.progress().bytes_done) == (4, 100)
    tally.begin(4)
    assert (tally.progress().done, tally.progress().bytes_done) == (0, 0)


def test_an_engine_that_is_starting_is_told_and_does_not_count_as_time_of_the_tasks() -> None:
    tally = Tally([10])
    tally.note(Starting("Spark", 8.2))
    assert str(tally.progress()) == "Starting Spark (about 8 s, once) …"
    assert bar_line(tally.progress(), 100).endswith("] Starting Spark (about 8 s, once) … 0 s")
    tally.note(None)
    assert "  0 of 1 task  0 s so far  " in bar_line(tally.progress(), 100)


def test_what_is_done_with_the_rows_afterwards_does_not_count_as_read() -> None:
    tally = Tally([10, 30])
    tally.begin(2)
    tally.note((0, b""))
    assert (tally.outcome().done, tally.outcome().bytes_done) == (1, 10)
    tally.note((1, b""))
    tally.begin(1)  # the pieces of partitions are united
    tally.note((0, b""))

    assert (tally.progress().done, tally.progress().tasks) == (1, 1)
    assert (tally.outcome().done, tally.outcome().tasks, tally.outcome().bytes) == (2, 2, 40)


@pytest.mark.timeout(300)
def test_a_job_is_cancelled_while_spark_is_still_starting(
    here: Mason, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = {"release": 'JAVA_VERSION="17.0.1"\n', "bin/java": "#!/bin/sh\nexec cat >/dev/null\n"}
    (write(tmp_path, hanging) / "bin" / "java").chmod(0o755)
    monkeypatch.setitem(here.variables, "JAVA_HOME", str(tmp_path))
    known = {each.id for each in jobs(here)}
    merge = here.start("operator", "table", "merge", "-c", "cold", "-p", SMALL)
    eventually(lambda: {each.id for each in jobs(here)} - known, 60)

    cancelled = here("operator", "job", "cancel", "-c", "here", "-p", f"job_id:{newest_job(here).id}")

    assert cancelled.json["Data"][0]["Status"] == "cancelled", cancelled.stderr
    merge.communicate(timeout=60)
    assert merge.returncode == 130


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("engine", "sign"),
    [("here", signal.SIGINT), ("here", signal.SIGTERM), ("warm", signal.SIGINT), ("cold", signal.SIGINT)],
    ids=lambda given: given if isinstance(given, str) else given.name,
)
def test_ctrl_c_in_the_middle_of_a_merge_leaves_nothing(here: Mason, engine: str, sign: signal.Signals) -> None:
    merge = start_merge(here, engine)
    merge.send_signal(sign)
    stdout, stderr = merge.communicate(timeout=60)

    assert merge.returncode == 130, stderr
    assert [line for line in stderr.splitlines() if "nterrupt" in line or "Traceback" in line] == [
        "error: Interrupted."
    ]
    assert '"Interrupted."' in stdout
    assert newest_job(here).status == "cancelled"
    assert newest_job(here).document["Error"] == "It was interrupted."
    assert_nothing_is_left(here, engine)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["warm", "submit"])
def test_a_merge_on_spark_is_cancelled_from_another_process(here: Mason, engine: str) -> None:
    merge = start_merge(here, engine)
    cancelled = here("operator", "job", "cancel", "-c", engine, "-p", f"job_id:{newest_job(here).id}")
    _, stderr = merge.communicate(timeout=60)

    assert cancelled.json["Data"][0]["Status"] == "cancelled", cancelled.stderr
    assert merge.returncode == 130, stderr
    assert stderr.count("error: The job was cancelled by another process. Nothing was committed.") == 1
    assert_nothing_is_left(here, engine)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", [{"type": "local", "warm": "always"}, {"type": "submit", "master": "local[2]"}])
def test_tasks_on_spark_are_counted_before_their_results_are_here(
    commands: Commands,  # noqa: F811
    how: dict[str, str],
    tmp_path: Path,
) -> None:
    runner = build_runner({"runner": how})
    seen, beats = tmp_path / "seen", list[object]()
    # The results of the quick tasks come after that of the first one, which waits until they are counted.
    with running(runner, "spark_kernels:wait_for", [bytes(seen), *[b""] * 5]) as events:
        for event in itertools.takewhile(lambda event: not isinstance(event, tuple), events):
            beats.append(event)
            if event == 5:
                seen.touch()
        rest = dict(without_beats(events))
    runner.close()

    assert 5 in beats, f"the five quick tasks are done while the slow one runs: {beats}"
    assert len(rest) == 5


def start_merge(mason: Mason, engine: str) -> subprocess.Popen[str]:
    """Start a merge and return when its tasks have begun to write."""
    merge = mason.start("operator", "table", "merge", "-c", engine, "-p", LARGE)
    eventually(lambda: list(mason.folder.glob(".mason/tables/out/staging/*/part-*")) or merge.poll() is not None, 120)
    assert merge.poll() is None, merge.communicate()
    return merge


def assert_nothing_is_left(mason: Mason, engine: str) -> None:
    """After another job there is its table alone. On a warm Spark that job waits for workers that were busy."""
    after = mason("operator", "table", "merge", "-c", engine if engine == "warm" else "here", "-p", SMALL)
    assert after.exit_code == 0, after.stderr
    assert list(mason.folder.glob(".mason/tables/out/staging/*")) == []
    assert sorted(each.name for each in (mason.folder / "out").iterdir()) == [
        Path(each).name for each in after.json["Data"][0]["Files"]
    ]


def newest_job(mason: Mason) -> Record:
    return jobs(mason)[0]


def jobs(mason: Mason) -> Sequence[Record]:
    return read_state(MasonEnvironment(mason.home)).list_records(RecordKind.JOB)


def seen_at_last(line: str) -> str:
    """Return what a terminal shows of a line in the end."""
    return line.rpartition("\r\x1b[K")[2]


def eventually(condition: Callable[[], object], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
