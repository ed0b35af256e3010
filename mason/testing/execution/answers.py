"""What an execution engine answers: the same rows, types and nulls as any other."""

from __future__ import annotations

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.clients.response import Response
from mason.testing.contract import answer, tests_verbs
from mason.testing.execution.fixtures import Ask, ExecutionFixtures, rows_of, run, types_of
from mason.testing.golden import ANSWERS, GoldenAnswer


class AnswerTests(ExecutionFixtures):
    @pytest.mark.parametrize("golden", ANSWERS, ids=lambda golden: golden.name)
    @tests_verbs("plan_job", "submit_job")
    def test_a_query_gives_the_rows_and_types_that_it_gives_everywhere(
        self, client: ExecutionClient, ask: Ask, golden: GoldenAnswer
    ) -> None:
        done = run(client, ask(golden.statement, golden.parameters))

        assert types_of(done) == golden.types
        assert rows_of(done) == golden.rows
        assert done.details["RowsOut"] == len(golden.rows)

    @tests_verbs("plan_job", "submit_job")
    def test_no_more_rows_come_back_than_the_limit_and_that_is_said(self, client: ExecutionClient, ask: Ask) -> None:
        response = Response()
        plan = answer(client.plan_job, ask("select id from orders order by id", limit=2))

        done, _ = client.run_job(plan, response=response)

        assert rows_of(done) == [{"id": 1}, {"id": 2}]
        assert done.details["HasMore"] is True
        assert [each for each in response.warnings if "Only the first 2 rows are here" in each]

    @tests_verbs("plan_job", "submit_job")
    def test_an_answer_of_exactly_the_limit_has_no_more(self, client: ExecutionClient, ask: Ask) -> None:
        done = run(client, ask("select n from numbers where n <= 3 order by n", limit=3))

        assert rows_of(done) == [{"n": 1}, {"n": 2}, {"n": 3}]
        assert done.details["HasMore"] is False

    @tests_verbs("plan_job", "submit_job")
    def test_an_answer_of_several_pages_is_whole_and_in_order(self, client: ExecutionClient, ask: Ask) -> None:
        statement = "select a.n * 1000 + b.n as n from numbers a, numbers b where a.n <= 3 order by 1"

        done = run(client, ask(statement, limit=10_000))

        assert [each["n"] for each in rows_of(done)] == [
            first * 1000 + second for first in range(1, 4) for second in range(1, 1001)
        ]
