"""How a job is ended by somebody who did not start it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from mason.clients.engines.execution import ExecutionClient
from mason.engines.execution.models.job import Job, JobRecord, JobStatus
from mason.errors import Interrupted, MasonError, NotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.execution.fixtures import ENDLESS, Ask, ExecutionFixtures, run

_PATIENCE = 60


class CancelTests(ExecutionFixtures):
    @tests_verbs("cancel_job")
    def test_cancel_job_that_is_not_there_raises_not_found(self, client: ExecutionClient) -> None:
        with fails_with(NotFound):
            answer(client.cancel_job, "00000000-0000-0000-0000-000000000000")

    @tests_verbs("submit_job", "cancel_job", "get_job")
    def test_cancel_job_leaves_one_that_is_over_as_it_is(self, client: ExecutionClient, ask: Ask) -> None:
        done = run(client, ask("select 1 as one"))

        assert answer(client.cancel_job, done.id).status is JobStatus.SUCCEEDED
        assert answer(client.get_job, done.id).status is JobStatus.SUCCEEDED

    @tests_verbs("submit_job", "list_jobs", "get_job", "cancel_job")
    def test_cancel_job_ends_one_that_runs_and_whoever_waits_for_it_is_told(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        before = {each.id for each in answer(elsewhere.list_jobs)}
        waiting = _Waiting(client, ask(ENDLESS))
        job = _until(lambda: _running(elsewhere, before))

        answer(elsewhere.cancel_job, job.id)

        assert isinstance(waiting.error(), Interrupted)
        assert _until(lambda: _wait_for_end(elsewhere, job.id)).status is JobStatus.CANCELLED


class _Waiting:
    """Somebody who runs a job in a thread of their own."""

    def __init__(self, client: ExecutionClient, job: Job) -> None:
        self._raised: list[BaseException] = []
        plan = answer(client.plan_job, job)
        self._thread = threading.Thread(target=self._run, args=(client, plan), daemon=True)
        self._thread.start()

    def _run(self, client: ExecutionClient, plan: object) -> None:
        try:
            answer(client.run_job, plan)
        except MasonError as error:
            self._raised.append(error)

    def error(self) -> BaseException | None:
        """Wait for the end and return what was raised."""
        self._thread.join(_PATIENCE)
        assert not self._thread.is_alive(), "whoever waits for a job that was cancelled is to be told"
        return next(iter(self._raised), None)


def _running(client: ExecutionClient, before: set[str]) -> JobRecord | None:
    new = [each for each in answer(client.list_jobs) if each.id not in before]
    return next((each for each in new if each.status is JobStatus.RUNNING), None)


def _wait_for_end(client: ExecutionClient, job_id: str) -> JobRecord | None:
    found: JobRecord = answer(client.get_job, job_id)
    return found if found.status.is_final else None


def _until(read_record: Callable[[], JobRecord | None]) -> JobRecord:
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit:
        found = read_record()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("a job that runs is listed as running, and one that was cancelled ends")
