"""The class that a workflow's author inherits from."""

from __future__ import annotations

from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.failed_dag_step import FailedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep


class WorkflowDefinition:
    """How a workflow goes from one step to the next. Without a `step` of its own, a step follows its dependencies."""

    def step(self, current: ExecutedDagStep, next: ValidDagStep) -> ValidDagStep | FailedDagStep | ExecutedDagStep:  # noqa: A002
        """Say what follows `current`, whose operator has run, on the way to `next`.

        Return `next` to have it run, `current.failed(reason)` to have `current` tried again as its policy says and then
        failed, or `current` to end this branch well. A step with several dependencies runs when each of them says so.
        """
        return current.failed(current.errors[0]) if current.errors else next
