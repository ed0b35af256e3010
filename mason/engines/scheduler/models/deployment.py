"""Deployments: a workflow with all that a scheduler needs to run it later, without the process that deployed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.schedule import Schedule


@dataclass(frozen=True)
class StepPlace:
    """Where a step works by its own configuration, for a scheduler that does the step in a way of its own."""

    path: str
    """A path of its parameters with its scheme, as the storage of the step understands it."""
    storage: str = ""
    """The address of that storage."""
    catalog: str = ""
    """What the catalog is called in which the step saves its tables; nothing for one that only Mason reads."""


def _unknown_place(step: str, path: str) -> StepPlace:
    return StepPlace(path)


@dataclass(frozen=True, kw_only=True)
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

    deployed_by: str = ""
    """Who asked for it: the name of a token of the REST API; nothing for a command."""

    pinned: Mapping[str, str] = field(default_factory=dict)
    """The digests of what is not registered, such as a project's: `operator table:get` → the version that is run."""

    others: Sequence[str] = ()
    """The other schedulers that could take it, for one that does not."""

    find_place: Callable[[str, str], StepPlace] = field(default=_unknown_place, repr=False, compare=False)
    """Says where a step works: given its key, and a path of its parameters. Clients are built for it, so on request."""

    def gives_way(self, former: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is lost of the deployment that had the name until now, which `to_dict` made; it may be none."""
        name, was = self.schedule.name, str(former.get("Workflow", "")).partition("@")[0]
        if was and was != self.workflow.partition("@")[0]:
            yield f"{name} ran {was} until now, which gives way. -s gives this one another name."
        if former.get("Schedule") and not self.schedule.expression:
            yield f'{name} was due by "{former["Schedule"]}" until now; without --schedule it is when it is triggered.'

    def to_dict(self) -> Mapping[str, Any]:
        """Return what has to be kept to run it; its steps are found again from the workflow's digest."""
        return {
            "Name": self.schedule.name,
            "Schedule": self.schedule.expression,
            "Workflow": self.workflow,
            "Configuration": self.config_id,
            "Operators": sorted({step.operator for step in self.dag.steps}),
            "Configurations": sorted({self.config_id, *(step.config_id for step in self.dag.steps)}),
            "ParameterFile": self.parameter_file,
            "Parameters": self.parameters,
            **({"Pinned": dict(self.pinned)} if self.pinned else {}),
            "Folder": self.folder,
            "Roots": None if self.roots is None else list(self.roots),
        }
