"""The scheduler role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.scheduler.models.schedule import Schedule


class SchedulerClient(Role):
    """What starts work when it is due."""

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
    def trigger_schedule(self, name: str, *, response: Response) -> tuple[None, Response]:
        """Start the work of a schedule now.

        Raises:
            NotFound: there is no such schedule.
        """

    @abstractmethod
    def delete_schedule(self, name: str, *, response: Response) -> tuple[None, Response]:
        """Delete a schedule.

        Raises:
            NotFound: there is no such schedule.
        """
