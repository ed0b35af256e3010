"""What every engine that runs the pipeline has in common: plans, runs, and the records of both."""

from __future__ import annotations

import logging
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.job_lineage import with_lineage
from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.engines.storage.models.location import LOCAL
from mason.errors import AlreadyExists, ChecksFailed, ClientFailed, MasonError, NotFound, Unsupported
from mason.pipeline.driving.calls import current_call
from mason.pipeline.driving.driver_process import DriverLaunch, FarDriver
from mason.pipeline.driving.far_drivers import events_of, far_record, was_left_unstarted
from mason.pipeline.driving.handover import start_driver
from mason.pipeline.driving.job_books import StateBook
from mason.pipeline.driving.job_events import events_folder
from mason.pipeline.driving.job_progress import JobProgress
from mason.pipeline.driving.job_types import check_outcome, job_types, plan_work
from mason.pipeline.driving.job_watch import (
    JobWatch,
    ask_to_cancel,
    describe_begun,
    describe_record,
    next_job_id,
    reconcile_record,
    token_id,
    utc_now,
)
from mason.pipeline.storage.address import abilities_of
from mason.pipeline.types.python_values import from_typed
from mason.pipeline.work.base import Outcome, Work
from mason.pipeline.work.failures import decode_failure
from mason.pipeline.work.output_place import describe_kept_files
from mason.pipeline.work.tasks import QueryEvent, TaskEvent, TaskRunner, kernel_named
from mason.state.home import open_state, read_state
from mason.state.models import Record, RecordKind
from mason.util.disk_room import DiskRoom, fullest, is_disk_full
from mason.util.environment import MasonEnvironment

_LOG = logging.getLogger("mason.pipeline")
_MOST_LISTED = 1_000


class PipelineExecutionClient(ExecutionClient):
    """An engine that can run tasks: it says how, and gets planning, records and progress from here."""

    errors = {OSError: ClientFailed}  # a full disk, a network that is gone
    configuration: Mapping[str, Any] = MappingProxyType({})

    @abstractmethod
    def runner(self, storages: Sequence[str]) -> TaskRunner:
        """Return what runs the tasks of a job that reads and writes these storages, named by their addresses."""

    def job_types(self) -> Sequence[str]:
        return job_types()

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        if job.type not in self.job_types():
            raise Unsupported(f"There is no job of the type {job.type}.", hint=f"Types: {', '.join(self.job_types())}.")
        work = plan_work(job)
        for warning in (*work.warnings, *describe_kept_files(job)):
            response.add_warning(warning)
        return JobPlan(job, work.to_dict(), work, picture=work.picture)

    def analyse_plan(self, plan: JobPlan, response: Response) -> JobPlan:
        work: Work = plan.payload
        told = set(work.warnings)
        analysed = work.analyse(self.runner(plan.job.storages))
        for warning in analysed.warnings:
            if warning not in told:
                response.add_warning(warning)
        return JobPlan(plan.job, analysed.to_dict(), analysed, picture=analysed.picture)

    @verb
    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> JobRecord:
        """Accept a job and have a thread of this process run it; the process does not end before its jobs have."""
        job_id = token_id(token) if token else ""
        earlier = read_state(self.mason_env).get_record(RecordKind.JOB, job_id) if job_id else None
        far = self.far_driver()
        if earlier:
            if far and was_left_unstarted(earlier):
                far.start(self._launch(plan, earlier.id, response))
            return reconcile_record(earlier, self.mason_env)
        try:
            if far:
                return self._submit_far(plan, job_id or next_job_id(), far, response)
            watch = self._accept(plan, response, job_id)
        except AlreadyExists:  # submitted twice at the same moment
            return self._find_record(job_id)
        drive = with_lineage(lambda client, plan, response: (client.drive(plan, watch, response), response))
        # A response is added to by its call alone, which goes on meanwhile; the job's own is kept in its record.
        start_driver(watch.job_id, drive, self, plan, Response(response.redactor))
        return watch.record

    @verb
    def run_job(self, plan: JobPlan, *, response: Response) -> JobRecord:
        """Run a job on this thread: what `submit_job` and `wait_job` do, without a thread in between."""
        if self.far_driver():
            return self._run_far(plan, response)
        return self.drive(plan, self._accept(plan, response), response)

    def _run_far(self, plan: JobPlan, response: Response) -> JobRecord:
        """Submit a job whose driver is elsewhere, wait for it, and give or raise what it would have given here."""
        accepted, _ = self.submit_job(plan, response=response)
        ended, _ = self.wait_job(accepted.id, response=response)
        record = read_state(self.mason_env).get_record(RecordKind.JOB, accepted.id)
        events = events_of(record.document) if record else None
        result = events.read_result() if events else {}
        for warning in result.get("Warnings", ()):
            response.add_warning(warning)
        for info in result.get("Info", ()):
            response.add_info(info)
        if ended.status is JobStatus.SUCCEEDED:
            return replace(ended, details={**ended.details, **from_typed(result.get("Shown", {}))})
        reason = str(ended.details.get("Error") or f"The job {ended.id} is {ended.status}.")
        failure = decode_failure(result["Failure"].encode()) if "Failure" in result else ClientFailed(reason)
        if isinstance(failure, MasonError):
            failure.record = ended
        raise failure

    def show_progress(self, job: JobRecord) -> None:
        if self.far_driver() and "Tasks" in job.details:  # one that is in this process shows it by itself
            progress = JobProgress.of_record(job.details)
            _LOG.info("%s", progress, extra={"progress": progress})

    def far_driver(self) -> FarDriver | None:
        """Return what starts drivers where the state is not; None where they run in this process."""
        return None

    def _submit_far(self, plan: JobPlan, job_id: str, far: FarDriver, response: Response) -> JobRecord:
        launch = self._launch(plan, job_id, response)
        begun = {**describe_begun(plan.job), **far_record(launch.events)}
        store = open_state(self.mason_env)
        record = store.add_record(RecordKind.JOB, job_id, JobStatus.RUNNING, begun)
        try:
            far.start(launch)
        except MasonError as error:  # nobody needs to wait for a word of it
            ended = {**record.document, "Error": response.redactor(str(error)), "EndedAt": utc_now()}
            store.update_record(record, JobStatus.FAILED, ended)
            raise
        return reconcile_record(record, self.mason_env)

    def _launch(self, plan: JobPlan, job_id: str, response: Response) -> DriverLaunch:
        kind = type(self)
        return DriverLaunch(
            job_id=job_id,
            job=plan.job,
            work=plan.payload,
            events=events_folder(plan.job, job_id, str(self.configuration.get("jobs_path") or "")),
            client=f"{kind.__module__}:{kind.__qualname__}",
            configuration=self.configuration,
            secrets=frozenset(response.redactor.secrets),
        )

    def _accept(self, plan: JobPlan, response: Response, job_id: str = "") -> JobWatch:
        work: Work = plan.payload
        call = current_call()
        book = StateBook(open_state(self.mason_env), [call.id] if call else [])
        watch = JobWatch(book, plan.job, job_id or next_job_id(), response.redactor, work.task_bytes)
        watch.note(work.summary)
        for warning in response.warnings:
            watch.note(warning, logging.WARNING)
        return watch

    def drive(self, plan: JobPlan, watch: JobWatch, response: Response) -> JobRecord:
        """Run an accepted job to its end: its rounds, its sums, its commit, its record."""
        work: Work = plan.payload
        watch.drive_here()
        try:
            with _explain_full_disk(plan.job, sum(work.task_bytes)):
                runner = watch.watch(self.runner(plan.job.storages))
                outcome = check_outcome(plan.job, work.run(runner, watch.job_id, watch.progress))
        except BaseException as error:
            record = watch.record_failure(error)
            if isinstance(error, MasonError) and error.record is None:
                error.record = record  # with its log: what a step of a workflow leaves behind is all that its run keeps
            raise
        for warning in watch.warnings:
            response.keep_warning(warning)
        warnings = list(outcome.warnings)
        for warning in warnings:
            response.add_warning(warning)
        response.add_info(outcome.summary)
        if outcome.errors:
            failure = ChecksFailed(outcome.errors)
            failure.record = found = _with_preview(watch.record_failure(failure, outcome.to_dict()), outcome)
            response.add_data(found)  # who gets but the response sees it, too
            raise failure
        watch.show(outcome.preview, [*watch.warnings, *warnings], outcome.summary)
        return _with_preview(watch.record_success(outcome.to_dict()), outcome)

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        return self._find_record(job_id)

    @verb
    def list_jobs(self, *, response: Response) -> Sequence[JobRecord]:
        found = read_state(self.mason_env).list_records(RecordKind.JOB, limit=_MOST_LISTED)
        return [_in_short(_reconcile_if_readable(each, self.mason_env)) for each in found]

    @verb
    def cancel_job(self, job_id: str, *, response: Response) -> JobRecord:
        job = self._find_record(job_id)
        if job.status.is_final:
            response.add_info(f"The job is over already: it {_ENDS[job.status]}.")
            return job
        asked = ask_to_cancel(self.mason_env, job)
        if asked.status.is_final:
            response.add_info(f"The job {_ENDS[asked.status]}.")
        else:
            response.add_info("Cancellation requested. The job stops after its current task.")
        return asked

    def _find_record(self, job_id: str) -> JobRecord:
        record = read_state(self.mason_env).get_record(RecordKind.JOB, job_id)
        if record is None:
            raise NotFound(f'There is no job "{job_id}".')
        return reconcile_record(record, self.mason_env)


@contextmanager
def _explain_full_disk(job: Job, read: int) -> Iterator[None]:
    """Say of a disk that was full which it is, and how much is missing if a job writes about as much as it reads.

    What it has written is removed by then. Whoever may use some folders only is not told where a disk is mounted.
    """
    try:
        yield
    except Exception as error:
        if not is_disk_full(error):
            raise
        output = job.output.path if job.output and abilities_of(job.output.storage).opens_paths else ""
        room = fullest([tempfile.gettempdir(), *([output] if output else [])])
        is_output = output and DiskRoom.of(output) == room
        is_confined = any(each != LOCAL for each in job.storages)
        named = f"The file system of {output if is_output else 'temporary files'}" if is_confined else ""
        message = room.describe(named, needed=read)
        where = f"{output} cannot be written" if is_output else "Temporary files cannot be written"
        raise ClientFailed(f"{where}: {message}", hint="Free some space. Nothing was committed.") from error


_ENDS = {
    JobStatus.SUCCEEDED: "succeeded",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "was cancelled",
    JobStatus.LOST: "is lost: the process that ran it is gone",
}


def _with_preview(record: JobRecord, outcome: Outcome) -> JobRecord:
    """A record with what is shown beside it and not kept."""
    details = {**record.details, **outcome.preview}
    return replace(record, details=details, picture=outcome.picture, rows=outcome.frame)


def _reconcile_if_readable(record: Record, env: MasonEnvironment) -> JobRecord:
    """Return a job as it stands; one whose events cannot be read as it stood before, so that the others are listed."""
    if JobStatus(record.status).is_final:
        return describe_record(record)
    try:
        return reconcile_record(record, env)
    except MasonError:
        return describe_record(record)


def _in_short(job: JobRecord) -> JobRecord:
    """A listing is to be skimmed: the lists of files, columns and log lines are left to who asks for the one job."""
    return replace(job, details={name: value for name, value in job.details.items() if not isinstance(value, list)})


class InProcessRunner:
    """For small data and for tests: the same plans and kernels, without an engine.

    There are no beats but the results: a job is cancelled between two tasks, each of which takes some seconds at most.
    """

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        function = kernel_named(kernel)
        for number, task in enumerate(tasks):
            yield number, function(task)

    def query(self, content: bytes) -> Iterator[QueryEvent]:
        from mason.pipeline.sql.duckdb_engine import run_query

        yield from run_query(content)
