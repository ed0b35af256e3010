"""What a scheduler does with a workflow that it is handed."""

from __future__ import annotations

import pytest

from mason.clients.engines.scheduler import SchedulerClient
from mason.errors import BadInput, NotFound
from mason.testing.contract import answer, fails_with, tests_verbs
from mason.testing.scheduler.fixtures import EXPRESSION, OTHER_EXPRESSION, Deploy, SchedulerFixtures, names


class RegistrationTests(SchedulerFixtures):
    @tests_verbs("register_dag", "list_schedules")
    @pytest.mark.parametrize("expression", ["", EXPRESSION, "0 6 * * * Europe/Berlin"])
    def test_register_dag_makes_a_schedule_that_is_listed_as_it_was_given(
        self, client: SchedulerClient, name: str, deploy: Deploy, expression: str
    ) -> None:
        if expression in self.refuses:
            with fails_with(BadInput, saying=self.refuses[expression]):
                deploy(name, expression)
            return
        made = deploy(name, expression)

        assert (made.name, made.expression) == (name, expression)
        (found,) = [each for each in answer(client.list_schedules) if each.name == name]
        assert found.expression == expression

    @tests_verbs("register_dag", "list_schedules")
    def test_register_dag_again_takes_the_place_of_what_was_there(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(name, EXPRESSION)
        deploy(name, OTHER_EXPRESSION)

        found = [each.expression for each in answer(client.list_schedules) if each.name == name]
        assert found == [OTHER_EXPRESSION]

    @tests_verbs("register_dag", "list_schedules")
    def test_register_dag_that_is_refused_keeps_what_was_there(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(name, EXPRESSION)

        with fails_with(BadInput):
            deploy(name, "61 * * * *")

        found = [each.expression for each in answer(client.list_schedules) if each.name == name]
        assert found == [EXPRESSION]

    @tests_verbs("register_dag", "list_schedules")
    @pytest.mark.parametrize("bad_name", ["two words", "../up", "a'b\"c"])
    def test_register_dag_refuses_what_can_be_no_name_and_makes_nothing(
        self, client: SchedulerClient, deploy: Deploy, bad_name: str
    ) -> None:
        before = names(client)

        with fails_with(BadInput):
            deploy(bad_name)

        assert [each for each in names(client) if each not in before] == []  # of what was there, others may delete some

    @tests_verbs("register_dag", "list_schedules", "delete_schedule")
    def test_a_name_may_have_dots_dashes_and_underscores(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(f"{name}.a-b_C")

        assert f"{name}.a-b_C" in names(client)
        answer(client.delete_schedule, f"{name}.a-b_C")
        assert f"{name}.a-b_C" not in names(client)

    @tests_verbs("register_dag", "delete_schedule", "list_schedules")
    def test_a_schedule_that_was_deleted_can_be_made_again(
        self, client: SchedulerClient, name: str, deploy: Deploy
    ) -> None:
        deploy(name, EXPRESSION)
        answer(client.delete_schedule, name)
        with fails_with(NotFound):
            answer(client.delete_schedule, name)

        deploy(name, OTHER_EXPRESSION)

        found = [each.expression for each in answer(client.list_schedules) if each.name == name]
        assert found == [OTHER_EXPRESSION]
