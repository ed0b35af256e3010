"""Jobs in the background: nothing that was accepted is lost, and nothing is done twice."""

from __future__ import annotations

import json
import re
import resource
import shutil
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from mason.api.server.calls.call import answer_of
from mason.api.server.serve import listen
from mason.api.server.settings import ServerSettings
from mason.errors import ClientFailed
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.state.models import Record, RecordKind
from mason.util.environment import MasonEnvironment
from scripts.soak_api import (
    JOBS,
    Soaked,
    define_operator,
    queue_jobs,
    resident_megabytes,
    soak,
    wait_until_idle,
    wrong_counts,
)
from tests.api.conftest import Start
from tests.api.support import Server, operator, until
from tests.conftest import write


def begin(server: Server, seconds: float, **body: object) -> str:
    """Begin a call that takes so long, and return its job."""
    reply = server.post("/api/test/sleep", params={"wait": 0}, json={"seconds": seconds, **body})
    assert reply.status_code == 202, reply.text
    job: str = reply.json()["Data"][0]["JobID"]
    assert reply.headers["Location"] == f"/api/job/{job}"
    return job


def test_what_is_done_in_time_is_answered_at_once(server: Server) -> None:
    reply = server.post("/api/test/sleep", json={"seconds": 0})

    assert (reply.status_code, reply.json()["Data"]) == (200, [{"Slept": 0}])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_takes_longer_goes_on_as_a_job_with_the_same_answer(server: Server, method: str) -> None:
    reply = server.request(method, "/api/test/until", params={"wait": 0.1, "file": f"longer-{method}"})
    assert reply.status_code == 202
    (server.mason.folder / f"longer-{method}").touch()

    job = server.wait_for_job(reply.json()["Data"][0]["JobID"])

    assert job["Response"] == {"Errors": [], "Info": [], "Warnings": [], "Data": [{"Found": f"longer-{method}"}]}
    assert job["Operator"] == "test:until"
    assert job["RequestID"] == reply.headers["X-Request-ID"]


def test_a_job_is_seen_from_the_command_line_as_well(server: Server) -> None:
    job = begin(server, 0)
    server.wait_for_job(job)

    told = server.mason("operator", "job", "get", "-p", f"job_id:{job}").json
    listed = server.mason("operator", "job", "list", "-p", "status:succeeded").json

    assert told["Data"][0]["Status"] == "succeeded"
    assert job in [each["JobID"] for each in listed["Data"]]


def test_a_merge_tells_rows_and_log_under_the_id_of_its_call(server: Server) -> None:
    reply = server.post("/api/table/merge", params={"wait": 0}, json={"input_path": "in", "output_path": "job_merged"})
    job = server.wait_for_job(reply.json()["Data"][0]["JobID"])

    assert (job["RowsIn"], job["JobType"]) == (2, "operator")
    assert job["Response"]["Data"][0]["JobID"] == job["JobID"]
    log = server.get(f"/api/job/{job['JobID']}/log").json()["Data"][0]["Log"]
    told = [line.split(" ", 1)[1] for line in log]  # without the time
    assert told[-2].startswith("2 records in, 2 rows out: ") and told[-1] == "Committed."


def test_what_an_operator_logs_is_the_log_of_its_job(server: Server) -> None:
    reply = server.post("/api/test/blurt", params={"wait": 0}, json={"password": "not-to-be-told"})
    job = server.wait_for_job(reply.json()["Data"][0]["JobID"], "failed")

    [told] = server.get(f"/api/job/{job['JobID']}/log").json()["Data"]

    assert told["Log"][0].split(" ", 1)[1] == "warning: it is REDACTED"
    assert "Traceback" not in str(told) and "not-to-be-told" not in str(told)


def test_how_far_a_job_is_comes_as_events_until_it_is_over(server: Server) -> None:
    job = begin(server, 1.2)

    assert server.client is not None
    with server.client.stream("GET", f"/api/job/{job}/events") as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line]

    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    documents = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert names == ["progress"] * (len(names) - 1) + ["end"]
    assert documents[-1]["Status"] == "succeeded"
    assert {each["JobID"] for each in documents} == {job}
    assert server.get("/api/job/none/events").status_code == 404


def test_jobs_are_listed_in_pages_the_newest_first(server: Server) -> None:
    jobs = [begin(server, 0) for _ in range(3)]
    for job in jobs:
        server.wait_for_job(job)

    pages = [
        server.get("/api/jobs", params={"limit": 1, "offset": offset}).json()["Data"][0]["JobID"] for offset in range(3)
    ]

    assert pages == jobs[::-1]
    assert server.get("/api/jobs", params={"status": "lost"}).json()["Data"] == []
    assert server.get("/api/jobs", params={"status": "sleeping"}).status_code == 400


def test_what_jobs_have_read_is_counted(server: Server) -> None:
    def counted() -> dict[str, int]:
        pairs = re.findall(r"^mason_job_(\w+)_total (\d+)$", server.get("/metrics").text, re.MULTILINE)
        return {name: int(number) for name, number in pairs}

    before = counted()
    reply = server.post("/api/table/merge", json={"input_path": "in", "output_path": "counted"})
    assert reply.status_code == 200, reply.text

    read = sum(file.stat().st_size for file in (server.mason.folder / "data" / "in").iterdir())
    assert counted() == {"rows": before["rows"] + 2, "bytes": before["bytes"] + read}


class TestABusyServer:
    """One job at a time, and two may wait."""

    @pytest.fixture
    def busy(self, start: Start) -> Server:
        return start("--jobs", "1", "--queue", "2")

    def test_it_refuses_what_it_cannot_queue_and_cancels_what_waits(self, busy: Server) -> None:
        running = begin(busy, 30)
        busy.wait_for_job(running, "running")
        waiting = [begin(busy, 0, note="waited") for _ in range(2)]

        refused = busy.post("/api/test/sleep", params={"wait": 0}, json={"seconds": 0})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert "2 jobs are queued already" in refused.text
        assert busy.get("/readyz").json() == {"status": "ok", "queued": 2, "running": 1}
        assert 'mason_jobs{status="queued"} 2' in busy.get("/metrics").text

        for job in waiting:
            assert busy.post(f"/api/job/{job}/cancel").status_code == 200
            assert busy.job(job)["Status"] == "cancelled"
        again = busy.post(f"/api/job/{waiting[0]}/cancel")
        assert "over already" in again.text
        assert not (busy.mason.folder / "waited").exists()


class TestIdempotency:
    def test_a_repeated_request_is_carried_out_once(self, server: Server) -> None:
        def send() -> httpx.Response:
            return server.post(
                "/api/test/sleep",
                json={"seconds": 0.5, "note": "once", "word": "done"},
                headers={"Idempotency-Key": "the same"},
            )

        with ThreadPoolExecutor(4) as pool:
            replies = [each.result() for each in [pool.submit(send) for _ in range(4)]]
        replies.append(send())

        assert [reply.status_code for reply in replies] == [200] * 5
        assert len({reply.text for reply in replies}) == 1
        assert (server.mason.folder / "once").read_text() == "done\n"

    def test_a_key_is_for_one_request(self, server: Server) -> None:
        headers = {"Idempotency-Key": "for one"}
        server.post("/api/test/sleep", json={"seconds": 0}, headers=headers)

        other = server.post("/api/test/sleep", json={"seconds": 0.1}, headers=headers)

        assert other.status_code == 409
        assert "was used for another request" in other.text

    @pytest.mark.parametrize("key", ["", "x" * 201])
    def test_a_key_that_is_none_is_refused(self, server: Server, key: str) -> None:
        assert server.post("/api/test/sleep", json={"seconds": 0}, headers={"Idempotency-Key": key}).status_code == 400


def test_a_read_that_became_a_job_is_cancelled(server: Server) -> None:
    reply = server.get("/api/test/until", params={"wait": 0.1, "file": "never"})
    job = reply.json()["Data"][0]["JobID"]

    assert server.post(f"/api/job/{job}/cancel").status_code == 200

    assert server.wait_for_job(job, "cancelled", "succeeded")["Status"] == "cancelled"


def test_a_running_merge_is_cancelled_and_leaves_nothing(start: Start) -> None:
    server = start("--jobs", "1")
    big = "id,name\n" + "".join(f"{number},name of {number}\n" for number in range(200_000))
    folder = write(server.mason.folder / "data", {"big/0.csv": big}) / "big"
    for number in range(1, 150):  # more to read than is read before the end is asked for
        shutil.copyfile(folder / "0.csv", folder / f"{number}.csv")
    reply = server.post("/api/table/merge", params={"wait": 0}, json={"input_path": "big", "output_path": "cancelled"})
    job = reply.json()["Data"][0]["JobID"]
    server.wait_for_job(job, "running")

    assert server.post(f"/api/job/{job}/cancel").status_code == 200

    assert server.wait_for_job(job, "cancelled", "succeeded")["Status"] == "cancelled"
    assert not (server.mason.folder / "data" / "cancelled").exists()


def test_after_a_crash_what_waited_runs_once_and_what_ran_is_lost(start: Start) -> None:
    server = start("--jobs", "50")
    running = [begin(server, 60) for _ in range(50)]
    until(lambda: server.get("/readyz").json()["running"] == 50, "fifty jobs run")
    waiting = [begin(server, 0, note="after", word=f"word-{number}") for number in range(50)]

    server.kill()
    told = server.mason("operator", "job", "get", "-p", f"job_id:{running[0]}").json
    assert told["Data"][0]["Status"] == "lost"
    server.start()

    until(lambda: server.get("/readyz").json()["queued"] == 0, "the queue is empty")
    for job in waiting:
        server.wait_for_job(job)
    lost = server.get("/api/jobs", params={"status": "lost"}).json()["Data"]
    assert {each["JobID"] for each in lost} == set(running)
    words = (server.mason.folder / "after").read_text().split()
    assert Counter(words) == Counter(f"word-{number}" for number in range(50))


def test_a_server_that_is_asked_to_stop_ends_what_runs_and_keeps_what_waits(start: Start) -> None:
    server = start("--jobs", "1")
    answers: list[httpx.Response] = []
    first = {"file": "go", "began": "began", "note": "ended"}
    asking = threading.Thread(target=lambda: answers.append(server.post("/api/test/until", json=first)))
    asking.start()
    until((server.mason.folder / "began").exists, "the first job runs")
    waiting = begin(server, 0, note="kept")

    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    asking.join()  # who waits is told at once that the server stops
    assert answers[0].status_code == 202
    (server.mason.folder / "go").touch()
    assert server.stopped() == 0

    assert (server.mason.folder / "ended").exists()
    assert not (server.mason.folder / "kept").exists()
    server.start()
    server.wait_for_job(waiting)
    assert (server.mason.folder / "kept").read_text() == "once\n"


def test_two_workers_share_the_queue_and_run_nothing_twice(start: Start) -> None:
    server = start("--workers", "2", "--jobs", "2")
    jobs = [
        server.post(
            "/api/test/sleep", params={"wait": 0}, json={"seconds": 0.01, "note": "shared", "word": f"{number}"}
        ).json()["Data"][0]["JobID"]
        for number in range(100)
    ]

    for job in jobs:
        server.wait_for_job(job)

    words = (server.mason.folder / "shared").read_text().split()
    assert Counter(words) == Counter(str(number) for number in range(100))
    assert server.stop() == 0


def test_workers_end_when_the_process_is_killed_that_started_them(start: Start) -> None:
    server = start("--workers", "2")

    server.kill()

    def is_free() -> bool:
        try:
            listen(ServerSettings(port=int(server.url.rpartition(":")[2]))).close()
        except ClientFailed:
            return False
        return True

    until(is_free, "nobody listens there any more")


def test_a_thousand_jobs_that_are_queued_at_once_are_each_run_once_and_leave_no_memory_behind(start: Start) -> None:
    server = start("--jobs", "4")
    assert server.process is not None
    note = define_operator(server.mason.folder / "soak_note")
    env = MasonEnvironment(server.mason.home)
    register(env, open_state(env), read_definitions(note, [OPERATORS]).valid, replace=False)
    for _ in range(4):
        server.post("/api/test/until", params={"wait": 0}, json={"file": "go"})
    until(lambda: server.get("/readyz").json()["running"] == 4, "all threads are busy")
    words = [str(number) for number in range(JOBS)]

    queue_jobs(server.url, words)
    assert server.get("/readyz").json()["queued"] == JOBS
    assert server.post("/api/soak/note", params={"wait": 0}, json={"word": "more"}).status_code == 429
    (server.mason.folder / "go").touch()
    wait_until_idle(server.url)

    assert wrong_counts(server.mason.folder / "notes", words) == {}
    before = resident_megabytes(server.process.pid)
    soak(server.url, server.process.pid, server.mason.folder / "notes", seconds=0.1)
    assert resident_megabytes(server.process.pid) < before * 1.1


def test_a_job_that_is_run_twice_or_lost_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("a\nb\nb\n")

    assert wrong_counts(tmp_path / "notes", ["a", "b", "c"]) == {"b": 2, "c": 0}
    assert Soaked(10, [50, 50, 60, 60, 70, 70, 80, 80, 90, 90]).growth > 1.4


def test_while_the_disk_is_full_calls_are_refused_and_reads_go_on(server: Server) -> None:
    assert server.process is not None
    before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))  # no file can grow any more
    try:
        refused = server.post("/api/test/sleep", json={"seconds": 0})
        read = server.get("/api/table/orders", params={"database_name": "shop"})
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)

    assert refused.status_code == 503, refused.text
    assert refused.json()["Errors"][0].startswith("MASON_HOME/state.db: ")
    assert read.status_code == 200
    assert server.post("/api/test/sleep", json={"seconds": 0}).status_code == 200


def test_a_key_whose_job_was_lost_says_so_once_and_for_all(start: Start, tmp_path: Path) -> None:
    server = start()
    ends, notes = tmp_path / "ends", tmp_path / "notes"

    def ask(key: str, wait: int = 5) -> httpx.Response:
        body = {"file": str(ends), "note": str(notes), "began": str(tmp_path / "began")}
        headers = {"Idempotency-Key": key}
        return server.post(f"/api/test/until?config_id=files&wait={wait}", json=body, headers=headers)

    job = ask("first", 0).json()["Data"][0]["JobID"]
    until((tmp_path / "began").exists, "the job runs")
    server.kill()
    server.start()
    ends.touch()

    for _ in range(2):
        again = ask("first")
        assert again.status_code == 409, again.text
        assert again.json()["Errors"] == [
            f"The job {job} of this Idempotency-Key was lost with its server: how far it came is not known. "
            "See what it has done; to run it again, use a new key."
        ]
    assert server.job(job)["Status"] == "lost"
    assert ask("second").status_code == 200
    assert notes.read_text() == "once\n"


@pytest.mark.parametrize(("status", "code"), [("succeeded", 200), ("failed", 500), ("cancelled", 499)])
def test_a_key_whose_job_ended_while_its_server_did_says_how(status: str, code: int) -> None:
    record = Record(RecordKind.CALL, "j", status, {"Error": "No rows."}, 2, "", "")

    answer, told = answer_of(record)

    assert told == code, answer
    assert status in str(answer).lower()


@pytest.mark.parametrize("repeatable", [True, False])
def test_after_a_crash_what_may_be_done_twice_is_run_again_once_and_nothing_else(
    start: Start, *, repeatable: bool
) -> None:
    server = start()
    body = 'open("ran", "a").write("x")\ntime.sleep(600)'
    told = "repeatable: true\n" if repeatable else ""
    swagger = "paths:\n  /test/again:\n    post:\n"
    operator(server.mason.folder / "more", "test", "again", body, parameters=told, swagger=swagger)
    assert server.mason("register", "more").exit_code == 0
    ran = server.mason.folder / "ran"
    until(lambda: "/test/again" in server.get("/api/openapi.json").text, "it is known")
    job = server.post("/api/test/again", params={"wait": 0}).json()["Data"][0]["JobID"]
    until(ran.exists, "it runs")

    server.kill()
    server.start()
    if repeatable:
        until(lambda: ran.read_text() == "xx", "it runs again")
        server.kill()
        server.start()

    assert server.wait_for_job(job, "lost")["Error"].startswith("The server that ran it is gone. Look at what it was")
    assert ran.read_text() == ("xx" if repeatable else "x")
