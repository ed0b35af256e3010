"""Airflow as scheduler."""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mason.clients.airflow.dag_file import TAG, VERDICT, DagFile, dag_file, expression_in
from mason.clients.airflow.rest import AirflowApi
from mason.clients.airflow.task_log import failure_in
from mason.clients.engines.role import unsupported, verb
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import (
    ClientFailed,
    Conflict,
    Forbidden,
    Interrupted,
    MasonError,
    NotFound,
    PathNotFound,
    Unprocessable,
)
from mason.state.home import open_state, read_state
from mason.state.models import RecordKind
from mason.state.schedules import (
    change_schedule,
    check_may_change,
    forget_schedule,
    list_hidden_names,
    unknown_schedule,
)
from mason.util.atomic_file import write_file
from mason.util.names import is_config_id

LOG = logging.getLogger("mason")
AIRFLOW = "airflow"
_PARSE_SECONDS = 330
_SECONDS_BETWEEN = 0.5
_OVER = ("success", "failed")
_STATUSES = {
    "success": StepStatus.SUCCEEDED,
    "failed": StepStatus.FAILED,
    "upstream_failed": StepStatus.BLOCKED,
    "skipped": StepStatus.SKIPPED,
    "removed": StepStatus.CANCELLED,
    "running": StepStatus.RUNNING,
    "up_for_retry": StepStatus.RETRYING,
}


class AirflowSchedulerClient(SchedulerClient):
    """Writes DAG files into Airflow's folder and speaks to its REST API."""

    errors = {PermissionError: Forbidden, OSError: ClientFailed}
    run_dag = unsupported("Airflow runs them; clear the tasks of a run there to have them run again")

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._api = AirflowApi(
            configuration["url"], configuration.get("username") or "admin", configuration.get("password") or ""
        )
        self._folder = Path(configuration["dags_folder"]).expanduser().absolute()
        self._command: Sequence[str] = configuration.get("command") or [sys.executable, "-P", "-m", "mason"]
        self._parse_seconds: int = configuration.get("parse_seconds") or _PARSE_SECONDS

    def check(self) -> list[str]:
        problems = [] if self._folder.is_dir() else [f"dags_folder: there is no folder {self._folder}."]
        try:
            self._api.log_in()
        except MasonError as error:
            problems.append(str(error))
        return problems

    @verb
    def validate_schedule(self, schedule: Schedule, *, response: Response) -> None:
        schedule.check()

    @verb
    def register_dag(self, deployment: Deployment, *, response: Response) -> Schedule:
        schedule = deployment.schedule
        schedule.check()
        if not self._folder.is_dir():
            raise PathNotFound(str(self._folder), hint="It is `dags_folder` of the client airflow.")
        self._check_is_free(schedule.name)  # before anything is written
        with self._keep_deployment(deployment) as (start, former):
            made = dag_file(deployment, self._command, start)
            if self._is_there(schedule.name, made):
                response.add_info(f"Airflow has the DAG {schedule.name} as it is.")
            else:
                self._write(schedule.name, made)
                response.add_info(f"Wrote {self._file(schedule.name)}; Airflow has read it.")
        for lost in deployment.gives_way(former):
            response.add_warning(lost)
        return self._schedule(self._api.dag(schedule.name) or {"dag_id": schedule.name, "tags": []})

    @verb
    def list_schedules(self, *, response: Response) -> Sequence[Schedule]:
        return sorted((self._schedule(each) for each in self._list_visible_dags()), key=lambda each: each.name)

    @verb
    def trigger_schedule(self, name: str, *, response: Response) -> str:
        self._check_may_change(name)
        if not is_config_id(name) or not _has_tag(self._api.dag(name), TAG):
            raise self._unknown(name)
        self._api.pause(name, paused=False)
        run = f"mason__{uuid.uuid4().hex[:16]}"
        self._api.start_run(name, run)
        response.add_info(f"Airflow runs {name}: {self._api.url}/dags/{name}/runs/{run}")
        return run

    @verb
    def follow_run(self, name: str, run: str, *, response: Response) -> Mapping[str, StepStatus]:
        reported: dict[str, StepStatus] = {}
        try:
            while True:
                state = self._api.patiently(lambda: self._api.run_state(name, run))
                statuses = self._statuses(name, run)
                for key, status in statuses.items():
                    if reported.get(key, StepStatus.WAITING) is not status:
                        LOG.info("%s: %s", key, status)
                reported = statuses
                if not state:
                    raise NotFound(f'Airflow has no run "{run}" of {name} any more.', hint="Was its DAG deleted?")
                if state in _OVER:
                    return statuses
                if not self._api.patiently(self._api.scheduler_runs):
                    raise ClientFailed(
                        "Airflow's scheduler does not run.", hint=f"Start it: the run {run} goes on then."
                    )
                time.sleep(_SECONDS_BETWEEN)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted. The run {run} goes on in Airflow.") from None

    def why_failed(self, name: str, run: str, step: str) -> str:
        return failure_in(self._api.task_log(name, run, step))

    @verb
    def delete_schedule(self, name: str, *, response: Response) -> None:
        self._check_may_change(name)
        file = self._file(name)
        if not is_config_id(name) or not (file.exists() or _has_tag(self._api.find_dag(name), TAG)):
            raise self._unknown(name)
        self._pause_and_check(name)
        file.unlink(missing_ok=True)  # before the DAG goes: Airflow would read it again
        self._delete_dag(name, response)
        forget_schedule(open_state(self.mason_env), AIRFLOW, name)

    @contextmanager
    def _keep_deployment(self, deployment: Deployment) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Keep a deployment while its DAG is made, and go back to what was there if that fails.

        Yields its start, and what was there.
        """
        store = open_state(self.mason_env)
        name, wanted = deployment.schedule.name, deployment.to_dict()
        record = store.get_record(RecordKind.SCHEDULE, f"{AIRFLOW}:{name}")
        before = record.document if record else {}
        is_same = bool(before) and all(before.get(key) == value for key, value in wanted.items())
        start = str(before["DeployedAt"]) if is_same else datetime.now(UTC).isoformat(timespec="seconds")
        who = {"DeployedAt": start, "DeployedBy": deployment.deployed_by}
        file = self._file(name)
        old_text = file.read_bytes() if file.exists() else None
        change_schedule(store, AIRFLOW, name, lambda _: {**wanted, **who})
        try:
            yield start, before
        except BaseException:
            if before:
                change_schedule(store, AIRFLOW, name, lambda _: before)
            else:
                forget_schedule(store, AIRFLOW, name)
            if old_text is not None:
                write_file(file, old_text)
            else:
                file.unlink(missing_ok=True)
            raise

    def _is_there(self, name: str, made: DagFile) -> bool:
        file = self._file(name)
        if not file.exists() or file.read_text(encoding="utf-8") != made.text:
            return False
        return _has_tag(self._api.dag(name), made.tag)

    def _write(self, name: str, made: DagFile) -> None:
        """Write the file in one step and wait until Airflow has read it."""
        file = self._file(name)
        known = {_error_key(each) for each in self._api.import_errors(file.name)}
        write_file(file, made.text.encode())
        end = time.monotonic() + self._parse_seconds
        while not _has_tag(self._api.patiently(lambda: self._api.dag(name)), made.tag):
            for each in self._api.patiently(lambda: self._api.import_errors(file.name)):
                if _error_key(each) not in known:
                    lines = str(each["stack_trace"]).strip().splitlines()
                    raise Unprocessable(
                        f"Airflow cannot import {file}: {lines[-1] if lines else 'it does not say why'}"
                    )
            if time.monotonic() > end:
                raise ClientFailed(
                    f"Airflow has not read {file} within {self._parse_seconds} seconds.",
                    hint="Does its dag-processor run, and is `dags_folder` the folder that it looks at? "
                    "`parse_seconds` of the client airflow says how long to wait.",
                )
            time.sleep(_SECONDS_BETWEEN)

    def _pause_and_check(self, name: str) -> None:
        """Pause a DAG that is to be deleted, unless it runs: without its run Airflow's scheduler would die."""
        dag = self._api.dag(name) or {}
        self._api.pause(name, paused=True)  # first: from now on no run begins by itself
        active = self._api.active_runs(name)
        if active:
            self._api.pause(name, paused=bool(dag.get("is_paused")))
            raise Conflict(
                f"Airflow runs {name} just now ({active[0]}).",
                hint="Wait until it is over, or end it there; delete it then.",
            )

    def _delete_dag(self, name: str, response: Response) -> None:
        """Delete a DAG once Airflow has noticed that its file is gone."""
        # Before that its dag-processor may be about to write to the DAG, and dies when it is not there any more.
        end = time.monotonic() + self._parse_seconds
        while self._api.patiently(lambda: self._api.dag(name)) is not None:
            if time.monotonic() > end:
                response.add_warning(f"Airflow has not noticed yet that the file of {name} is gone; its history stays.")
                return
            time.sleep(_SECONDS_BETWEEN)
        if not self._api.delete_dag(name):
            response.add_warning(f"Airflow had no DAG {name} any more; its file is removed.")

    def _statuses(self, name: str, run: str) -> dict[str, StepStatus]:
        states = self._api.patiently(lambda: self._api.task_states(name, run))
        return {key: _STATUSES.get(state, StepStatus.WAITING) for key, state in states.items() if key != VERDICT}

    def _schedule(self, dag: Mapping[str, Any]) -> Schedule:
        workflow = str(dag.get("description") or "").removeprefix("Mason workflow ")
        tags = [str(each["name"]) for each in dag["tags"]]
        due = str(dag.get("next_dagrun_run_after") or "")
        return Schedule(
            name=str(dag["dag_id"]),
            expression=expression_in(tags),
            workflow=workflow,
            next_due_at=due,
            is_paused=bool(dag.get("is_paused")),
        )

    def _check_is_free(self, name: str) -> None:
        dag = self._api.dag(name)
        if dag is not None and not _has_tag(dag, TAG):
            raise Conflict(f"Airflow has a DAG {name} that Mason did not deploy.", hint="Give it another name with -s.")

    def _check_may_change(self, name: str) -> None:
        if is_config_id(name):  # nothing else can be the name of a schedule
            check_may_change(open_state(self.mason_env), AIRFLOW, name)

    def _unknown(self, name: str) -> NotFound:
        return unknown_schedule(name, sorted(str(each["dag_id"]) for each in self._list_visible_dags()))

    def _list_visible_dags(self) -> list[Mapping[str, Any]]:
        hidden = list_hidden_names(read_state(self.mason_env), AIRFLOW)
        return [each for each in self._api.dags(TAG) if each["dag_id"] not in hidden]

    def _file(self, name: str) -> Path:
        return self._folder / f"mason_{name}.py"


def _has_tag(dag: Mapping[str, Any] | None, tag: str) -> bool:
    return dag is not None and any(each["name"] == tag for each in dag["tags"])


def _error_key(error: Mapping[str, Any]) -> tuple[Any, Any]:
    return error["import_error_id"], error["timestamp"]
