"""Glue's crawlers as scheduler."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mason.clients.aws.service import clock_troubles
from mason.clients.engines.role import verb
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.glue.catalog import glue_service
from mason.clients.glue.crawl_dag import crawl_of
from mason.clients.glue.crawlers import Crawlers
from mason.clients.glue.cron import aws_schedule
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import DagWork, StepEvent, StepStatus, Verdict
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import Interrupted, MasonError

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 15.0


class GlueSchedulerClient(SchedulerClient):
    """A schedule is a crawler. It can stand for a workflow of one step, `table infer`."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._glue = glue_service(configuration)
        self._crawlers = Crawlers(self._glue, str(configuration.get("aws_role_arn") or ""))

    def check(self) -> list[str]:
        try:
            return clock_troubles(self._glue.call("get_crawlers", MaxResults=1))
        except MasonError as error:
            return [str(error)]

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
        crawl = crawl_of(dag, dag.name)
        step = dag.steps[0]
        if step.key in done:
            return {step.key: StepStatus.SUCCEEDED}
        response.add_info(f"Registering workflow dag {dag.name} with glue.")
        self._crawlers.save(crawl, response)
        response.add_info(f"Registered schedule {crawl.name}")
        response.add_info(f"Triggering schedule: {crawl.name}")
        self._crawlers.start(crawl.name, response)
        work.note(StepEvent(step, StepStatus.RUNNING, 1))
        work.keep()
        reason = self._follow(crawl.name)
        status = StepStatus.FAILED if reason else StepStatus.SUCCEEDED
        work.note(StepEvent(step, status, 1, reason))
        return {step.key: status}

    @verb
    def list_schedules(self, *, response: Response) -> Sequence[Schedule]:
        return self._crawlers.schedules()

    @verb
    def validate_schedule(self, schedule: Schedule, *, response: Response) -> None:
        if schedule.expression:
            aws_schedule(schedule.expression)

    @verb
    def trigger_schedule(self, name: str, *, response: Response) -> None:
        self._crawlers.start(name, response)

    @verb
    def delete_schedule(self, name: str, *, response: Response) -> None:
        self._crawlers.delete(name)

    def _follow(self, name: str) -> str:
        """Wait until a crawler has ended and return why it failed, or nothing."""
        wait = _FIRST_WAIT
        try:
            while (reason := self._crawlers.failure(name)) is None:
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted: crawler {name} goes on in Glue.") from None
        return reason
