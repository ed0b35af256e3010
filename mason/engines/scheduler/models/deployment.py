"""Deployments: a workflow with all that a scheduler needs to run it later, without the process that deployed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.schedule import Schedule


@dataclass(frozen=True)
class Deployment:
    """A checked workflow and when it is due."""

    schedule: Schedule
    dag: Dag
    workflow: str
    """Its name and digest: the version that is run, whatever is registered later."""
    config_id: str = ""
    parameter_file: str = ""
    parameters: str = field(default="", repr=False)
    """The text of the file of parameters: the schedule does not need the file any more."""
    folder: str = ""
    """The folder that relative paths are relative to."""
    home: str = ""
    """The MASON_HOME that knows the operators."""
    roots: Sequence[str] | None = None
    """Where its local paths must stay, whoever runs it; None where whoever deployed it was not bound either."""

    def to_dict(self) -> Mapping[str, Any]:
        """Return what has to be kept to run it; its steps are found again from the workflow's digest."""
        return {
            "Name": self.schedule.name,
            "Schedule": self.schedule.expression,
            "Workflow": self.workflow,
            "Configuration": self.config_id,
            "ParameterFile": self.parameter_file,
            "Parameters": self.parameters,
            "Folder": self.folder,
            "Roots": None if self.roots is None else list(self.roots),
        }
