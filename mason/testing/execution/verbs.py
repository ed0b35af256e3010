"""What every verb of an execution engine does alike."""

from __future__ import annotations

import pytest

from mason.clients.engines.execution import ExecutionClient
from mason.testing.contract import answer, check_answer, is_refused
from mason.testing.execution.fixtures import Ask, ExecutionFixtures, run


class VerbTests(ExecutionFixtures):
    @pytest.mark.parametrize("verb", ["plan_job", "submit_job", "get_job", "list_jobs", "cancel_job"])
    def test_a_verb_gives_back_the_response_it_was_given(self, client: ExecutionClient, verb: str, ask: Ask) -> None:
        if is_refused(client, verb):
            return
        job = ask("select 1 as one")
        done = run(client, job).id
        arguments = {
            "plan_job": (job,),
            "submit_job": (answer(client.plan_job, job),),
            "get_job": (done,),
            "list_jobs": (),
            "cancel_job": (done,),
        }

        check_answer(getattr(client, verb), *arguments[verb])

    def test_check_finds_nothing_wrong_with_a_client_that_works(self, client: ExecutionClient) -> None:
        assert client.check() == []

    def test_job_types_are_named(self, client: ExecutionClient) -> None:
        types = client.job_types()

        assert not isinstance(types, str)
        assert "query" in types
        assert len(types) == len(set(types))
