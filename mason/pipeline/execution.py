"""What every engine that runs the pipeline has in common: plans, runs, and the records of both."""

from __future__ import annotations

import logging
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.role import verb
from mason.clients.engines.told_jobs import told
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.errors import AlreadyExists, ChecksFailed, ClientFailed, MasonError, NotFound, Unsupported
from mason.pipeline.job_drivers import start_driver
from mason.pipeline.job_watch import JobWatch, ask_to_cancel, reconciled, token_id
from mason.pipeline.output_place import describe_kept_files
from mason.pipeline.storage_address import LOCAL, is_local
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Outcome, Work, job_types, plan_work
from mason.state.home import open_state, read_state
from mason.state.models import RecordKind
from mason.util.disk_room import DiskRoom, fullest, is_disk_full
from mason.util.environment import MasonEnvironment

_MOST_LISTED = 1_000


class PipelineExecutionClient(ExecutionClient):
    """An engine that can run tasks: it says how, and gets planning, records and progress from here."""

    errors = {OSError: ClientFailed}  # a full disk, a network that is gone

    @abstractmethod
    def runner(self, storage: str) -> TaskRunner:
        """Return what runs the tasks of a job on a storage, which is named by its address."""

    def job_types(self) -> Sequence[str]:
        return job_types()

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        if job.type not in self.job_types():
            raise Unsupported(f"There is no job of the type {job.type}.", hint=f"Types: {', '.join(self.job_types())}.")
        work = plan_work(job)
        for warning in (*work.warnings, *describe_kept_files(job)):
            response.add_warning(warning)
        return JobPlan(job, work.to_dict(), work, picture=getattr(work, "picture", None))

    @verb
    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> JobRecord:
        """Accept a job and have a thread of this process run it; the process does not end before its jobs have."""
        job_id = token_id(token) if token else ""
        earlier = read_state(MasonEnvironment.of()).get_record(RecordKind.JOB, job_id) if job_id else None
        if earlier:
            return reconciled(earlier)
        try:
            watch = self._accept(plan, response, job_id)
        except AlreadyExists:  # submitted twice at the same moment
            return _found(job_id)
        drive = told(lambda client, plan, response: (client._drive(plan, watch, response), response))
        # A response is added to by its call alone, which goes on meanwhile; the job's own is kept in its record.
        start_driver(watch.job_id, drive, self, plan, Response(response.redactor))
        return watch.record

    @verb
    def run_job(self, plan: JobPlan, *, response: Response) -> JobRecord:
        """Run a job on this thread: what `submit_job` and `wait_job` do, without a thread in between."""
        return self._drive(plan, self._accept(plan, response), response)

    def _accept(self, plan: JobPlan, response: Response, job_id: str = "") -> JobWatch:
        work: Work = plan.payload
        watch = JobWatch(open_state(MasonEnvironment.of()), plan.job, response.redactor, work.task_bytes, job_id)
        watch.note(work.summary)
        for warning in response.warnings:
            watch.note(warning, logging.WARNING)
        return watch

    def _drive(self, plan: JobPlan, watch: JobWatch, response: Response) -> JobRecord:
        """Run an accepted job to its end: its rounds, its sums, its commit, its record."""
        work: Work = plan.payload
        try:
            with _explained_if_full(plan.job, sum(work.task_bytes)):
                outcome = work.run(
                    watch.watched(self.runner(plan.job.inputs.get("storage", LOCAL))), watch.job_id, watch.progress
                )
        except BaseException as error:
            record = watch.failed(error)
            if isinstance(error, MasonError) and error.record is None:
                error.record = record  # with its log: what a step of a workflow leaves behind is all that its run keeps
            raise
        for warning in watch.warnings:
            response.keep_warning(warning)
        for warning in outcome.warnings:
            response.add_warning(warning)
        response.add_info(outcome.summary)
        errors = getattr(outcome, "errors", ())
        if errors:
            failure = ChecksFailed(errors)
            failure.record = found = _shown(watch.failed(failure, outcome.to_dict()), outcome)
            response.add_data(found)  # who gets but the response sees it, too
            raise failure
        return _shown(watch.succeeded(outcome.to_dict()), outcome)

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        return _found(job_id)

    @verb
    def list_jobs(self, *, response: Response) -> Sequence[JobRecord]:
        found = read_state(MasonEnvironment.of()).list_records(RecordKind.JOB, limit=_MOST_LISTED)
        return [_in_short(reconciled(each)) for each in found]

    @verb
    def cancel_job(self, job_id: str, *, response: Response) -> JobRecord:
        job = _found(job_id)
        if job.status.is_final:
            response.add_info(f"The job is over already: it {_ENDS[job.status]}.")
            return job
        asked = ask_to_cancel(open_state(MasonEnvironment.of()), job)
        if asked.status.is_final:
            response.add_info(f"The job {_ENDS[asked.status]}.")
        else:
            response.add_info("The job was asked to stop, and will when it looks up: between two tasks at the latest.")
        return asked


@contextmanager
def _explained_if_full(job: Job, read: int) -> Iterator[None]:
    """Say of a disk that was full which it is, and how much is missing if a job writes about as much as it reads.

    What it has written is removed by then. Whoever may use some folders only is not told where a disk is mounted.
    """
    try:
        yield
    except Exception as error:
        if not is_disk_full(error):
            raise
        storage, output = job.inputs.get("storage", LOCAL), job.outputs.get("path", "")
        places = [tempfile.gettempdir(), *([output] if is_local(storage) and output else [])]
        room = fullest(places)
        is_output = is_local(storage) and output and DiskRoom.of(output) == room
        named = "" if storage == LOCAL else f"The file system of {output if is_output else 'temporary files'}"
        told = room.describe(named, needed=read)
        where = f"{output} cannot be written" if is_output else "Temporary files cannot be written"
        raise ClientFailed(f"{where}: {told}", hint="Free some space. Nothing was committed.") from error


_ENDS = {
    JobStatus.SUCCEEDED: "succeeded",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "was cancelled",
    JobStatus.LOST: "is lost: the process that ran it is gone",
}


def _shown(record: JobRecord, outcome: Outcome) -> JobRecord:
    """A record with what is shown beside it and not kept."""
    details = {**record.details, **getattr(outcome, "shown", {})}
    return replace(record, details=details, picture=getattr(outcome, "picture", None))


def _found(job_id: str) -> JobRecord:
    record = read_state(MasonEnvironment.of()).get_record(RecordKind.JOB, job_id)
    if record is None:
        raise NotFound(f'There is no job "{job_id}".')
    return reconciled(record)


def _in_short(job: JobRecord) -> JobRecord:
    """A listing is to be skimmed: the lists of files, columns and log lines are left to who asks for the one job."""
    return replace(job, details={name: value for name, value in job.details.items() if not isinstance(value, list)})
