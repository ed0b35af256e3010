"""A network that cuts, a store that goes away, objects that change: a merge is right, or says what is wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.errors import MasonError
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.tables.commit import open_table
from mason.pipeline.work.tasks import TaskEvent
from mason.testing import Place
from tests.s3.proxy import HALF, RESET, Answer, Proxy, error_body
from tests.seaweed import Seaweed, running_seaweed

ROWS = 3_000
BUSY = (503, error_body("SlowDown", "Please reduce your request rate."))
BROKEN = (500, error_body("InternalError", "We encountered an internal error. Please try again."))


@pytest.fixture
def place(seaweed: Seaweed, bucket: str) -> Place:
    return place_on(seaweed, bucket)


def place_on(server: Seaweed, bucket: str) -> Place:
    storage = S3StorageClient(server.configuration())
    made = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    write(made, 1)
    return made


def write(place: Place, version: int) -> None:
    for number in range(3):
        lines = "".join(f"{each},{version},{'x' * 20}\n" for each in range(ROWS // 3))
        place.write(f"in/{number}.csv", f"id,version,text\n{lines}".encode())


class Run:
    """A merge from S3 to S3 through an endpoint, in its two steps."""

    def __init__(self, place: Place, configuration: dict[str, object]) -> None:
        self.storage = S3StorageClient(configuration).address()
        self.place = place
        job = MergeJob(Location(place.below("in").path, self.storage), Location(place.below("out").path, self.storage))
        self._work = MergeWork.plan(job.to_job())

    def __call__(self, at: Callable[[], None] = lambda: None) -> MergeResult:
        """Run the tasks; `at` is called when the first of them is done."""
        return self._work.run(Watched(at), uuid4().hex[:16], lambda *_: None)


class Watched(InProcessRunner):
    """Does something when the first task is done."""

    def __init__(self, at: Callable[[], None]) -> None:
        self._at = at

    def run(self, kernel: str, tasks: list[bytes]) -> Iterator[TaskEvent]:  # type: ignore[override]
        for number, event in enumerate(super().run(kernel, tasks)):
            if number == 0:
                self._at()
            yield event


def once(*faults: Answer, where: str) -> Callable[[str, str], Answer | None]:
    """Answer the first requests for what is there with faults, and then no more."""
    left = iter(faults)
    return lambda method, path: next(left, None) if where in f"{method} {path}" else None


@pytest.mark.parametrize("fault", [BUSY, BROKEN, RESET, HALF], ids=["SlowDown", "500", "reset", "half a body"])
@pytest.mark.parametrize("request_", ["GET /", "PUT /", "HEAD /"])
def test_a_fault_that_passes_is_not_noticed(
    seaweed: Seaweed, proxy: Proxy, place: Place, fault: Answer, request_: str
) -> None:
    if request_ == "HEAD /" and fault in (HALF, BUSY, BROKEN):
        fault = (503, "")  # the answer to a HEAD has no body
    run = Run(place, seaweed.configuration(endpoint=proxy.endpoint))
    proxy.says = once(fault, where=request_)

    result = run()

    assert result.commit.rows == ROWS


@pytest.mark.parametrize("fault", [BROKEN, RESET], ids=["500", "reset"])  # each is asked for again and again
def test_a_fault_that_stays_fails_the_merge_and_leaves_the_old_table(
    seaweed: Seaweed, proxy: Proxy, place: Place, fault: Answer
) -> None:
    Run(place, seaweed.configuration())()
    before = place.contents()
    run = Run(place, seaweed.configuration(endpoint=proxy.endpoint))
    proxy.says = lambda method, path: fault if method == "GET" and "/in/" in path else None

    with pytest.raises((MasonError, OSError)) as caught:
        run()

    assert "Traceback" not in str(caught.value) and len(str(caught.value).splitlines()) <= 2
    assert {name for name in place.contents() if "/leases/" not in name} == set(before)


def test_an_object_that_is_replaced_while_it_is_read_fails_the_merge(seaweed: Seaweed, place: Place) -> None:
    """By another of the same size in the same second: only its tag tells."""
    run = Run(place, seaweed.configuration())

    write(place, 2)
    with pytest.raises(MasonError, match="it was changed after the plan was made"):
        run()


def test_an_object_that_is_deleted_after_the_plan_fails_the_merge(seaweed: Seaweed, place: Place) -> None:
    run = Run(place, seaweed.configuration())

    place.filesystem.delete_file(place.below("in/1.csv").path)
    with pytest.raises(MasonError, match="it vanished after the plan was made"):
        run()


def wait_until_read(place: Place) -> None:
    """A server that was started again answers before it has found its data again."""
    end = time.monotonic() + 60
    while True:
        try:
            assert place.contents()
            return
        except OSError:
            assert time.monotonic() < end, "the server does not find its data"
            time.sleep(0.2)


def test_a_server_that_is_killed_and_started_again_in_a_merge_loses_nothing(tmp_path: Path) -> None:
    with running_seaweed(tmp_path) as server:
        place = place_on(server, server.bucket())
        Run(place, server.configuration())()
        write(place, 2)
        run = Run(place, server.configuration())
        back = threading.Thread(target=server.start)

        def cut() -> None:
            server.kill()
            back.start()

        try:
            run(cut)
        except (MasonError, OSError) as error:
            assert len(str(error).splitlines()) <= 2
        back.join()
        wait_until_read(place)

        record = open_table(Location(place.below("out").path, run.storage)).current()
        assert record is not None and record.rows == ROWS
        assert Run(place, server.configuration())().commit.rows == ROWS
