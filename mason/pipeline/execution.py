"""What every engine that runs the pipeline has in common: plans, runs, and the records of both."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import pyarrow.fs as pafs

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord
from mason.errors import ClientFailed, NotFound, Unsupported
from mason.pipeline.job_watch import JobWatch, reconciled
from mason.pipeline.merge.job import MergeJob
from mason.pipeline.merge.plan import MergePlan, plan_merge
from mason.pipeline.merge.run import MergeResult, run_merge
from mason.pipeline.tasks import TaskRunner
from mason.state.home import open_state, read_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment


class PipelineExecutionClient(ExecutionClient):
    """An engine that can run tasks: it says how, and gets planning, records and progress from here."""

    errors = {OSError: ClientFailed}  # a full disk, a network that is gone

    @abstractmethod
    def runner(self) -> TaskRunner:
        """Return what runs the tasks of a job."""

    def job_types(self) -> Sequence[str]:
        return ("merge",)

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        if job.type not in self.job_types():
            raise Unsupported(f"There is no job of the type {job.type}.", hint=f"Types: {', '.join(self.job_types())}.")
        merge = MergeJob.of(job)
        filesystem, _ = pafs.FileSystem.from_uri(merge.storage)
        plan = plan_merge(filesystem, merge)
        for warning in [*map(str, plan.conflicts), *plan.warnings]:
            response.add_warning(warning)
        return JobPlan(job, plan.to_dict(), plan)

    @verb
    def run_job(self, plan: JobPlan, *, response: Response) -> JobRecord:
        store = open_state(MasonEnvironment.of())
        watch = JobWatch(store, plan.job)
        try:
            result = run_merge(_merge_plan(plan), self.runner(), watch.job_id, watch.progress)
        except BaseException as error:
            watch.failed(error)
            raise
        response.add_info(_summary(result))
        return watch.succeeded(result.to_dict())

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        record = read_state(MasonEnvironment.of()).get_record(RecordKind.JOB, job_id)
        if record is None:
            raise NotFound(f'There is no job "{job_id}".')
        return reconciled(record)

    @verb
    def list_jobs(self, *, response: Response) -> Sequence[JobRecord]:
        return [reconciled(each) for each in read_state(MasonEnvironment.of()).list_records(RecordKind.JOB)]

    @verb
    def cancel_job(self, job_id: str, *, response: Response) -> JobRecord:
        raise Unsupported("A job runs in the command that started it: stop it there, with ctrl-C.")


def _merge_plan(plan: JobPlan) -> MergePlan:
    assert isinstance(plan.payload, MergePlan)
    return plan.payload


def _summary(result: MergeResult) -> str:
    quarantined = f", {result.quarantined:,} quarantined" if result.quarantined else ""
    return f"{result.rows_in:,} records in, {result.rows_out:,} rows out{quarantined}: {result.plan.job.output}"
