"""What a scheduler does with schedules that are there."""

from __future__ import annotations

import pytest

from mason.clients.engines.scheduler import SchedulerClient
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, NotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.scheduler.fixtures import EXPRESSION, Deploy, SchedulerFixtures, names

GOOD = ["", "* * * * *", EXPRESSION, "*/15 0-6 1,15 JAN,JUL *", "@daily", "0 6 * * * Europe/Berlin"]
BAD = [
    "61 * * * *",
    "0 24 * * *",
    "0 6 * *",
    "0 0 6 * * *",
    "0 0 30 2 *",
    "@dayly",
    "every day",
    "0 6 * * * Europe/Nowhere",
]


class ScheduleTests(SchedulerFixtures):
    @tests_verbs("register_dag", "list_schedules")
    def test_list_schedules_is_sorted_by_name_and_leaves_none_out(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        made = [f"{name}_{number:02}" for number in range(self.many)]
        for each in reversed(made):
            deploy(each)

        found = names(client)

        assert [each for each in found if each.startswith(name)] == made
        assert found == sorted(set(found))

    @tests_verbs("validate_schedule")
    @pytest.mark.parametrize("expression", GOOD)
    def test_validate_schedule_takes_what_can_be_kept(
        self, client: SchedulerClient, name: str, expression: str
    ) -> None:
        if expression in self.refuses:
            with fails_with(BadInput, saying=self.refuses[expression]):
                answer(client.validate_schedule, Schedule(name=name, expression=expression))
        else:
            assert answer(client.validate_schedule, Schedule(name=name, expression=expression)) is None

    @tests_verbs("validate_schedule")
    @pytest.mark.parametrize("expression", BAD)
    def test_validate_schedule_refuses_what_means_no_moment(
        self, client: SchedulerClient, name: str, expression: str
    ) -> None:
        with fails_with(BadInput):
            answer(client.validate_schedule, Schedule(name=name, expression=expression))

    @tests_verbs("validate_schedule")
    @pytest.mark.parametrize("bad_name", ["", "two words", "a/b", "a;b", "-a", "ä", "a" * 64])
    def test_validate_schedule_refuses_what_can_be_no_name(self, client: SchedulerClient, bad_name: str) -> None:
        with fails_with(BadInput):
            answer(client.validate_schedule, Schedule(name=bad_name, expression=EXPRESSION))

    @tests_verbs("validate_schedule", "list_schedules")
    def test_validate_schedule_makes_none(self, client: SchedulerClient, name: str) -> None:
        answer(client.validate_schedule, Schedule(name=name, expression=EXPRESSION))

        assert name not in names(client)

    @tests_verbs("register_dag", "delete_schedule", "list_schedules")
    def test_delete_schedule_deletes_this_one_and_not_one_whose_name_begins_the_same(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(name)
        deploy(f"{name}_2")

        assert answer(client.delete_schedule, name) is None

        assert [each for each in names(client) if each.startswith(name)] == [f"{name}_2"]

    @tests_verbs("delete_schedule")
    def test_delete_schedule_that_is_missing_raises_not_found(self, client: SchedulerClient, name: str) -> None:
        with fails_with(NotFound, saying=name):
            answer(client.delete_schedule, name)

    @tests_verbs("trigger_schedule")
    def test_trigger_schedule_that_is_missing_raises_not_found(self, client: SchedulerClient, name: str) -> None:
        with fails_with(NotFound, saying=name):
            answer(client.trigger_schedule, name)

    @tests_verbs("register_dag", "trigger_schedule", "list_schedules")
    def test_trigger_schedule_says_what_the_run_is_called_and_keeps_the_schedule(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(name)

        assert isinstance(answer(client.trigger_schedule, name), str)

        assert name in names(client)
