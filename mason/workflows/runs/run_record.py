"""The record of a run: kept while it goes on, so that it can be looked at, and resumed, from any process."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mason import __version__
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.errors import MasonError, StateFailed
from mason.state.heartbeat import Heartbeat
from mason.state.models import RecordKind, RunStep
from mason.state.store import StateStore
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.runs.step_notes import StepNotes, now_text

WORKS = "Works"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Why there is a run: somebody asked for it, another one is resumed, or a schedule was due."""

    run_id: str = ""
    """The id that it was given beforehand."""
    resumed: str = ""
    schedule: str = ""
    due_at: str = ""
    works: Mapping[str, str] = field(default_factory=dict)
    """The work that it takes up, by the steps."""

    def to_dict(self) -> dict[str, Any]:
        said = {"ResumedFrom": self.resumed, "Schedule": self.schedule, "DueAt": self.due_at, WORKS: dict(self.works)}
        return {key: value for key, value in said.items() if value}


ASKED_FOR = Origin()


def run_lease(run_id: str) -> str:
    return RecordKind.RUN.lease(run_id)


def this_folder() -> str:
    """Return the folder that paths are seen from, or nothing where it was removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def run_document(workflow: ValidWorkflow, origin: Origin) -> dict[str, Any]:
    """Return what is said of a run when it begins."""
    given = workflow.kept_parameters
    nested = sorted({owner.pinned_name for prefix, owner in workflow.owners.items() if prefix})
    return {
        "Workflow": workflow.registration.pinned_name,
        **({"Nested": nested} if nested else {}),
        "Name": workflow.dag.name,
        "Configuration": workflow.config.id,
        "Scheduler": workflow.scheduler,
        "Folder": this_folder(),
        "ParameterFile": workflow.parameter_path,
        **({"Parameters": given} if given is not None else {}),
        "Mason": __version__,
        "StartedAt": now_text(),
        **origin.to_dict(),
    }


def document_of_end(document: Mapping[str, Any], statuses: Mapping[str, StepStatus], error: str = "") -> dict[str, Any]:
    """Return what is said of a run when it is over."""
    counts = Counter(statuses.values())
    return {
        **document,
        "EndedAt": now_text(),
        "Steps": {each.value: counts[each] for each in StepStatus if counts[each]},
        **({"Error": error} if error else {}),
    }


class RunRecord(StepNotes):
    """What this process writes down of a run that it runs as a whole."""

    def __init__(self, store: StateStore, workflow: ValidWorkflow, origin: Origin = ASKED_FOR) -> None:
        super().__init__(store, workflow, origin.run_id or uuid.uuid4().hex[:16])
        self._heartbeat = Heartbeat(store, run_lease(self.run_id), self.run_id)  # first: it lives when it is seen
        document = {**run_document(workflow, origin), "Process": self._heartbeat.process}
        try:
            self._record = store.add_record(RecordKind.RUN, self.run_id, StepStatus.RUNNING, document)
        except MasonError:
            self._heartbeat.stop()
            raise

    def reuse(self, steps: Mapping[str, RunStep]) -> None:
        """Write down steps of an earlier run as steps of this one."""
        reused = []
        for key, step in steps.items():
            document = {**step.document, "ReusedFrom": step.document.get("ReusedFrom", step.run)}
            reused.append(RunStep(self.run_id, key, self._numbers[key], step.status, document))
        self._store.save_run_steps(reused)

    def end(self, status: StepStatus, statuses: Mapping[str, StepStatus], error: str = "") -> dict[str, Any]:
        """Write down how the run ended, and return what is said of it."""
        try:
            self.keep()
        except StateFailed:
            if not error:  # else it is what the run ended with, and its own record is still worth a try
                self._heartbeat.stop()
                raise
        document = document_of_end(self._record.document, statuses, error)
        try:
            self._record = self._store.update_record(self._record, status, document)
        finally:
            self._heartbeat.stop()
        said = {key: value for key, value in document.items() if key != "Process"}
        return {"RunID": self.run_id, "Status": status, **said}
