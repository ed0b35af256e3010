"""What every verb of a scheduler does alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mason.clients.engines.scheduler import SchedulerClient
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.testing.contract import answer, check_answer, is_refused
from mason.testing.scheduler.dags import CountingSteps, a_step
from mason.testing.scheduler.fixtures import EXPRESSION, Deploy, SchedulerFixtures

# Following a run is waiting for the work of a workflow, which a suite of schedulers has none of.
VERBS = sorted({*getattr(SchedulerClient, "__abstractmethods__")} - {"follow_run"})  # noqa: B009 (mypy does not know it)


class VerbTests(SchedulerFixtures):
    @pytest.mark.parametrize("verb", VERBS)
    def test_a_verb_gives_back_the_response_it_was_given(
        self, client: SchedulerClient, verb: str, name: str, deployment: Callable[..., Deployment], deploy: Deploy
    ) -> None:
        if is_refused(client, verb):
            return
        if not is_refused(client, "register_dag"):
            deploy(name)
        arguments: dict[str, tuple[Any, ...]] = {
            "run_dag": (Dag(name, (a_step("a"),)), CountingSteps()),
            "register_dag": (deployment(name),),
            "list_schedules": (),
            "validate_schedule": (Schedule(name=name, expression=EXPRESSION),),
            "trigger_schedule": (name,),
            "delete_schedule": (name,),
        }

        check_answer(getattr(client, verb), *arguments[verb])

    def test_follow_run_is_there_or_refused(self, client: SchedulerClient) -> None:
        assert is_refused(client, "follow_run") or callable(client.follow_run)

    def test_check_finds_nothing_wrong_with_a_client_that_works(self, client: SchedulerClient) -> None:
        assert client.check() == []

    def test_a_client_that_runs_nothing_itself_takes_what_is_to_be_run(self, client: SchedulerClient) -> None:
        if is_refused(client, "run_dag"):
            assert not is_refused(client, "register_dag")
            assert not is_refused(client, "trigger_schedule")

    def test_a_schedule_that_can_be_made_can_be_seen_and_deleted(self, client: SchedulerClient) -> None:
        if not is_refused(client, "register_dag"):
            assert not is_refused(client, "list_schedules")
            assert not is_refused(client, "delete_schedule")
            assert answer(client.list_schedules) is not None
