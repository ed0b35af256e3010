"""What every engine that runs the pipeline has in common: plans, runs, and the records of both."""

from __future__ import annotations

import logging
import time
import uuid
from abc import abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow.fs as pafs

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.errors import ClientFailed, MasonError, NotFound, Unsupported
from mason.pipeline.merge.job import MergeJob
from mason.pipeline.merge.plan import MergePlan, plan_merge
from mason.pipeline.merge.run import MergeResult, run_merge
from mason.pipeline.tasks import TaskRunner
from mason.state.home import open_state, read_state
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment

LOG = logging.getLogger("mason.pipeline")
_UPDATE_SECONDS = 1.0


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
        watch = _Watch(store, plan.job)
        try:
            result = run_merge(_merge_plan(plan), self.runner(), watch.job_id, watch.progress)
        except BaseException as error:
            watch.failed(error)
            raise
        response.add_info(_summary(result))
        return watch.succeeded(result)

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        record = read_state(MasonEnvironment.of()).get_record(RecordKind.JOB, job_id)
        if record is None:
            raise NotFound(f'There is no job "{job_id}".')
        return _job_record(record)

    @verb
    def list_jobs(self, *, response: Response) -> Sequence[JobRecord]:
        return [_job_record(each) for each in read_state(MasonEnvironment.of()).list_records(RecordKind.JOB)]

    @verb
    def cancel_job(self, job_id: str, *, response: Response) -> JobRecord:
        raise Unsupported("A job runs in the command that started it: stop it there, with ctrl-C.")


class _Watch:
    """Keeps the record of a job up to date while it runs."""

    def __init__(self, store: StateStore, job: Job) -> None:
        self.job_id = uuid.uuid4().hex[:16]
        self._store = store
        self._told = time.monotonic()
        details = {"JobType": job.type, "Inputs": dict(job.inputs), "Outputs": dict(job.outputs), "StartedAt": _now()}
        self._record = store.add_record(RecordKind.JOB, self.job_id, JobStatus.RUNNING, details)

    def progress(self, done: int, tasks: int, records: int) -> None:
        if done == tasks or time.monotonic() - self._told >= _UPDATE_SECONDS:
            self._told = time.monotonic()
            LOG.info("%s of %s tasks, %s records", f"{done:,}", f"{tasks:,}", f"{records:,}")
            self._update(JobStatus.RUNNING, {"TasksDone": done, "Tasks": tasks, "RowsIn": records})

    def succeeded(self, result: MergeResult) -> JobRecord:
        return self._update(JobStatus.SUCCEEDED, {**result.to_dict(), "EndedAt": _now()})

    def failed(self, error: BaseException) -> None:
        cancelled = isinstance(error, KeyboardInterrupt)
        message = str(error) if isinstance(error, MasonError) else type(error).__name__
        status = JobStatus.CANCELLED if cancelled else JobStatus.FAILED
        self._update(status, {"Error": message, "EndedAt": _now()})

    def _update(self, status: JobStatus, details: dict[str, Any]) -> JobRecord:
        self._record = self._store.update_record(self._record, status, {**self._record.document, **details})
        return _job_record(self._record)


def _merge_plan(plan: JobPlan) -> MergePlan:
    assert isinstance(plan.payload, MergePlan)
    return plan.payload


def _job_record(record: Record) -> JobRecord:
    return JobRecord(record.id, JobStatus(record.status), record.document)


def _summary(result: MergeResult) -> str:
    quarantined = f", {result.quarantined:,} quarantined" if result.quarantined else ""
    return f"{result.rows_in:,} records in, {result.rows_out:,} rows out{quarantined}: {result.plan.job.output}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
