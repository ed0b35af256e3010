"""This process as scheduler: it runs a workflow at once, and is done when the workflow is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mason.clients.engines.role import unsupported, verb
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.local.dag_loop import DagLoop
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import DagWork, StepStatus, Verdict

_LEAST_PARALLEL = 4
_NO_SCHEDULES = "it keeps no schedules yet; run a workflow with -r"


class LocalSchedulerClient(SchedulerClient):
    """Runs workflows in this process."""

    list_schedules = unsupported(_NO_SCHEDULES)
    validate_schedule = unsupported(_NO_SCHEDULES)
    trigger_schedule = unsupported(_NO_SCHEDULES)
    delete_schedule = unsupported(_NO_SCHEDULES)

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._limit: int = configuration.get("parallel_steps") or max(_LEAST_PARALLEL, os.cpu_count() or 1)

    @verb
    def run_dag(
        self,
        dag: Dag,
        work: DagWork,
        *,
        limit: int = 0,
        done: Mapping[str, Mapping[str, Verdict]] = MappingProxyType({}),
        response: Response,
    ) -> Mapping[str, StepStatus]:
        return DagLoop(dag, work, limit or self._limit).run(done)
