"""What a scheduler that runs workflows itself does with the steps of a DAG."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import Follow, FollowDecision, StepEvent, StepStatus
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import Retry, ValidDagStep
from mason.testing.contract import answer, tests_verbs
from mason.testing.scheduler.fixtures import SchedulerFixtures

_NO_RETRY = Retry()


@dataclass(frozen=True)
class _Said:
    response: Response
    object: Any = None

    def to_dict(self) -> dict[str, Any]:
        return self.response.to_dict()


@dataclass(kw_only=True)
class CountingSteps:
    """Work whose steps do nothing but be counted; those in `failing` fail so many times."""

    failing: dict[str, int] = field(default_factory=dict)
    skipping: Sequence[str] = ()
    seconds: float = 0.0
    began: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    most_at_once: int = 0
    noted: list[StepEvent] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def skips(self, step: ValidDagStep) -> str:
        return "it is to be skipped" if step.key in self.skipping else ""

    def run_step(self, step: ValidDagStep) -> ExecutedDagStep:
        with self._lock:
            self.began.append(step.key)
            self.most_at_once = max(self.most_at_once, len(self.began) - len(self.ended))
            fails = self.failing.get(step.key, 0) > 0
            self.failing[step.key] = self.failing.get(step.key, 0) - 1
        time.sleep(self.seconds)
        with self._lock:
            self.ended.append(step.key)
        return self.make_failed_step(step, "it fails") if fails else ExecutedDagStep(step, _Said(Response()))

    def make_failed_step(self, step: ValidDagStep, message: str) -> ExecutedDagStep:
        response = Response()
        response.add_error(message)
        return ExecutedDagStep(step, _Said(response))

    def follow(self, current: ExecutedDagStep, following: ValidDagStep) -> FollowDecision:
        return FollowDecision(Follow.FAIL, current.errors[0]) if current.errors else FollowDecision(Follow.RUN)

    def follow_blocked(self, blocked: ValidDagStep, following: ValidDagStep, reason: str) -> FollowDecision:
        return FollowDecision(Follow.STOP, f'"{blocked.key}" did not run')

    def note(self, event: StepEvent) -> None:
        self.noted.append(event)

    def keep(self) -> None:
        """Nothing is written down."""


def a_step(key: str, *dependencies: str, retry: Retry = _NO_RETRY) -> ValidDagStep:
    return ValidDagStep(id=key, key=key, operator="demo:noop", digest="0" * 64, dependencies=dependencies, retry=retry)


DIAMOND = Dag("diamond", (a_step("a"), a_step("b", "a"), a_step("c", "a"), a_step("d", "b", "c")))


class DagTests(SchedulerFixtures):
    @tests_verbs("run_dag")
    def test_run_dag_runs_every_step_once_and_after_its_dependencies(self, client: SchedulerClient) -> None:
        work = CountingSteps()

        statuses = answer(client.run_dag, DIAMOND, work)

        assert statuses == dict.fromkeys("abcd", StepStatus.SUCCEEDED)
        assert sorted(work.began) == ["a", "b", "c", "d"]
        assert (work.began[0], work.began[-1]) == ("a", "d")

    @tests_verbs("run_dag")
    def test_run_dag_blocks_what_is_behind_a_failure_and_goes_on_elsewhere(self, client: SchedulerClient) -> None:
        work = CountingSteps(failing={"b": 1})

        statuses = answer(client.run_dag, DIAMOND, work)

        assert statuses == {
            "a": StepStatus.SUCCEEDED,
            "b": StepStatus.FAILED,
            "c": StepStatus.SUCCEEDED,
            "d": StepStatus.BLOCKED,
        }
        assert "d" not in work.began

    @tests_verbs("run_dag")
    def test_run_dag_skips_a_step_and_those_behind_it(self, client: SchedulerClient) -> None:
        statuses = answer(client.run_dag, DIAMOND, CountingSteps(skipping=["b"]))

        assert [statuses[key] for key in "abcd"] == ["succeeded", "skipped", "succeeded", "skipped"]

    @tests_verbs("run_dag")
    def test_run_dag_tries_a_step_again_as_often_as_it_says(self, client: SchedulerClient) -> None:
        dag = Dag("retries", (a_step("a", retry=Retry(2, 0.01)), a_step("b", retry=Retry(1, 0.01))))
        work = CountingSteps(failing={"a": 2, "b": 2})

        statuses = answer(client.run_dag, dag, work)

        assert statuses == {"a": StepStatus.SUCCEEDED, "b": StepStatus.FAILED}
        assert (work.began.count("a"), work.began.count("b")) == (3, 2)

    @tests_verbs("run_dag")
    def test_run_dag_runs_as_many_steps_at_once_as_it_may_and_not_more(self, client: SchedulerClient) -> None:
        dag = Dag("wide", tuple(a_step(f"s{number}") for number in range(6)))
        work = CountingSteps(seconds=0.05)

        client.run_dag(dag, work, limit=2, response=Response())

        assert work.most_at_once == 2

    @tests_verbs("run_dag")
    def test_run_dag_does_not_run_again_what_is_done(self, client: SchedulerClient) -> None:
        work = CountingSteps()

        statuses, _ = client.run_dag(
            DIAMOND, work, done={"a": {key: FollowDecision(Follow.RUN) for key in "bc"}}, response=Response()
        )

        assert sorted(work.began) == ["b", "c", "d"]
        assert statuses["a"] is StepStatus.SUCCEEDED

    @tests_verbs("run_dag")
    def test_run_dag_tells_the_work_how_every_step_ended(self, client: SchedulerClient) -> None:
        work = CountingSteps(failing={"b": 1})

        statuses = answer(client.run_dag, DIAMOND, work)

        final = {event.step.key: event.status for event in work.noted if event.status.is_final}
        assert final == dict(statuses)
