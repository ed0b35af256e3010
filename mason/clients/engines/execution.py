"""The execution role."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from inspect import isfunction
from typing import Any

from mason.clients.engines.job_lineage import with_lineage
from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.errors import ClientFailed, Interrupted
from mason.util.ending import pause

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_PAUSE_GROWS_BY = 1.5


class ExecutionClient(Role):
    """What computes: it plans a job, takes it, and says what became of it, also to another process and later."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Have every job told as lineage, whoever runs it."""
        super().__init_subclass__(**options)
        run_job = vars(cls).get("run_job")
        if isfunction(run_job):
            setattr(cls, "run_job", with_lineage(run_job))  # noqa: B010 (mypy takes no assignment to a method)

    @abstractmethod
    def job_types(self) -> Sequence[str]:
        """Return the types of job that this engine can run."""

    def reach(self, storage: str) -> str:
        """Say how this engine gets at a storage, which is named by its address, where there is something to say."""
        return ""

    def is_one_per_process(self) -> bool:
        """Say whether a process can have but one such engine, with the settings of whoever comes first."""
        return False

    def expect_job(self, job: Job) -> None:
        """Begin what takes long, such as the start of the engine: the job will be planned at once, and then run.

        It does not wait and raises nothing: what is in the way is in the way of the job, too, which says so.
        """

    @abstractmethod
    def plan_job(self, job: Job, *, response: Response) -> tuple[JobPlan, Response]:
        """Return what running the job would read, write and change; nothing is written.

        Raises:
            Unsupported: the engine has no such type of job.
        """

    def analyse_plan(self, plan: JobPlan, response: Response) -> JobPlan:
        """Return a plan with what only the engine itself can tell of it, without running it; by default as it is."""
        return plan

    @abstractmethod
    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> tuple[JobRecord, Response]:
        """Hand a job to the engine and return its record as soon as the engine has accepted it.

        Args:
            token: names this submission. Whoever does not know whether it was accepted submits again with the same one:
                the engine then returns the job that there is and makes no second one. Without a token each is new.
        """

    @abstractmethod
    def get_job(self, job_id: str, *, response: Response) -> tuple[JobRecord, Response]:
        """Return where the job stands, to any process and at any time after it was accepted.

        Raises:
            NotFound: there is no such job.
        """

    @abstractmethod
    def list_jobs(self, *, response: Response) -> tuple[Sequence[JobRecord], Response]:
        """Return the jobs, the newest first."""

    @abstractmethod
    def cancel_job(self, job_id: str, *, response: Response) -> tuple[JobRecord, Response]:
        """Ask the engine to stop the job; a job that is over stays what it is.

        Raises:
            NotFound: there is no such job.
        """

    def wait_job(self, job_id: str, *, response: Response, timeout: float | None = None) -> tuple[JobRecord, Response]:
        """Wait for the end of a job and return its record; after `timeout` seconds, as it stands then.

        Whoever is interrupted while waiting ends the job.

        Raises:
            NotFound: there is no such job.
        """
        end = None if timeout is None else time.monotonic() + timeout
        seconds = _FIRST_PAUSE
        try:
            while True:
                # Each look has a response of its own: what is said about a job that still runs would be said again.
                found, heard = self.get_job(job_id, response=_Unspoken(response.redactor))
                if not found.status.is_final:
                    self.show_progress(found)
                if found.status.is_final or (end is not None and time.monotonic() >= end):
                    return found, _with_messages(response, heard)
                pause(seconds)
                seconds = min(seconds * _PAUSE_GROWS_BY, _LONGEST_PAUSE)
        except (KeyboardInterrupt, Interrupted):
            self.cancel_job(job_id, response=response)
            raise

    def show_progress(self, job: JobRecord) -> None:
        """Log how far a job is that somebody waits for; nothing where its driver or its engine shows that already."""

    @with_lineage
    def run_job(self, plan: JobPlan, *, response: Response) -> tuple[JobRecord, Response]:
        """Submit a job and wait for its end.

        Raises:
            ClientFailed: the job failed, or is lost.
            Interrupted: somebody cancelled it.
        """
        accepted, response = self.submit_job(plan, response=response)
        ended, response = self.wait_job(accepted.id, response=response)
        if ended.status is JobStatus.SUCCEEDED:
            return ended, response
        reason = str(ended.details.get("Error") or f"The job {ended.id} is {ended.status}.")
        failure = Interrupted(reason) if ended.status is JobStatus.CANCELLED else ClientFailed(reason)
        failure.record = ended
        raise failure


class _Unspoken(Response):
    """Keeps what is said and logs nothing of it."""

    def _log(self, level: int, message: str) -> None:
        return None


def _with_messages(response: Response, heard: Response) -> Response:
    for warning in heard.warnings:
        response.add_warning(warning)
    for info in heard.info:
        response.add_info(info)
    return response
