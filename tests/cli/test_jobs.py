"""`job get`, `job list`, `job cancel`: a job as other processes see it, while it runs and afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from mason.pipeline.driving.job_log import JobLog
from mason.state.home import open_state, read_state
from mason.state.models import Lease, RecordKind
from mason.util.environment import MasonEnvironment
from tests.conftest import Mason, Result, write

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"

# A merge whose runner waits before each task until the test lets it go on, and beats meanwhile (or does not).
STEP_BY_STEP = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    import mason.pipeline.reading.plan.read_plan as plan
    from mason.clients.response import Response
    from mason.engines.storage.models.location import Location
    from mason.errors import MasonError
    from mason.pipeline.driving.execution import PipelineExecutionClient
    from mason.pipeline.driving.execution import InProcessRunner
    from mason.pipeline.jobs.merge.job import MergeJob

    folder, beats = Path(sys.argv[1]), sys.argv[2] == "beats"
    plan.TASK_FILES = 1

    class StepByStep(InProcessRunner):
        def run(self, kernel, tasks):
            for number, task in enumerate(tasks):
                while not (folder / f"go {number}").exists():
                    time.sleep(0.02)
                    if beats:
                        yield None
                yield from ((number, content) for _, content in super().run(kernel, [task]))

    class Client(PipelineExecutionClient):
        def runner(self, storages):
            return StepByStep()

    client = Client()
    job = MergeJob(Location(str(folder / "in")), Location(str(folder / "out"))).to_job()
    found, response = client.plan_job(job, response=Response())
    try:
        client.run_job(found, response=response)
    except MasonError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    """
)


@dataclass
class Job:
    """A job in a process of its own, and the command line beside it."""

    mason: Mason
    process: subprocess.Popen[str] = field(init=False)

    def start(self, *, beats: str = "beats") -> None:
        command = [sys.executable, "-c", STEP_BY_STEP, str(self.mason.folder), beats]
        environment = self.mason.environment()
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        eventually(
            lambda: list(self.mason.folder.glob(".mason/tables/out/staging/*")) or self.process.poll() is not None
        )
        assert self.process.poll() is None, self.process.communicate()

    @property
    def id(self) -> str:
        (record,) = read_state(MasonEnvironment(self.mason.home)).list_records(RecordKind.JOB)
        return record.id

    def go_on(self, *tasks: int) -> None:
        for number in tasks:
            (self.mason.folder / f"go {number}").touch()

    def get(self) -> dict[str, Any]:
        found: dict[str, Any] = self.mason("operator", "job", "get", "-p", f"job_id:{self.id}").json["Data"][0]
        return found

    def cancel(self) -> Result:
        return self.mason("operator", "job", "cancel", "-p", f"job_id:{self.id}")

    def ended(self) -> tuple[int, str]:
        _, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stderr


@pytest.fixture
def job(mason: Mason) -> Iterator[Job]:
    files = {f"in/{number}.csv": f"a,b\n{number},x\n" for number in range(3)}
    write(mason.folder, {"here.yaml": HERE, **files})
    assert mason("config", "here.yaml").exit_code == 0
    job = Job(mason.register_examples())
    yield job
    if hasattr(job, "process"):
        job.process.kill()
        job.process.communicate()


def eventually(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_another_process_sees_how_far_a_job_is(job: Job) -> None:
    job.start()
    job.go_on(0)
    eventually(lambda: job.get().get("TasksDone") == 1)

    running = job.get()
    assert (running["Status"], running["Tasks"], running["RowsIn"]) == ("running", 3, 1)
    assert 0 < running["InputBytesDone"] < running["InputBytes"]
    job.go_on(1)
    eventually(lambda: job.get()["TasksDone"] == 2)
    job.go_on(2)

    assert job.ended() == (0, "")
    done = job.get()
    assert (done["Status"], done["TasksDone"], done["RowsIn"], done["RowsOut"]) == ("succeeded", 3, 3, 3)
    assert done["InputBytesDone"] == done["InputBytes"] == 24
    assert "SecondsLeft" not in done


def test_a_job_is_cancelled_from_another_process(job: Job) -> None:
    job.start()
    job.go_on(0)

    cancelled = job.cancel()

    assert cancelled.exit_code == 0
    assert cancelled.json["Info"] == ["The job was cancelled."]
    assert cancelled.json["Data"][0]["Status"] == "cancelled"
    assert job.ended() == (130, "The job was cancelled by another process. Nothing was committed.\n")
    assert job.get()["Error"] == "The job was cancelled by another process. Nothing was committed."
    assert not (job.mason.folder / "out").exists()
    assert list(job.mason.folder.glob(".mason/tables/out/staging/*")) == []


def test_a_job_that_does_not_look_up_has_been_asked_to_stop_and_does_so_before_its_next_task(job: Job) -> None:
    job.start(beats="none")

    asked = job.cancel()

    assert asked.exit_code == 0
    assert asked.json["Data"][0]["Status"] == "running"
    assert "Cancellation requested" in asked.json["Info"][0]
    job.go_on(0, 1, 2)
    assert job.ended()[0] == 130
    assert job.get()["Status"] == "cancelled"


def test_a_job_that_is_over_stays_what_it_is(job: Job) -> None:
    job.start()
    job.go_on(0, 1, 2)
    assert job.ended()[0] == 0

    cancelled = job.cancel()

    assert cancelled.exit_code == 0
    assert cancelled.json["Info"] == ["The job is over already: it succeeded."]
    assert cancelled.json["Data"][0]["Status"] == job.get()["Status"] == "succeeded"


def test_a_job_whose_process_is_gone_is_lost_and_not_cancelled(job: Job) -> None:
    open_state(MasonEnvironment(job.mason.home)).add_record(RecordKind.JOB, "killed", "running", {"JobType": "merge"})

    cancelled = job.cancel()

    assert cancelled.json["Info"] == ["The job is over already: it is lost: the process that ran it is gone."]
    assert cancelled.json["Data"][0]["Status"] == "lost"


def test_a_job_that_is_not_there_cannot_be_cancelled(job: Job) -> None:
    result = job.mason("operator", "job", "cancel", "-p", "job_id:nope")

    assert result.exit_code == 1 and result.json["Errors"] == ['There is no job "nope".']


def test_a_plan_of_a_cancel_cancels_nothing(job: Job) -> None:
    job.start()

    planned = job.mason("operator", "job", "cancel", "--plan", "-p", f"job_id:{job.id}")
    job.go_on(0, 1, 2)

    assert planned.json["Info"] == ["Would ask for the end of this job, which is running."]
    assert job.ended()[0] == 0


def test_a_job_that_was_taken_for_lost_while_its_process_slept_ends_as_it_did(job: Job) -> None:
    job.start()
    job.process.send_signal(signal.SIGSTOP)
    store = open_state(MasonEnvironment(job.mason.home))
    record = store.get_record(RecordKind.JOB, job.id)
    assert record is not None
    store.update_record(record, "lost", {**record.document, "Error": "The process that ran it is gone."})

    job.go_on(0, 1, 2)
    job.process.send_signal(signal.SIGCONT)

    assert job.ended() == (0, "")
    assert job.get()["Status"] == "succeeded"
    assert "Error" not in job.get()


def test_a_job_whose_process_sleeps_past_its_lease_is_not_lost(job: Job) -> None:
    job.start()
    job.process.send_signal(signal.SIGSTOP)
    open_state(MasonEnvironment(job.mason.home)).release_lease(Lease(RecordKind.JOB.lease(job.id), job.id, 1))

    assert job.get()["Status"] == "running"

    job.go_on(0, 1, 2)
    job.process.send_signal(signal.SIGCONT)
    assert job.ended() == (0, "")
    assert job.get()["Status"] == "succeeded"


def test_a_job_whose_process_was_killed_is_lost_at_once_though_its_lease_goes_on(job: Job) -> None:
    job.start()
    job.process.kill()
    job.process.wait()

    assert open_state(MasonEnvironment(job.mason.home)).is_held(RecordKind.JOB.lease(job.id))
    assert job.get()["Status"] == "lost"
    assert "Process" not in job.get()


def test_a_record_keeps_what_was_said_with_the_times_and_a_list_does_not(mason: Mason) -> None:
    many = "".join(f"{number}\n" for number in range(300_000))
    write(mason.folder, {"here.yaml": HERE, "in/a.csv": "a,b\n1,x\n2\n", "in/b.csv": f"a\n{many}1.5\n"})
    assert mason("config", "here.yaml").exit_code == 0
    mason.register_examples()

    told = mason("operator", "table", "merge", "-p", "input_path:in,output_path:out")

    (listed,) = mason("operator", "job", "list").json["Data"]
    assert listed["Status"] == "succeeded" and "Log" not in listed and "Files" not in listed
    log = mason("operator", "job", "get", "-p", f"job_id:{listed['JobID']}").json["Data"][0]["Log"]
    said = [line.split(" ", 1)[1] for line in log]
    assert said[0].startswith("Planned 2 files, ")
    assert "warning: a.csv: record 3 has 1 field instead of 2." in said
    assert said.count("Running 1 task.") == 2
    wider = [line for line in said if line.startswith('Column "a" is ') and line.endswith("the tasks run again.")]
    assert len(wider) == 1 and wider[0] in told.stderr
    assert said[-1] == "Committed."
    assert [line.split(" ")[0] for line in log] == sorted(line.split(" ")[0] for line in log)


def test_a_record_of_a_job_with_very_much_to_say_stays_small() -> None:
    log = JobLog(lambda text: text)
    for number in range(400):
        log.add(f"line {number}")
    log.close()

    lines = log.lines()

    assert len(lines) == 201
    assert lines[49].endswith("line 49") and lines[51].endswith("line 250")
    assert lines[50] == "(200 lines are left out here)"
    assert lines[-1].endswith("line 399")
