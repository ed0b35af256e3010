"""Glue's crawlers as scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mason.clients.aws.service import clock_troubles
from mason.clients.engines.role import unsupported, verb
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.glue.catalog import glue_service
from mason.clients.glue.crawl_dag import crawl_of
from mason.clients.glue.crawlers import Crawlers
from mason.clients.glue.cron import aws_schedule, is_aws_schedule
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import Interrupted, MasonError
from mason.state.home import open_state
from mason.state.schedules import note_deployer

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 15.0


class GlueSchedulerClient(SchedulerClient):
    """A schedule is a crawler. It can stand for a workflow of one step, `table infer`."""

    run_dag = unsupported("Glue runs no steps; a workflow of one `table infer` becomes a crawler there")

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._glue = glue_service(configuration)
        self._crawlers = Crawlers(self._glue, str(configuration.get("aws_role_arn") or ""))

    def check(self) -> list[str]:
        try:
            return clock_troubles(self._glue.call("get_crawlers", MaxResults=1))
        except MasonError as error:
            return [str(error)]

    def describe_place(self) -> str:
        return self._glue.describe_place()

    @verb
    def register_dag(self, deployment: Deployment, *, response: Response) -> Schedule:
        _check(deployment.schedule)
        crawl = crawl_of(deployment, self._glue)
        with self._note_deployer(deployment):
            self._crawlers.save(crawl, response)
        return replace(deployment.schedule, workflow=deployment.workflow)

    def plan_dag(self, deployment: Deployment) -> Sequence[str]:
        _check(deployment.schedule)
        return [self._crawlers.plan(crawl_of(deployment, self._glue))]

    @verb
    def list_schedules(self, *, response: Response) -> Sequence[Schedule]:
        return self._crawlers.schedules()

    @verb
    def validate_schedule(self, schedule: Schedule, *, response: Response) -> None:
        _check(schedule)

    @verb
    def trigger_schedule(self, name: str, *, response: Response) -> str:
        self._crawlers.start(name, response)
        return datetime.now(UTC).isoformat(timespec="seconds")  # Glue has no name of its own for what it has begun

    @verb
    def follow_run(self, name: str, run: str, *, response: Response) -> Mapping[str, StepStatus]:
        step, wait = self._crawlers.step(name), _FIRST_WAIT
        try:
            while (reason := self._crawlers.failure(name)) is None:
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted: crawler {name} goes on in Glue.") from None
        if reason:
            response.add_warning(reason)
        return {step: StepStatus.FAILED if reason else StepStatus.SUCCEEDED}

    @verb
    def delete_schedule(self, name: str, *, response: Response) -> None:
        self._crawlers.delete(name)
        note_deployer(open_state(self.mason_env), self._glue.name, name, "")

    @contextmanager
    def _note_deployer(self, deployment: Deployment) -> Iterator[None]:
        """Keep who deploys a crawler before there is one: Glue does not know, and goes on when a token is revoked.

        Two regions may have crawlers of one name.
        """
        store, name = open_state(self.mason_env), deployment.schedule.name
        former = note_deployer(store, self._glue.name, name, deployment.deployed_by)
        try:
            yield
        except BaseException:
            note_deployer(store, self._glue.name, name, former)
            raise


def _check(schedule: Schedule) -> None:
    if is_aws_schedule(schedule.expression):
        replace(schedule, expression="").check()  # what is written in AWS's own way is nobody else's to judge
    else:
        schedule.check()
    if schedule.expression:
        aws_schedule(schedule.expression)
