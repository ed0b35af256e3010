"""`mason operator … --detach`: the command ends, the job goes on, and every other command sees it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mason.api.server.calls.call_queue import CallQueue
from mason.engines.execution.models.job import JobStatus
from mason.operators.calls.records import call_job, call_status, is_left
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from mason.util.processes import ProcessId, this_host
from scripts.submit_many import Submitted, read_notes, submit_many
from tests.api.support import CallsInThreads
from tests.conftest import Mason, write
from tests.patience import until

_PATIENCE = 60.0
LOST = "The process that ran it is gone. Look at what it was to write, and run it again if need be."

_OPERATOR = """\
type: operator
namespace: slow
command: wait
description: Waits for a file
parameters:
  required: [{name: until, type: string}]
  optional: [{name: stubborn, type: boolean}, {name: password, type: secret}]
supported_configurations: [{execution: local}]
"""

# Notes its process, waits for a file, and may not hear of ctrl-C.
_CODE = """\
import os
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class SlowWait(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        until = Path(parameters.get_required("until"))
        resp.add_info("It waits.")
        until.with_suffix(".pid").write_text(str(os.getpid()))
        while not until.exists():
            try:
                time.sleep(0.05)
            except KeyboardInterrupt:
                if not parameters.get_optional("stubborn"):
                    raise
        resp.add_info("It is there.")
        return OperatorResponse(resp)
"""

_CONFIGURATION = """\
id: here
metastore_engine: local
storage_engine: local
execution_engine: local
"""


@pytest.fixture
def here(mason: Mason) -> Mason:
    files = {"slow/operator.yaml": _OPERATOR, "slow/__init__.py": _CODE, "here.yaml": _CONFIGURATION}
    write(mason.folder, {**files, "in/a.csv": "id\n1\n2\n"})
    mason.register_examples()
    for arguments in (("config", "here.yaml"), ("register", "slow")):
        done = mason(*arguments)
        assert done.exit_code == 0, done.stderr
    return mason


def detach(here: Mason, *arguments: str, **variables: str) -> str:
    """Detach an operator and return its job."""
    done = here("operator", *arguments, "--detach", variables=variables)
    assert done.exit_code == 0, done.stderr
    job: str = done.json["Data"][0]["JobID"]
    return job


def job_of(here: Mason, job: str) -> dict[str, Any]:
    found: dict[str, Any] = here("job", "get", job).json["Data"][0]
    return found


def stands(here: Mason, job: str, status: str) -> dict[str, Any]:
    """Wait until a job stands like this."""

    def look() -> dict[str, Any] | None:
        found = job_of(here, job)
        return found if found["Status"] == status else None

    seen: dict[str, Any] = until(look)
    return seen


def process_of(here: Mason, name: str) -> int:
    file = here.folder / f"{name}.pid"
    return int(until(lambda: file.exists() and file.read_text()))


def is_gone(pid: int) -> bool:
    return not ProcessId.of(pid).alive


def test_a_detached_merge_goes_on_without_its_command_and_is_found_by_others(here: Mason) -> None:
    job = detach(here, "table", "merge", "-p", "input_path:in,output_path:out")

    done = stands(here, job, "succeeded")

    assert (done["RowsIn"], done["RowsOut"], done["Operator"]) == (2, 2, "table:merge")
    assert list((here.folder / "out").glob("*.parquet"))
    logs = here("job", "logs", job, "--follow")
    assert logs.exit_code == 0 and logs.stdout.rstrip().endswith("Committed.")
    assert [each["JobID"] for each in here("job", "list").json["Data"]] == [job]


def test_the_command_ends_while_the_job_runs(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:go")
    process_of(here, "go")
    running = job_of(here, job)
    (here.folder / "go").touch()

    assert running["Status"] == "running"
    assert stands(here, job, "succeeded")["Response"]["Info"] == ["It waits.", "It is there."]


def test_no_more_jobs_work_at_once_than_there_are_slots(here: Mason) -> None:
    one = {"MASON_DETACHED_JOBS": "1"}
    first = detach(here, "slow", "wait", "-p", "until:first", **one)
    process_of(here, "first")
    second = detach(here, "slow", "wait", "-p", "until:second", **one)
    third = detach(here, "slow", "wait", "-p", "until:third", **one)

    assert job_of(here, second)["Status"] == "queued"
    assert {each["JobID"] for each in here("job", "list", "--status", "queued").json["Data"]} == {second, third}
    assert here("job", "cancel", third).exit_code == 0
    stands(here, third, "cancelled")
    assert not (here.folder / "second.pid").exists()
    (here.folder / "first").touch()
    stands(here, first, "succeeded")
    process_of(here, "second")
    (here.folder / "second").touch()
    stands(here, second, "succeeded")
    assert not (here.folder / "third.pid").exists()


def test_a_number_of_slots_that_is_none_is_refused(here: Mason) -> None:
    done = here("operator", "slow", "wait", "-p", "until:x", "--detach", variables={"MASON_DETACHED_JOBS": "many"})

    assert done.exit_code == 1
    assert 'MASON_DETACHED_JOBS is "many".' in done.stderr


def test_a_detached_job_is_cancelled_from_two_processes_twice(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:never")
    pid = process_of(here, "never")
    commands = [here.start("job", "cancel", job) for _ in range(2)]

    assert [each.wait(_PATIENCE) for each in commands] == [0, 0]
    for each in commands:
        each.communicate()
    assert stands(here, job, "cancelled")["Error"]
    until(lambda: is_gone(pid))
    again = here("job", "cancel", job)
    assert again.exit_code == 0 and "over already" in again.stderr
    followed = here("job", "logs", job, "--follow")
    assert followed.exit_code == 130


def test_top_lists_what_runs_and_what_it_takes(here: Mason) -> None:
    one = {"MASON_DETACHED_JOBS": "1"}
    job = detach(here, "slow", "wait", "-p", "until:go", **one)
    pid = process_of(here, "go")
    waiting = detach(here, "slow", "wait", "-p", "until:go", **one)

    found = {each["JobID"]: each for each in here("job", "top").json["Data"]}

    assert set(found) == {job, waiting}
    told = found[job]
    assert (told["Name"], told["Status"], told["Process"], told["Processes"]) == ("slow:wait", "running", pid, 1)
    assert told["MemoryBytes"] > 10_000_000 and told["CPUPercent"] < 300
    assert found[waiting]["Status"] == "queued"
    (here.folder / "go").touch()
    stands(here, job, "succeeded")
    stands(here, waiting, "succeeded")
    assert here("job", "top").json["Data"] == []


def test_a_job_that_does_not_hear_of_its_end_is_killed(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:never,stubborn:true")
    pid = process_of(here, "never")

    here("job", "cancel", job)

    assert "its process was killed" in stands(here, job, "cancelled")["Error"]
    until(lambda: is_gone(pid))


def test_a_detached_job_whose_process_is_killed_is_lost(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:never")

    os.kill(process_of(here, "never"), signal.SIGKILL)

    lost = stands(here, job, "lost")
    assert lost["Error"] == LOST
    assert here("job", "logs", job, "--follow").exit_code == 1


def test_what_a_job_has_said_is_there_while_it_runs_and_when_its_process_was_killed(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:never")
    pid = process_of(here, "never")
    until(lambda: here("job", "logs", job).stdout.rstrip().endswith(" It waits."))

    os.kill(pid, signal.SIGKILL)

    stands(here, job, "lost")
    assert here("job", "logs", job).stdout.rstrip().endswith(" It waits.")


def test_a_repeatable_job_whose_process_is_killed_is_run_again_once(here: Mason) -> None:
    definition = here.folder / "slow" / "operator.yaml"
    definition.write_text(f"{_OPERATOR}repeatable: true\n", encoding="utf-8")
    assert here("register", "-f", "slow").exit_code == 0
    job = detach(here, "slow", "wait", "-p", "until:go")
    first = process_of(here, "go")
    os.kill(first, signal.SIGKILL)
    until(lambda: is_gone(first))
    (here.folder / "go.pid").unlink()
    _start_a_server(here)  # it leaves the job to whoever asks for it

    looks = [here.start("job", "get", job) for _ in range(3)]
    told = [each.communicate()[1] for each in looks]
    second = process_of(here, "go")

    assert sum("is run again" in each for each in told) == 1
    assert job_of(here, job)["Status"] == "running"
    os.kill(second, signal.SIGKILL)
    assert stands(here, job, "lost")["Error"] == LOST
    (here.folder / "go.pid").unlink()
    assert here("job", "logs", job, "--follow").exit_code == 1
    assert not (here.folder / "go.pid").exists()


def _start_a_server(here: Mason) -> None:
    store = open_state(MasonEnvironment(here.home))
    queue = CallQueue(store, CallsInThreads(), parallel=1, most_queued=1)
    queue.start()
    queue.stop(0)


def test_a_repeatable_job_with_a_secret_is_not_kept_and_stays_lost(here: Mason) -> None:
    definition = here.folder / "slow" / "operator.yaml"
    definition.write_text(f"{_OPERATOR}repeatable: true\n", encoding="utf-8")
    assert here("register", "-f", "slow").exit_code == 0
    job = detach(here, "slow", "wait", "-p", "until:go,password:c4nary")
    pid = process_of(here, "go")

    os.kill(pid, signal.SIGKILL)

    assert stands(here, job, "lost")["Error"] == LOST


def test_a_merge_that_was_killed_after_its_commit_has_succeeded(here: Mason) -> None:
    job = detach(here, "table", "merge", "-p", "input_path:in,output_path:out")
    stands(here, job, "succeeded")
    _forget_the_end(here, job)
    _expire_leases(here.home / "state.db", "job:")

    found = job_of(here, job)

    assert (found["Status"], found["RowsOut"]) == ("succeeded", 2)
    assert "Error" not in found


def _forget_the_end(here: Mason, job: str) -> None:
    """As if the process had been killed between the commit and the record."""
    store = open_state(MasonEnvironment(here.home))
    gone = {"Host": this_host(), "Pid": 2**22, "Started": "1"}
    for kind in (RecordKind.CALL, RecordKind.JOB):
        record = store.get_record(kind, job)
        assert record
        left_out = ("EndedAt", "RowsOut", "Commit", "Response", "Rows")
        kept = {key: value for key, value in record.document.items() if key not in left_out}
        store.update_record(record, "running", {**kept, "Process": gone} if kind is RecordKind.CALL else kept)


def test_a_process_that_ended_just_after_its_job_was_looked_up_has_not_lost_it(here: Mason) -> None:
    """Who looks reads the record first and asks for the process then: in between, it may end well."""
    over = subprocess.Popen(["true"])
    gone = {"Host": this_host(), "Pid": over.pid, "Started": ProcessId.of(over.pid).started}
    over.wait()
    store = open_state(MasonEnvironment(here.home))
    begun = {"Operator": "table:merge", "Configuration": "local", "Process": gone}
    read = store.add_record(RecordKind.CALL, "quick", JobStatus.RUNNING, begun)
    assert call_job(store, read).status is JobStatus.LOST

    store.update_record(read, JobStatus.SUCCEEDED, {**begun, "RowsOut": 3})

    assert call_status(store, read) is JobStatus.SUCCEEDED
    assert not is_left(store, read)
    job = call_job(store, read)
    assert (job.status, job.details["RowsOut"], "Error" in job.details) == (JobStatus.SUCCEEDED, 3, False)


def test_a_slot_of_a_process_that_was_killed_is_free_again(here: Mason, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"MASON_DETACHED_JOBS": "1"}
    detach(here, "slow", "wait", "-p", "until:never", **one)
    os.kill(process_of(here, "never"), signal.SIGKILL)
    _expire_leases(here.home / "state.db")

    (here.folder / "now").touch()
    second = detach(here, "slow", "wait", "-p", "until:now", **one)

    stands(here, second, "succeeded")


def test_what_was_accepted_waits_for_a_state_that_is_away_and_its_end_is_written_when_it_is_back(here: Mason) -> None:
    one = {"MASON_DETACHED_JOBS": "1"}
    working = detach(here, "slow", "wait", "-p", "until:go", **one)
    process = ProcessId.of(process_of(here, "go"))
    waiting = detach(here, "slow", "wait", "-p", "until:go", **one)

    _rename_tables(here.home / "state.db", {"records": "away", "leases": "away_too"})
    (here.folder / "go").touch()
    assert not process.wait(3.0), "it has nothing to do any more but to write its end"
    _rename_tables(here.home / "state.db", {"away": "records", "away_too": "leases"})

    for job in (working, waiting):
        assert stands(here, job, "succeeded")["Response"]["Info"] == ["It waits.", "It is there."]


def _rename_tables(state: Path, names: Mapping[str, str]) -> None:
    with closing(sqlite3.connect(state, isolation_level=None)) as connection:
        for old, new in names.items():
            connection.execute(f"ALTER TABLE {old} RENAME TO {new}")


def _expire_leases(state: Path, name: str = "slot:") -> None:
    """Let time pass for those who are gone: half a minute is long for a test."""
    with sqlite3.connect(state) as connection:
        connection.execute("UPDATE leases SET expires_at = 0 WHERE name LIKE ?", (f"{name}%",))


def test_the_command_killed_at_any_moment_leaves_one_job_or_none(here: Mason) -> None:
    for seconds in (0.2, 0.5, 0.8, 1.1, 1.4):
        (here.folder / "go").touch()
        before = {each["JobID"] for each in here("job", "list").json["Data"]}
        command = here.start("operator", "slow", "wait", "-p", "until:go", "--detach")
        time.sleep(seconds)
        command.send_signal(signal.SIGKILL)
        command.communicate()
        time.sleep(1.5)
        new = [each for each in here("job", "list").json["Data"] if each["JobID"] not in before]
        assert len(new) <= 1
        for each in new:
            stands(here, each["JobID"], "succeeded")


def test_jobs_that_are_detached_at_once_are_each_run_once_and_no_more_at_once_than_there_are_slots(
    tmp_path: Path,
) -> None:
    words = [f"word-{number}" for number in range(8)]

    came = submit_many(tmp_path, words, slots=2)

    assert came.problems(words, 2) == []
    assert came.most_at_once == 2


def test_a_job_that_is_run_twice_or_lost_or_without_a_slot_is_noticed() -> None:
    came = Submitted({"succeeded": 2, "lost": 1}, {"a": 1, "b": 2, "c": 0}, most_at_once=3, seconds=1.0)

    assert came.problems(["a", "b", "c", "d"], 2) == [
        "These were not run once: {'b': 2, 'c': 0, 'd': 0}",
        "These did not succeed: {'lost': 1}",
        "4 were submitted, and 3 have a record",
        "3 ran at once",
    ]
    assert read_notes(["a begins", "b begins", "a ends", "b ends", "b begins"]) == ({"a": 1, "b": 2}, 2)


def test_what_cannot_be_run_is_refused_at_once_and_leaves_no_job(here: Mason) -> None:
    wrong = here("operator", "slow", "wait", "-p", "until:x,untill:y", "--detach")
    unknown = here("operator", "slow", "wayt", "-p", "until:x", "--detach")
    planned = here("operator", "slow", "wait", "-p", "until:x", "--detach", "--plan")

    assert (wrong.exit_code, unknown.exit_code, planned.exit_code) == (1, 1, 2)
    assert "untill" in wrong.stderr and "wayt" in unknown.stderr and "do not go together" in planned.stderr
    assert here("job", "list").json["Data"] == []


def test_a_secret_reaches_the_process_by_a_pipe_alone_and_is_in_no_record(here: Mason) -> None:
    job = detach(here, "slow", "wait", "-p", "until:go,password:c4nary")
    pid = process_of(here, "go")
    seen = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ")]
    (here.folder / "go").touch()
    stands(here, job, "succeeded")

    assert not any(b"c4nary" in each for each in seen)
    kept = subprocess.run(["grep", "-rla", "c4nary", str(here.home)], capture_output=True, text=True, check=False)
    assert kept.stdout == ""
