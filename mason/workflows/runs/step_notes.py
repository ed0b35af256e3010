"""What is written down of the steps of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from mason.engines.scheduler.models.dags.dag_run import StepEvent, StepStatus
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import MasonError
from mason.operators.runner import PreparedOperator
from mason.state.models import RunStep
from mason.state.store import StateStore
from mason.workflows.definition.valid_workflow import ValidWorkflow, call_digest, parameters_for_record
from mason.workflows.runs.step_paths import StepPath, step_paths

MOST_DATA = 1024 * 1024
"""So many characters of a step's data are kept, as JSON; of more, none."""

_KEPT_ATTEMPTS = 100
_NOTHING: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class StepNotes:
    """What this process writes down of steps. A step is written down before anything follows it."""

    def __init__(
        self,
        store: StateStore,
        workflow: ValidWorkflow,
        run_id: str,
        before: Mapping[str, Mapping[str, Any]] = _NOTHING,
    ) -> None:
        self.run_id = run_id
        self._store = store
        self._workflow = workflow
        self._numbers = {step.key: number for number, step in enumerate(workflow.dag.steps)}
        self._documents: dict[str, dict[str, Any]] = {key: dict(said) for key, said in before.items()}
        self._details: dict[str, dict[str, Any]] = {}
        self._outputs: dict[str, Sequence[StepPath]] = {}
        self._noted: dict[str, RunStep] = {}

    def begin_work(self, step: ValidDagStep, prepared: PreparedOperator) -> None:
        """Take down what a step is about to do; called by the thread that does it."""
        details: dict[str, Any] = {
            "Parameters": parameters_for_record(prepared.parameters),
            "Call": call_digest(step.digest, prepared.config, prepared.parameters),
        }
        with suppress(MasonError):
            changing = prepared.operator.answer_depends_on(prepared.parameters)
            details |= {"DependsOn": changing} if changing else {}
        with suppress(MasonError, OSError):  # what is wrong with its inputs is for the operator to say
            inputs, outputs = step_paths(prepared, self._workflow.bound[step.key].operator.spec)
            details |= {"Inputs": _fingerprints(inputs), "Outputs": [*map(str, outputs)]}
            self._outputs[step.key] = outputs
        self._details[step.key] = details  # as a whole: the other thread may be writing the step down

    def end_work(self, step: ValidDagStep) -> None:
        """Take down what a step has left behind it; called by the thread that did it."""
        outputs = self._outputs.get(step.key)
        if not outputs:
            return
        with suppress(MasonError, OSError):  # that it cannot be looked at is for who reads it to say
            self._details[step.key] = {**self._details[step.key], "Written": _fingerprints(outputs)}

    def note(self, event: StepEvent, result: Mapping[str, Any] | None) -> None:
        """Write down a change of a step."""
        now = now_text()
        document = self._documents.setdefault(
            event.step.key,
            {"Operator": event.step.pinned_operator, "Configuration": event.step.config_id, "Attempts": []},
        )
        if event.status is StepStatus.RUNNING:
            document.setdefault("StartedAt", now)
            document["Attempts"] = [*document["Attempts"], {"StartedAt": now}][-_KEPT_ATTEMPTS:]
        elif document["Attempts"] and "EndedAt" not in document["Attempts"][-1]:  # else it was cancelled between two
            document["Attempts"][-1] |= {"EndedAt": now, **({"Reason": event.reason} if event.reason else {})}
        if event.status.is_final:
            document["EndedAt"] = now
        if event.reason:
            document["Reason"] = event.reason
        else:
            document.pop("Reason", None)
        if result is not None:
            document["Response"] = _shorten_response(result)
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


def now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _fingerprints(paths: Sequence[StepPath]) -> dict[str, str]:
    return {str(each): each.fingerprint() for each in paths}


def _shorten_response(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response as it is kept: not more data than anybody will read."""
    if result["Data"] and len(json.dumps(result["Data"])) > MOST_DATA:
        return {**result, "Data": [], "DataLeftOut": True}
    return dict(result)
