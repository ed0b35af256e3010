"""What a scheduler and the work that it runs say to each other while a DAG runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep


class StepStatus(StrEnum):
    """Where a step stands. All but the first three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    RETRYING = "retrying"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Its condition did not hold, or a step before it ended its branch, or was skipped itself."""
    BLOCKED = "blocked"
    """A step before it failed."""
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self not in (StepStatus.WAITING, StepStatus.RUNNING, StepStatus.RETRYING)

    @property
    def is_well(self) -> bool:
        return self in (StepStatus.SUCCEEDED, StepStatus.SKIPPED)


class Follow(StrEnum):
    """What one step says to the next."""

    RUN = "run"
    END = "end"
    """The branch ends here, and well."""
    FAIL = "fail"
    """The step before failed: it is tried again, if its policy allows it."""
    STOP = "stop"
    """The step before failed, and trying again would not help; or it never ran."""


class FollowDecision(NamedTuple):
    """What becomes of the way from one step to the next, and why."""

    follow: Follow
    reason: str = ""


class StepEvent(NamedTuple):
    """A change in where a step stands."""

    step: ValidDagStep
    status: StepStatus
    attempt: int = 0
    reason: str = ""
    executed: ExecutedDagStep | None = None
    verdicts: Mapping[str, FollowDecision] = {}
    wait: float = 0.0


class DagWork(Protocol):
    """The work of a DAG's steps. All but `run_step` is called by one thread, in the order in which things happen."""

    def skips(self, step: ValidDagStep) -> str:
        """Return why a step whose turn it is should not run, or nothing.

        Raises:
            MasonError: it cannot be said; the step has failed.
        """

    def run_step(self, step: ValidDagStep) -> ExecutedDagStep:
        """Run a step; whatever goes wrong is in its response. Several threads call this at the same time."""

    def make_failed_step(self, step: ValidDagStep, message: str) -> ExecutedDagStep:
        """Return the step as one whose operator gave nothing but this error."""

    def follow(self, current: ExecutedDagStep, following: ValidDagStep) -> FollowDecision:
        """Say whether a step follows one that was run."""

    def follow_blocked(self, blocked: ValidDagStep, following: ValidDagStep, reason: str) -> FollowDecision:
        """Say whether a step follows one that did not run, since a step before that failed."""

    def note(self, event: StepEvent) -> None:
        """Take notice of a change."""

    def keep(self) -> None:
        """Write down for good what was noted; called before what was noted to run begins to."""


def judge_step(errors: Sequence[str], verdicts: Sequence[FollowDecision]) -> tuple[str, bool]:
    """Return why a step that was run has failed, if it has, and whether it asks for another attempt.

    Args:
        errors: what its operator says.
        verdicts: what it says to the steps that follow it.
    """
    reason = next((each.reason for each in verdicts if each.follow in (Follow.FAIL, Follow.STOP)), "")
    asks_again = any(each.follow is Follow.FAIL for each in verdicts) or (not verdicts and bool(errors))
    return reason or (errors[0] if errors else ""), asks_again


class Ended(NamedTuple):
    """How a step ends that is not run."""

    status: StepStatus
    attempt: int
    reason: str


def end_without_running(said: Sequence[FollowDecision]) -> Ended | None:
    """Return how a step ends that those before it do not let run, or nothing when it runs."""
    against = next((each for each in said if each.follow in (Follow.FAIL, Follow.STOP)), None)
    if against:
        return Ended(StepStatus.BLOCKED, 0, against.reason)
    ended = next((each for each in said if each.follow is Follow.END), None)
    return Ended(StepStatus.SKIPPED, 0, ended.reason) if ended else None
