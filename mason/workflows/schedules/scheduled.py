"""What schedulers call: the run of a schedule that is due, a step of a run elsewhere, the verdict on such a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mason.clients.response import Response
from mason.errors import Conflict, MasonError, PathNotFound
from mason.operators.calls.token_limits import limit_to_deployer
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import respond
from mason.pipeline.work.memory_limits import limit_memory, server_limits
from mason.state.home import open_state, read_state
from mason.state.models import RecordKind
from mason.state.schedules import LOCAL, change_schedule, find_schedule
from mason.state.surroundings import OnlyConfigurations
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.definitions import Definitions
from mason.workflows.definition.parameter_file import parse_parameters
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.definition.validation import validate_workflow
from mason.workflows.runs.outside_runs import OutsideRun, StepExit, judge_outside_run, run_outside_step
from mason.workflows.runs.run_record import Origin
from mason.workflows.runs.runner import run_workflow
from mason.workflows.schedules.due import Firing

_PATIENCE = 30.0


class RunProcess:
    """The run of a schedule in a process of its own: what an operator does to it does not hit the scheduler.

    It says what it does where this process does so: for people, or with `options` as a server's log has it.
    """

    def __init__(
        self, env: MasonEnvironment, name: str, document: Mapping[str, Any], options: Sequence[str] = ()
    ) -> None:
        folder = Path(document["Folder"])
        if not folder.is_dir():
            raise PathNotFound(str(folder), hint="The workflow was deployed there: deploy it again.")
        self._process = subprocess.Popen(
            # -P: no file of the folder stands in for a module, as none does for the command `mason`.
            [sys.executable, "-P", "-m", "mason", "scheduled", "run", *options, name],
            cwd=folder,
            env={**os.environ, **env.variables, "MASON_SCHEDULED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # its response is in the record
            start_new_session=True,  # ctrl-C reaches it once, from `stop`
        )

    def poll(self) -> int | None:
        return self._process.poll()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def run_due(env: MasonEnvironment, name: str) -> OperatorResponse:
    """Run what the scheduler claimed of a schedule; why it could not begin is kept with the schedule."""

    def work(response: Response) -> OperatorResponse:
        store = open_state(env)
        document = find_schedule(store, LOCAL, name).document
        firing = Firing.of(document)
        if firing is None:
            raise Conflict(f'Nothing of the schedule "{name}" is due.')
        limit_to_deployer(store, document)
        _limit_memory(env, document)
        try:
            origin = Origin(run_id=firing.run_id, schedule=name, due_at=firing.due_at)
            run_workflow(restore_workflow(env, document), response, origin=origin)
        except MasonError as error:
            if store.get_record(RecordKind.RUN, firing.run_id) is None:
                message = str(error)
                change_schedule(store, LOCAL, name, lambda before: {**before, "LastError": message})
            raise
        return OperatorResponse(response)

    return respond(work)


def run_step(env: MasonEnvironment, outside: OutsideRun, key: str, attempt: int) -> StepExit:
    """Run a step of a run elsewhere.

    Raises:
        MasonError: there is no such schedule or step, or something of it is not there any more.
    """
    store = read_state(env)
    document = find_schedule(store, outside.scheduler, outside.schedule).document
    limit_to_deployer(store, document)
    _limit_memory(env, document)
    return run_outside_step(_workflow_of(env, outside), outside, key, attempt)


def judge_run(env: MasonEnvironment, outside: OutsideRun) -> OperatorResponse:
    """Say how a run elsewhere ended."""

    def work(response: Response) -> OperatorResponse:
        judge_outside_run(_workflow_of(env, outside), outside, response)
        return OperatorResponse(response)

    return respond(work)


def restore_workflow(env: MasonEnvironment, document: Mapping[str, Any]) -> ValidWorkflow:
    """Return a workflow as it was deployed, with the operators that are current now, or pinned.

    Raises:
        MasonError: something that it needs is not there any more.
    """
    roots = document.get("Roots")
    bound = replace(env, roots=None if roots is None else tuple(roots))
    store = read_state(env)
    store.surroundings = OnlyConfigurations(store.surroundings)
    definitions = Definitions(bound, store, document.get("Pinned", {}))
    name, _, digest = str(document["Workflow"]).partition("@")
    file = parse_parameters(document["Parameters"], document["ParameterFile"])
    return validate_workflow(definitions, definitions.workflow(name, digest), file, document["Configuration"])


def _limit_memory(env: MasonEnvironment, document: Mapping[str, Any]) -> None:
    """Limit what a schedule runs that was deployed through a server as calls there are limited."""
    if document.get("Roots") is not None:
        limit_memory(server_limits(env))


def _workflow_of(env: MasonEnvironment, outside: OutsideRun) -> ValidWorkflow:
    return restore_workflow(env, find_schedule(read_state(env), outside.scheduler, outside.schedule).document)
