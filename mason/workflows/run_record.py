"""The record of a run: kept while it goes on, so that it can be looked at, and resumed, from any process."""

from __future__ import annotations

import json
import os
import socket
import threading
import uuid
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from mason import __version__
from mason.engines.scheduler.models.dags.dag_run import StepEvent, StepStatus
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import MasonError, StateFailed
from mason.operators.runner import PreparedOperator
from mason.state.models import Lease, RecordKind, RunStep
from mason.state.store import StateStore
from mason.util.processes import ProcessId
from mason.workflows.fingerprint import call_digest, shown_parameters, step_files
from mason.workflows.valid_workflow import ValidWorkflow

LEASE_SECONDS = 30.0
MOST_DATA = 1024 * 1024
"""So many characters of a step's data are kept, as JSON; of more, none."""

_KEPT_ATTEMPTS = 100


def run_lease(run_id: str) -> str:
    return f"run:{run_id}"


class RunRecord:
    """What this process writes down of a run. A step is written down before anything follows it."""

    def __init__(self, store: StateStore, workflow: ValidWorkflow, resumed: str = "") -> None:
        self.run_id = uuid.uuid4().hex[:16]
        self._store = store
        self._workflow = workflow
        self._numbers = {step.key: number for number, step in enumerate(workflow.dag.steps)}
        self._documents: dict[str, dict[str, Any]] = {}
        self._details: dict[str, dict[str, Any]] = {}
        self._noted: dict[str, RunStep] = {}
        self._over = threading.Event()
        self._lease = store.acquire_lease(run_lease(self.run_id), self.run_id, LEASE_SECONDS)
        process = ProcessId.of(os.getpid())
        document = {
            "Workflow": workflow.registration.pinned_name,
            "Name": workflow.dag.name,
            "Configuration": workflow.config.id,
            "Scheduler": workflow.scheduler,
            "ParameterFile": workflow.parameter_path,
            "Mason": __version__,
            "StartedAt": _now(),
            **({"ResumedFrom": resumed} if resumed else {}),
            "Process": {"Host": socket.gethostname(), "Pid": process.pid, "Started": process.started},
        }
        self._record = store.add_record(RecordKind.RUN, self.run_id, StepStatus.RUNNING, document)
        threading.Thread(target=self._hold, daemon=True).start()

    def reuse(self, steps: Mapping[str, RunStep]) -> None:
        """Write down steps of an earlier run as steps of this one."""
        reused = []
        for key, step in steps.items():
            document = {**step.document, "ReusedFrom": step.document.get("ReusedFrom", step.run)}
            reused.append(RunStep(self.run_id, key, self._numbers[key], step.status, document))
        self._store.save_run_steps(reused)

    def begin_work(self, step: ValidDagStep, prepared: PreparedOperator) -> None:
        """Take down what a step is about to do; called by the thread that does it."""
        details: dict[str, Any] = {
            "Parameters": shown_parameters(prepared.parameters),
            "Call": call_digest(step.digest, prepared.config, prepared.parameters),
        }
        with suppress(MasonError, OSError):  # what is wrong with its inputs is for the operator to say
            files = step_files(prepared, self._workflow.bound[step.key].operator.spec)
            details |= {"Inputs": dict(files.inputs), "Outputs": list(files.outputs)}
        self._details[step.key] = details  # as a whole: the other thread may be writing the step down

    def note(self, event: StepEvent, result: Mapping[str, Any] | None) -> None:
        """Write down a change of a step."""
        now = _now()
        document = self._documents.setdefault(
            event.step.key,
            {"Operator": event.step.pinned_operator, "Configuration": event.step.config_id, "Attempts": []},
        )
        if event.status is StepStatus.RUNNING:
            document.setdefault("StartedAt", now)
            document["Attempts"] = [*document["Attempts"], {"StartedAt": now}][-_KEPT_ATTEMPTS:]
        elif document["Attempts"]:
            document["Attempts"][-1] |= {"EndedAt": now, **({"Reason": event.reason} if event.reason else {})}
        if event.status.is_final:
            document["EndedAt"] = now
        if event.reason:
            document["Reason"] = event.reason
        else:
            document.pop("Reason", None)
        if result is not None:
            document["Response"] = _kept(result)
        if event.verdicts:
            document["Follows"] = {key: list(verdict) for key, verdict in event.verdicts.items()}
        whole = {**document, **self._details.get(event.step.key, {})}
        row = RunStep(self.run_id, event.step.key, self._numbers[event.step.key], event.status, whole)
        self._noted[event.step.key] = row

    def keep(self) -> None:
        """Write down what was noted since the last time, in one go."""
        if self._noted:
            self._store.save_run_steps(list(self._noted.values()))
            self._noted.clear()

    def end(self, status: StepStatus, statuses: Mapping[str, StepStatus], error: str = "") -> dict[str, Any]:
        """Write down how the run ended, and return what is said of it."""
        self._over.set()
        try:
            self.keep()
        except StateFailed:
            if not error:  # else it is what the run ended with, and its own record is still worth a try
                raise
        counts = Counter(statuses.values())
        document = {
            **self._record.document,
            "EndedAt": _now(),
            "Steps": {each.value: counts[each] for each in StepStatus if counts[each]},
            **({"Error": error} if error else {}),
        }
        self._record = self._store.update_record(self._record, status, document)
        if self._lease:
            self._store.release_lease(self._lease)
        said = {key: value for key, value in document.items() if key != "Process"}
        return {"RunID": self.run_id, "Status": status, **said}

    def _hold(self) -> None:
        while not self._over.wait(LEASE_SECONDS / 3):
            with suppress(StateFailed):
                self._lease = self._held(self._lease)

    def _held(self, lease: Lease | None) -> Lease | None:
        if lease is not None and self._store.renew_lease(lease, LEASE_SECONDS):
            return lease
        return self._store.acquire_lease(run_lease(self.run_id), self.run_id, LEASE_SECONDS)


def _kept(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response as it is kept: what JSON has no word for as text, and not more data than anybody will read."""
    from mason.util.json_text import json_value

    kept: dict[str, Any] = json_value(result)
    if kept["Data"] and len(json.dumps(kept["Data"])) > MOST_DATA:
        return {**kept, "Data": [], "DataLeftOut": True}
    return kept


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
