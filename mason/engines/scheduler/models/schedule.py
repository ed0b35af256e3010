"""Schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mason.engines.scheduler.models.timing import Timing
from mason.errors import BadInput
from mason.util.names import CONFIG_ID_RULE, is_config_id
from mason.util.view import View


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a named piece of work is due; without an expression, when somebody triggers it."""

    view: ClassVar[View] = View(
        columns=("Name", "Schedule", "NextDueAt", "LastDueAt", "LastRunID", "Paused", "DeployedBy", "Error")
    )
    name: str
    expression: str = ""
    workflow: str = ""
    """The version of the workflow that it runs, where the scheduler knows of it."""
    next_due_at: str = ""
    last_due_at: str = ""
    last_run: str = ""
    is_paused: bool = False
    deployed_by: str = ""
    """The token of the REST API that it was deployed with, where the scheduler knows of it."""
    error: str = ""
    """Why its last run did not begin, why it is paused, or why it cannot be due."""

    @property
    def timing(self) -> Timing | None:
        """When it is due.

        Raises:
            BadInput: the expression means no moment.
        """
        return self._read(Timing.of)

    def check(self) -> None:
        """Check what every scheduler asks of a schedule.

        Raises:
            BadInput: its name cannot be one, or its expression means no moment, or others than it seems to.
        """
        if not is_config_id(self.name):
            raise BadInput(
                f'"{self.name}" cannot be the name of a schedule: {CONFIG_ID_RULE}.', hint="Give one with -s."
            )
        self._read(Timing.parse_checked)

    def _read(self, read: Callable[[str], Timing]) -> Timing | None:
        try:
            return read(self.expression) if self.expression else None
        except ValueError as error:
            said = str(error)
            end = "" if said.endswith((".", "?")) else "."
            raise BadInput(f'The schedule of "{self.name}": {said}{end}') from error

    def to_dict(self) -> dict[str, Any]:
        more = {
            "Workflow": self.workflow,
            "NextDueAt": self.next_due_at,
            "LastDueAt": self.last_due_at,
            "LastRunID": self.last_run,
            "Paused": self.is_paused,
            "DeployedBy": self.deployed_by,
            "Error": self.error,
        }
        return {"Name": self.name, "Schedule": self.expression, **{key: value for key, value in more.items() if value}}
