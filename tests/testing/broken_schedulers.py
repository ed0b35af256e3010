"""Scheduler clients with one defect each, and the test of the suite that finds it."""

from __future__ import annotations

from dataclasses import replace

from mason.clients.engines.role import unsupported, verb
from mason.clients.local.dag_loop import DagLoop
from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, NotFound
from mason.testing.scheduler.fixtures import a_deployment

Good = LocalSchedulerClient
FOUND_BY: dict[type[Good], str] = {}


def found_by(test: str):
    def mark(broken: type[Good]) -> type[Good]:
        FOUND_BY[broken] = test
        return broken

    return mark


class DeclaresWhatItLacks(Good):
    """A scheduler that lives elsewhere, and says so."""

    run_dag = unsupported("it runs nothing here")


@found_by("test_a_verb_gives_back_the_response_it_was_given[list_schedules]")
class ForgetsTheResponse(Good):
    def list_schedules(self, *, response):
        return super().list_schedules(response=response)[0], Response()


@found_by("test_a_verb_gives_back_the_response_it_was_given[delete_schedule]")
class ReturnsOnlyTheValue(Good):
    def delete_schedule(self, name, *, response):
        super().delete_schedule(name, response=response)


@found_by("test_a_verb_gives_back_the_response_it_was_given[register_dag]")
class ReportsAnErrorAndGoesOn(Good):
    def register_dag(self, deployment, *, response):
        made = super().register_dag(deployment, response=response)
        if deployment.schedule.expression == "":
            response.add_error("something")
        return made


@found_by("test_follow_run_is_there_or_refused")
class SaysNothingOfFollowing(Good):
    follow_run = None


@found_by("test_check_finds_nothing_wrong_with_a_client_that_works")
class AlwaysComplains(Good):
    def check(self):
        return ["it rains"]


@found_by("test_a_client_that_runs_nothing_itself_takes_what_is_to_be_run")
class RunsNothingAndTakesNothing(Good):
    run_dag = unsupported("it runs nothing here")
    trigger_schedule = unsupported("it starts nothing")


@found_by("test_a_schedule_that_can_be_made_can_be_seen_and_deleted")
class CannotDelete(Good):
    delete_schedule = unsupported("it keeps everything")


@found_by("test_list_schedules_is_sorted_by_name_and_leaves_none_out")
class ListsUnsorted(Good):
    def list_schedules(self, *, response):
        found, response = super().list_schedules(response=response)
        return found[::-1], response


@found_by("test_list_schedules_is_sorted_by_name_and_leaves_none_out")
class ListsOnePage(Good):
    def list_schedules(self, *, response):
        found, response = super().list_schedules(response=response)
        return found[:20], response


@found_by("test_validate_schedule_refuses_what_means_no_moment[@dayly]")
class ValidatesNothing(Good):
    def validate_schedule(self, schedule, *, response):
        return None, response


@found_by("test_validate_schedule_takes_what_can_be_kept[@daily]")
class KnowsNoWords(Good):
    @verb
    def validate_schedule(self, schedule, *, response):
        if schedule.expression.startswith("@"):
            raise BadInput("What is this?")
        schedule.check()


@found_by("test_validate_schedule_refuses_what_can_be_no_name[two words]")
class TakesAnyName(Good):
    @verb
    def validate_schedule(self, schedule, *, response):
        replace(schedule, name="a").check()


@found_by("test_validate_schedule_makes_none")
class KeepsWhatItValidates(Good):
    @verb
    def validate_schedule(self, schedule, *, response):
        self.register_dag(a_deployment(schedule.name, schedule.expression), response=response)


@found_by("test_delete_schedule_deletes_this_one_and_not_one_whose_name_begins_the_same")
class DeletesByPrefix(Good):
    @verb
    def delete_schedule(self, name, *, response):
        found = [each.name for each in self.list_schedules(response=response)[0] if each.name.startswith(name)]
        if name not in found:
            raise NotFound(f'There is no schedule "{name}".')
        for each in found:
            super().delete_schedule(each, response=response)


@found_by("test_delete_schedule_that_is_missing_raises_not_found")
class DeletesWhatIsNotThere(Good):
    @verb
    def delete_schedule(self, name, *, response):
        if name in [each.name for each in self.list_schedules(response=response)[0]]:
            super().delete_schedule(name, response=response)


@found_by("test_trigger_schedule_that_is_missing_raises_not_found")
class TriggersWhatIsNotThere(Good):
    @verb
    def trigger_schedule(self, name, *, response):
        return "a run"


@found_by("test_trigger_schedule_says_what_the_run_is_called_and_keeps_the_schedule")
class TriggersAndSaysNothing(Good):
    @verb
    def trigger_schedule(self, name, *, response):
        super().trigger_schedule(name, response=response)


@found_by("test_trigger_schedule_says_what_the_run_is_called_and_keeps_the_schedule")
class TriggersOnce(Good):
    @verb
    def trigger_schedule(self, name, *, response):
        run, _ = super().trigger_schedule(name, response=response)
        self.delete_schedule(name, response=response)
        return run


@found_by("test_register_dag_makes_a_schedule_that_is_listed_as_it_was_given[0 6 * * * Europe/Berlin]")
class LosesTheTimeZone(Good):
    def register_dag(self, deployment, *, response):
        schedule = replace(deployment.schedule, expression=" ".join(deployment.schedule.expression.split()[:5]))
        return super().register_dag(replace(deployment, schedule=schedule), response=response)


@found_by("test_register_dag_makes_a_schedule_that_is_listed_as_it_was_given[]")
class MakesAScheduleOutOfNothing(Good):
    def register_dag(self, deployment, *, response):
        schedule = replace(deployment.schedule, expression=deployment.schedule.expression or "@daily")
        return super().register_dag(replace(deployment, schedule=schedule), response=response)


@found_by("test_register_dag_again_takes_the_place_of_what_was_there")
class KeepsTheFirst(Good):
    @verb
    def register_dag(self, deployment, *, response):
        known = {each.name: each for each in self.list_schedules(response=response)[0]}
        if deployment.schedule.name in known:
            return known[deployment.schedule.name]
        return super().register_dag(deployment, response=response)[0]


@found_by("test_register_dag_that_is_refused_keeps_what_was_there")
class MakesRoomFirst(Good):
    @verb
    def register_dag(self, deployment, *, response):
        name = deployment.schedule.name
        if name in [each.name for each in self.list_schedules(response=response)[0]]:
            self.delete_schedule(name, response=response)
        return super().register_dag(deployment, response=response)[0]


@found_by("test_register_dag_refuses_what_can_be_no_name_and_makes_nothing[two words]")
class TidiesNames(Good):
    def register_dag(self, deployment, *, response):
        tidy = Schedule(name=deployment.schedule.name.replace(" ", "_"), expression=deployment.schedule.expression)
        return super().register_dag(replace(deployment, schedule=tidy), response=response)


@found_by("test_a_schedule_that_was_deleted_can_be_made_again")
class RemembersWhatWasDeleted(Good):
    gone: set[str] = set()

    def delete_schedule(self, name, *, response):
        answer = super().delete_schedule(name, response=response)
        self.gone.add(name)
        return answer

    def register_dag(self, deployment, *, response):
        if deployment.schedule.name in self.gone:
            raise BadInput("That one was deleted.")
        return super().register_dag(deployment, response=response)


class _RunsDags(Good):
    """A scheduler that runs DAGs in a way of its own."""

    def changed(self, dag, work, limit, done):
        return DagLoop(dag, work, limit or 4).run(done)

    @verb
    def run_dag(self, dag, work, *, limit=0, done={}, response):  # noqa: B006
        return self.changed(dag, work, limit, done)


@found_by("test_run_dag_runs_every_step_once_and_after_its_dependencies")
class RunsInAnyOrder(_RunsDags):
    def changed(self, dag, work, limit, done):
        free = Dag(dag.name, tuple(replace(each, dependencies=()) for each in reversed(dag.steps)))
        return DagLoop(free, work, 1).run(done)


@found_by("test_run_dag_blocks_what_is_behind_a_failure_and_goes_on_elsewhere")
class GoesOnAfterAFailure(_RunsDags):
    def changed(self, dag, work, limit, done):
        for step in dag.steps:
            work.run_step(step)
        return {step.key: StepStatus.SUCCEEDED for step in dag.steps}


@found_by("test_run_dag_skips_a_step_and_those_behind_it")
class NeverSkips(_RunsDags):
    def changed(self, dag, work, limit, done):
        work.skipping = ()
        return super().changed(dag, work, limit, done)


@found_by("test_run_dag_tries_a_step_again_as_often_as_it_says")
class TriesOnce(_RunsDags):
    def changed(self, dag, work, limit, done):
        once = Dag(dag.name, tuple(replace(each, retry=type(each.retry)()) for each in dag.steps))
        return super().changed(once, work, limit, done)


@found_by("test_run_dag_runs_as_many_steps_at_once_as_it_may_and_not_more")
class KnowsNoLimit(_RunsDags):
    def changed(self, dag, work, limit, done):
        return super().changed(dag, work, 100, done)


@found_by("test_run_dag_runs_as_many_steps_at_once_as_it_may_and_not_more")
class OneAtATime(_RunsDags):
    def changed(self, dag, work, limit, done):
        return super().changed(dag, work, 1, done)


@found_by("test_run_dag_does_not_run_again_what_is_done")
class DoesEverythingAgain(_RunsDags):
    def changed(self, dag, work, limit, done):
        return super().changed(dag, work, limit, {})


@found_by("test_run_dag_tells_the_work_how_every_step_ended")
class KeepsItToItself(_RunsDags):
    def changed(self, dag, work, limit, done):
        statuses = super().changed(dag, work, limit, done)
        work.noted = [each for each in work.noted if each.status is not StepStatus.BLOCKED]
        return statuses


@found_by("test_a_name_may_have_dots_dashes_and_underscores")
class KnowsPlainNamesOnly(Good):
    def register_dag(self, deployment, *, response):
        if not deployment.schedule.name.isidentifier():
            raise BadInput("What a name!")
        return super().register_dag(deployment, response=response)
