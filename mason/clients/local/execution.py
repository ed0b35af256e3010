"""This process as execution engine: the same plans and kernels as on Spark, for small data and for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan
from mason.pipeline.driving.execution import InProcessRunner, PipelineExecutionClient
from mason.pipeline.work.base import Work
from mason.pipeline.work.tasks import TaskRunner


class LocalExecutionClient(PipelineExecutionClient):
    """Runs jobs in this process."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.configuration = configuration

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        plan, _ = super().plan_job(job, response=response)
        work: Work = plan.payload
        work.check_here()
        return plan

    def runner(self, storages: Sequence[str]) -> TaskRunner:
        return InProcessRunner()
