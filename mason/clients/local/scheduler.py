"""This machine as scheduler: it runs a workflow at once, or keeps it for `mason workflow --scheduler` to run."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from mason.clients.engines.role import unsupported, verb
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.local.dag_loop import DagLoop
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import DagWork, FollowDecision, StepStatus
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, Conflict
from mason.state.home import open_state, read_state
from mason.state.models import Record
from mason.state.schedules import LOCAL, PAUSED, change_schedule, find_schedule, forget_schedule, list_schedules

_LEAST_PARALLEL = 4
_WHO_FIRES = "`mason run` or `mason workflow --scheduler` runs what is due"


class LocalSchedulerClient(SchedulerClient):
    """Runs workflows in this process, and keeps schedules in the state."""

    follow_run = unsupported("its runs are recorded: `mason workflow --runs` lists them")

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._limit: int = configuration.get("parallel_steps") or max(_LEAST_PARALLEL, os.cpu_count() or 1)

    @verb
    def run_dag(
        self,
        dag: Dag,
        work: DagWork,
        *,
        limit: int = 0,
        done: Mapping[str, Mapping[str, FollowDecision]] = MappingProxyType({}),
        response: Response,
    ) -> Mapping[str, StepStatus]:
        return DagLoop(dag, work, limit or self._limit).run(done)

    @verb
    def register_dag(self, deployment: Deployment, *, response: Response) -> Schedule:
        deployment.schedule.check()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        former: dict[str, Any] = {}

        def add_deployment(before: Mapping[str, Any]) -> Mapping[str, Any]:
            former.clear()  # it is called again when another process was faster
            former.update(before)
            is_same = before.get("Schedule") == deployment.schedule.expression and PAUSED not in before
            # What was missed of the same schedule is still to be done; another one, or one that was paused, begins now.
            since = before["DoneUpTo"] if is_same else now
            unchanged = {key: before[key] for key in ("Firing", "Triggered") if key in before}
            who = {"DeployedAt": now, "DeployedBy": deployment.deployed_by}
            return {**deployment.to_dict(), **who, "DoneUpTo": since, **unchanged}

        name = deployment.schedule.name
        schedule = _schedule(change_schedule(open_state(self.mason_env), LOCAL, name, add_deployment))
        when = f"is due next at {schedule.next_due_at}" if schedule.next_due_at else "is due when it is triggered"
        response.add_info(f"{name} {when}; {_WHO_FIRES}.")
        for lost in deployment.gives_way(former):
            response.add_warning(lost)
        return schedule

    @verb
    def list_schedules(self, *, response: Response) -> Sequence[Schedule]:
        return [_schedule(each) for each in list_schedules(read_state(self.mason_env), LOCAL)]

    @verb
    def validate_schedule(self, schedule: Schedule, *, response: Response) -> None:
        schedule.check()

    @verb
    def trigger_schedule(self, name: str, *, response: Response) -> str:
        store = open_state(self.mason_env)
        paused = find_schedule(store, LOCAL, name).document.get(PAUSED)
        if paused:
            raise Conflict(f'The schedule "{name}" is paused: {paused}', hint="Deploy it again to resume it.")
        run = uuid.uuid4().hex[:16]
        asked = {"RunID": run, "At": datetime.now(UTC).isoformat(timespec="seconds")}
        change_schedule(store, LOCAL, name, lambda before: {**before, "Triggered": asked})
        response.add_info(f"{name} is due now; {_WHO_FIRES}.")
        return run

    @verb
    def delete_schedule(self, name: str, *, response: Response) -> None:
        store = open_state(self.mason_env)
        find_schedule(store, LOCAL, name)
        forget_schedule(store, LOCAL, name)


def _schedule(record: Record) -> Schedule:
    said = record.document
    firing = said.get("Firing", {})
    schedule = Schedule(
        name=said["Name"],
        expression=said["Schedule"],
        workflow=said["Workflow"],
        last_due_at=firing.get("DueAt", ""),
        last_run=firing.get("RunID", ""),
        deployed_by=said.get("DeployedBy", ""),
        is_paused=PAUSED in said,
        error=said.get(PAUSED) or said.get("LastError", ""),
    )
    if schedule.is_paused:
        return schedule
    try:
        next_due = schedule.timing.next_after(datetime.fromisoformat(said["DoneUpTo"])) if schedule.timing else None
    except (BadInput, KeyError, TypeError, ValueError) as error:  # one that cannot be read hides no other
        return replace(schedule, error=str(error))
    return replace(schedule, next_due_at=next_due.isoformat() if next_due else "")
