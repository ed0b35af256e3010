"""What an execution engine says of a job before it runs, and which jobs it refuses."""

from __future__ import annotations

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.engines.execution.models.job import Job, JobPlan
from mason.errors import InvalidParameters, Unsupported
from mason.pipeline.sql.query import BadQuery
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.execution.fixtures import Ask, ExecutionFixtures

BAD_QUERIES = {
    "a column that is not there": ("select contry from orders", 'query:1:8: There is no column "contry".'),
    "a second statement": ("select 1; drop table orders", "query:1:11: A query is one statement"),
    "a statement that writes": ("delete from orders", "A query reads"),
    "no statement": ("", "The query is empty."),
    "what is no SQL": ("select from where", "The query cannot be understood"),
}


class PlanTests(ExecutionFixtures):
    @tests_verbs("plan_job")
    def test_plan_job_says_which_tables_and_columns_are_read(self, client: ExecutionClient, ask: Ask) -> None:
        job = ask("select country, count(*) as n from orders where paid group by country")

        plan = answer(client.plan_job, job)

        assert isinstance(plan, JobPlan)
        assert plan.job == job
        document = plan.to_dict()
        assert document["JobType"] == "query"
        assert [(each["Name"], sorted(each["Columns"])) for each in document["Tables"]] == [
            ("orders", ["country", "paid"])
        ]

    @tests_verbs("plan_job", "list_jobs")
    def test_plan_job_runs_nothing(self, client: ExecutionClient, ask: Ask) -> None:
        before = [each.id for each in answer(client.list_jobs)]

        answer(client.plan_job, ask("select id from orders"))

        assert [each.id for each in answer(client.list_jobs)] == before

    @tests_verbs("plan_job")
    def test_plan_job_of_a_type_that_there_is_not_raises_unsupported(self, client: ExecutionClient) -> None:
        with fails_with(Unsupported, saying="no_such_type"):
            answer(client.plan_job, Job("no_such_type"))

    @pytest.mark.parametrize("case", BAD_QUERIES)
    @tests_verbs("plan_job")
    def test_plan_job_refuses_a_query_that_is_none(self, client: ExecutionClient, ask: Ask, case: str) -> None:
        statement, message = BAD_QUERIES[case]
        job = ask("select id from orders")
        wrong = Job(job.type, job.inputs, job.outputs, {**job.options, "statement": statement})

        with fails_with(BadQuery, saying=message):
            answer(client.plan_job, wrong)

    @tests_verbs("plan_job")
    def test_plan_job_wants_the_parameters_of_the_query_and_no_others(self, client: ExecutionClient, ask: Ask) -> None:
        with fails_with(InvalidParameters, saying='leaves ":least" open'):
            answer(client.plan_job, ask("select id from orders where id > :least"))
        with fails_with(InvalidParameters, saying='no parameter ":most"'):
            answer(client.plan_job, ask("select id from orders", {"most": 3}))
