"""The execution role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from inspect import isfunction
from typing import Any

from mason.clients.engines.role import Role
from mason.clients.engines.told_jobs import told
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord


class ExecutionClient(Role):
    """What computes: it plans a job, runs it, and says what became of it, also to another process and later."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Have every job told as lineage, whoever runs it."""
        super().__init_subclass__(**options)
        run_job = vars(cls).get("run_job")
        if isfunction(run_job):  # one that is not supported is none
            setattr(cls, "run_job", told(run_job))  # noqa: B010 (mypy takes no assignment to a method)

    @abstractmethod
    def job_types(self) -> Sequence[str]:
        """Return the types of job that this engine can run."""

    def reach(self, storage: str) -> str:
        """Say how this engine gets at a storage, which is named by its address, where there is something to say."""
        return ""

    @abstractmethod
    def plan_job(self, job: Job, *, response: Response) -> tuple[JobPlan, Response]:
        """Return what running the job would read, write and change; nothing is written.

        Raises:
            Unsupported: the engine has no such type of job.
        """

    @abstractmethod
    def run_job(self, plan: JobPlan, *, response: Response) -> tuple[JobRecord, Response]:
        """Hand the job to the engine and return when it has accepted it."""

    @abstractmethod
    def get_job(self, job_id: str, *, response: Response) -> tuple[JobRecord, Response]:
        """Return where the job stands.

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
