"""The scheduler role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import DagWork, FollowDecision, StepStatus
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule


class SchedulerClient(Role):
    """What starts work when it is due.

    A scheduler that lives in this process has `run_dag`. One that lives elsewhere refuses it: a workflow is registered
    with it, triggered and followed.
    """

    @abstractmethod
    def run_dag(
        self,
        dag: Dag,
        work: DagWork,
        *,
        limit: int = 0,
        done: Mapping[str, Mapping[str, FollowDecision]] = MappingProxyType({}),
        response: Response,
    ) -> tuple[Mapping[str, StepStatus], Response]:
        """Run a DAG now and return where each of its steps stands in the end.

        Args:
            work: what runs a step; a scheduler knows nothing of operators.
            limit: how many steps may run at the same time, where it is for this client to decide.
            done: steps that succeeded before and need not be run, each with what it says to those that follow it.

        Raises:
            Interrupted: ctrl-C.
        """

    @abstractmethod
    def register_dag(self, deployment: Deployment, *, response: Response) -> tuple[Schedule, Response]:
        """Keep a workflow and run it when it is due, from now on; one of the same name gives way to it.

        It returns when the scheduler has taken it. When it fails, what was registered before is still there.

        Raises:
            BadInput: the name or the expression cannot be kept, with what to write instead.
            Unprocessable: the scheduler cannot run such a DAG.
        """

    def plan_dag(self, deployment: Deployment) -> Sequence[str]:
        """Check what `register_dag` would check, and return what it would make, a line each; nothing is made.

        A dry run asks a scheduler that lives elsewhere.

        Raises:
            MasonError: what `register_dag` would raise.
        """
        self.validate_schedule(deployment.schedule, response=Response())
        return ()

    @abstractmethod
    def list_schedules(self, *, response: Response) -> tuple[Sequence[Schedule], Response]:
        """Return every schedule, sorted by name."""

    @abstractmethod
    def validate_schedule(self, schedule: Schedule, *, response: Response) -> tuple[None, Response]:
        """Check that this scheduler can keep the schedule.

        Raises:
            BadInput: it cannot, with what to write instead.
        """

    @abstractmethod
    def trigger_schedule(self, name: str, *, response: Response) -> tuple[str, Response]:
        """Start the work of a schedule now and return what the scheduler calls this run of it.

        Raises:
            NotFound: there is no such schedule.
        """

    @abstractmethod
    def follow_run(self, name: str, run: str, *, response: Response) -> tuple[Mapping[str, StepStatus], Response]:
        """Wait until a run that was triggered is over and return where each of its steps stands.

        Raises:
            NotFound: there is no such schedule, or no such run of it.
            Interrupted: ctrl-C; the run goes on.
        """

    def why_failed(self, name: str, run: str, step: str) -> str:
        """Return what the scheduler itself knows of why a step failed, where Mason could not begin it; or nothing."""
        return ""

    @abstractmethod
    def delete_schedule(self, name: str, *, response: Response) -> tuple[None, Response]:
        """Delete a schedule.

        Raises:
            NotFound: there is no such schedule.
        """
