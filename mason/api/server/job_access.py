"""Whose jobs, runs and schedules a caller may look at and change, if its token is not for everything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from mason.api.server.requests import Caller
from mason.operators.call_records import find_record
from mason.state.models import Record, RunStep
from mason.state.store import StateStore

JOB_PATH = "/job/{job_id}"
CANCEL_PATH = f"{JOB_PATH}/cancel"
_ALSO = ("/job/", "/job/cancel")
"""Paths at which the id of the job is given elsewhere."""

_OPERATORS = {JOB_PATH: "job:get", CANCEL_PATH: "job:cancel"}


def may_see_run(caller: Caller, run: Mapping[str, Any], steps: Sequence[RunStep]) -> bool:
    """Say whether a caller may see a run: its token is for what the run, and each step that has begun, use."""
    used = [each.document for each in steps]
    configurations = [run.get("Configuration", ""), *(each.get("Configuration", "") for each in used)]
    operators = [str(each.get("Operator", "")).partition("@")[0] for each in used]
    return all(map(caller.may_use_operator, operators)) and all(map(caller.may_use_configuration, configurations))


class JobAccess:
    """Looks up who began a job: where a 202 points to, its caller may go, whatever else the token is for."""

    def __init__(self, store: StateStore) -> None:
        self._store = store

    async def find_own(self, caller: Caller, job_id: str) -> Record | None:
        """Return the call that a job is, if this caller began it and has a token that is not for everything.

        Raises:
            Forbidden: it is a job of others with a configuration that the token is not for.
        """
        if not caller.is_limited:
            return None
        job = await asyncio.to_thread(find_record, self._store, job_id)
        if job and job.document.get("CalledBy") == caller.name:
            return job
        if job:  # what runs without a request (a command, a step, a schedule) says its configuration as well
            caller.require_configuration(job.document.get("Configuration", ""))
        return None

    async def find_asked_for(self, caller: Caller, path: str, given: Mapping[str, Any]) -> Record | None:
        """Return the caller's own job that an operator at a path is asked for, if it is one of those for jobs.

        Raises:
            Forbidden: as `find_own`.
        """
        if path not in (JOB_PATH, CANCEL_PATH, *_ALSO) or "job_id" not in given:
            return None
        return await self.find_own(caller, str(given["job_id"]))

    async def check(self, caller: Caller, job_id: str, path: str = JOB_PATH) -> None:
        """Check that a caller may look at a job, or end it.

        Raises:
            Forbidden: its token is neither for that nor the one that the job was begun with.
        """
        if await self.find_own(caller, job_id) is None:
            caller.require_operator(_OPERATORS[path])
