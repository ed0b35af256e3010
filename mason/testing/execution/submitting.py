"""How a job is handed to an engine: it is accepted at once, once, and whoever asks later finds it."""

from __future__ import annotations

import threading
from contextlib import suppress

from mason.clients.engines.execution import ExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import JobPlan, JobRecord, JobStatus
from mason.errors import Interrupted, NotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.execution.fixtures import ENDLESS, Ask, ExecutionFixtures

_SECONDS_TO_ACCEPT = 20.0
_SECONDS_TO_END = 120.0


class SubmitTests(ExecutionFixtures):
    @tests_verbs("submit_job", "get_job", "cancel_job")
    def test_submit_job_returns_while_the_job_runs(self, client: ExecutionClient, ask: Ask) -> None:
        accepted = _Submission(client, answer(client.plan_job, ask(ENDLESS))).record()

        assert not accepted.status.is_final
        assert not answer(client.get_job, accepted.id).status.is_final
        answer(client.cancel_job, accepted.id)
        assert _wait_for_end(client, accepted.id).status is JobStatus.CANCELLED

    @tests_verbs("submit_job", "get_job")
    def test_a_submitted_job_is_found_from_elsewhere_until_it_is_over_and_then(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        accepted = answer(client.submit_job, answer(client.plan_job, ask("select name from orders")))

        assert answer(elsewhere.get_job, accepted.id).id == accepted.id
        assert _wait_for_end(elsewhere, accepted.id).status is JobStatus.SUCCEEDED

    @tests_verbs("submit_job", "get_job", "list_jobs")
    def test_what_is_submitted_again_with_its_token_is_one_job(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        plan = answer(client.plan_job, ask("select 1 as one"))
        before = {each.id for each in answer(client.list_jobs)}

        first, _ = client.submit_job(plan, token="the order of today", response=Response())
        again, _ = elsewhere.submit_job(plan, token="the order of today", response=Response())
        ended = _wait_for_end(client, first.id)
        after, _ = client.submit_job(plan, token="the order of today", response=Response())

        assert (again.id, after.id, ended.id) == (first.id,) * 3
        assert {each.id for each in answer(client.list_jobs)} - before == {first.id}

    @tests_verbs("submit_job", "get_job")
    def test_submissions_without_a_token_are_several_jobs(self, client: ExecutionClient, ask: Ask) -> None:
        plan = answer(client.plan_job, ask("select 1 as one"))

        ids = {answer(client.submit_job, plan).id for _ in range(2)}

        assert len(ids) == 2
        for each in ids:
            assert _wait_for_end(client, each).status is JobStatus.SUCCEEDED

    @tests_verbs("submit_job", "get_job", "cancel_job")
    def test_wait_job_returns_what_it_knows_when_its_time_is_over(self, client: ExecutionClient, ask: Ask) -> None:
        accepted = _Submission(client, answer(client.plan_job, ask(ENDLESS))).record()

        waited, _ = client.wait_job(accepted.id, response=Response(), timeout=0.2)

        assert not waited.status.is_final
        answer(client.cancel_job, accepted.id)
        assert _wait_for_end(client, accepted.id).status is JobStatus.CANCELLED

    @tests_verbs("get_job")
    def test_wait_job_for_one_that_is_not_there_raises_not_found(self, client: ExecutionClient) -> None:
        with fails_with(NotFound):
            client.wait_job("00000000-0000-0000-0000-000000000000", response=Response())


class _Submission:
    """Submits a job in a thread of its own: an engine that runs it to its end instead is found out in time."""

    def __init__(self, client: ExecutionClient, plan: JobPlan) -> None:
        self._client, self._plan = client, plan
        self._records: list[JobRecord] = []
        self._before = {each.id for each in answer(client.list_jobs)}
        self._thread = threading.Thread(target=self._submit, daemon=True)
        self._thread.start()

    def _submit(self) -> None:
        with suppress(Interrupted):  # of an engine that is found out, and whose job is cancelled then
            self._records.append(answer(self._client.submit_job, self._plan))

    def record(self) -> JobRecord:
        self._thread.join(_SECONDS_TO_ACCEPT)
        in_time = list(self._records)
        if not in_time:
            self._end_all()
        assert in_time, "submit_job returns as soon as the engine has accepted the job, not when it is over"
        return in_time[0]

    def _end_all(self) -> None:
        for each in answer(self._client.list_jobs):
            if each.id not in self._before:
                answer(self._client.cancel_job, each.id)


def _wait_for_end(client: ExecutionClient, job_id: str) -> JobRecord:
    ended, _ = client.wait_job(job_id, response=Response(), timeout=_SECONDS_TO_END)
    assert ended.status.is_final, "a job ends"
    return ended
