"""Lineage of jobs: whichever engine runs one, what it read and wrote is told in the same words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from mason.clients.response import Response
from mason.engines.execution.models.job import JobPlan, JobRecord
from mason.errors import Interrupted, MasonError
from mason.lineage.datasets import inputs_of, outputs_of
from mason.lineage.sender import is_wanted, tell
from mason.lineage.stories import ENDS, Moment, Said, job_subject
from mason.lineage.surroundings import surroundings, within_job

RunJob = Callable[..., tuple[JobRecord, Response]]


def with_lineage(run_job: RunJob) -> RunJob:
    """Return the verb `run_job` of an engine with lineage around it, if lineage is wanted."""

    @functools.wraps(run_job)
    def run(client: Any, plan: JobPlan, response: Response) -> tuple[JobRecord, Response]:
        if surroundings().is_reported or not is_wanted(client.mason_env):
            return run_job(client, plan, response=response)
        with within_job():
            return _run_with_events(run_job, client, plan, response)

    return run


def _run_with_events(run_job: RunJob, client: Any, plan: JobPlan, response: Response) -> tuple[JobRecord, Response]:
    subject = job_subject(plan.job, surroundings(), response.redactor)

    def say(moment: Moment, details: Mapping[str, Any], error: str, tags: Mapping[str, str]) -> None:
        problem = tell(client.mason_env, moment, subject, _describe_job(plan, details, response, error, tags))
        if problem:
            response.add_warning(problem)

    say(Moment.START, plan.details, "", _tags(None))
    try:
        record, answered = run_job(client, plan, response=response)
    except BaseException as error:
        cancelled = isinstance(error, KeyboardInterrupt | Interrupted)
        found = error.record if isinstance(error, MasonError) and isinstance(error.record, JobRecord) else None
        details = {**plan.details, **(found.details if found else {})}
        say(Moment.ABORT if cancelled else Moment.FAIL, details, _reason(error), _tags(found))
        raise
    moment = ENDS.get(record.status, Moment.RUNNING)
    say(moment, {**plan.details, **record.details}, str(record.details.get("Error", "")), _tags(record))
    return record, answered


def _tags(record: JobRecord | None) -> Mapping[str, str]:
    return {"mason_job_id": record.id} if record else {}


def _describe_job(
    plan: JobPlan, details: Mapping[str, Any], response: Response, error: str, tags: Mapping[str, str]
) -> Said:
    redact = response.redactor
    return Said(
        inputs=inputs_of(plan.job, details, redact),
        outputs=outputs_of(plan.job, details, redact),
        error=redact(error),
        query=redact(str(plan.job.options.get("statement", ""))),
        tags=tags,
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted."
    return str(error) if isinstance(error, MasonError) else f"{type(error).__name__}: {error}"
