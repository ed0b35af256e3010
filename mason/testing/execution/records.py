"""What an execution engine says of its jobs afterwards, to whoever asks."""

from __future__ import annotations

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.engines.execution.models.job import JobRecord, JobStatus
from mason.errors import NotFound
from mason.pipeline.sql.query import BadQuery
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.execution.fixtures import WRONG, Ask, ExecutionFixtures, run

NO_JOBS = {
    "of nobody": "00000000-0000-0000-0000-000000000000",
    "empty": "",
    "a blank": " ",
    "a path": "../../etc/passwd",
    "a quote": "a'b\"c",
    "an emoji": "🙂",
    "long": "x" * 500,
}


class RecordTests(ExecutionFixtures):
    @tests_verbs("submit_job")
    def test_run_job_returns_the_record_of_a_job_that_succeeded(self, client: ExecutionClient, ask: Ask) -> None:
        done = run(client, ask("select 1 as one"))

        assert isinstance(done, JobRecord)
        assert done.id
        assert done.status is JobStatus.SUCCEEDED
        assert done.details["JobType"] == "query"
        assert done.details["StartedAt"] <= done.details["EndedAt"]

    @tests_verbs("submit_job", "get_job")
    def test_get_job_finds_a_job_from_elsewhere_and_shows_no_data(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        done = run(client, ask("select name from orders"))

        found = answer(elsewhere.get_job, done.id)

        assert (found.id, found.status) == (done.id, JobStatus.SUCCEEDED)
        assert found.details["JobType"] == "query"
        assert "Rows" not in found.details

    @pytest.mark.parametrize("name", NO_JOBS)
    @tests_verbs("get_job")
    def test_get_job_that_is_not_there_raises_not_found(self, client: ExecutionClient, name: str) -> None:
        with fails_with(NotFound):
            answer(client.get_job, NO_JOBS[name])

    @tests_verbs("submit_job", "list_jobs")
    def test_list_jobs_has_every_job_and_the_newest_first(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        ids = [run(client, ask("select 1 as one")).id for _ in range(4)]

        listed = [each.id for each in answer(elsewhere.list_jobs)]

        assert [each for each in listed if each in ids] == ids[::-1]
        assert len(listed) == len(set(listed))

    @tests_verbs("submit_job", "list_jobs")
    def test_list_jobs_is_short(self, client: ExecutionClient, ask: Ask) -> None:
        run(client, ask("select name from orders"))

        [listed, *_] = answer(client.list_jobs)

        assert listed.status is JobStatus.SUCCEEDED
        assert not [name for name, value in listed.details.items() if isinstance(value, list)]

    @tests_verbs("submit_job", "get_job", "list_jobs")
    def test_a_query_that_fails_raises_and_its_record_says_why(
        self, client: ExecutionClient, elsewhere: ExecutionClient, ask: Ask
    ) -> None:
        with fails_with(BadQuery, saying="Ann"):
            run(client, ask(WRONG))

        [newest, *_] = answer(elsewhere.list_jobs)
        found = answer(elsewhere.get_job, newest.id)
        assert found.status is JobStatus.FAILED
        assert "Ann" in found.details["Error"]

    @tests_verbs("submit_job")
    def test_a_job_is_run_again_as_another_job(self, client: ExecutionClient, ask: Ask) -> None:
        plan = answer(client.plan_job, ask("select 1 as one"))

        assert answer(client.run_job, plan).id != answer(client.run_job, plan).id
