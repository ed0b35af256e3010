"""`mason job`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from mason.cli.options import config_id, log_level
from mason.cli.output import show, show_json, show_table, start_logging, tell, tell_error, terminal_width
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.configurations.valid_config import ValidConfig
    from mason.engines.execution.models.job import JobRecord

_LOOK_SECONDS = 0.5
_MEASURED_SECONDS = 0.5


@click.group(name="job")
def command() -> None:
    """Follows jobs and cancels them."""


@command.command(name="get")
@click.argument("job_id")
@config_id
@log_level
def get_command(job_id: str, config_id: str | None) -> int:
    """Shows where a job stands, and what came of it."""
    from mason.operators.call_records import find_job
    from mason.operators.detached_calls import repeat_lost

    def find(env: MasonEnvironment, config: ValidConfig, response: Response) -> Sequence[JobRecord]:
        if repeat_lost(env, job_id):
            response.add_info("The process that ran the job was gone. It may be done twice, and is run again.")
        return [find_job(env, config, job_id, response)]

    return _answer(config_id, find)


@command.command(name="list")
@click.option("--status", default="", help="Only those that stand like this: queued, running, succeeded, failed …")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="So many at most.")
@config_id
@log_level
def list_command(status: str, limit: int, config_id: str | None) -> int:
    """Lists the newest jobs."""
    from mason.operators.call_records import list_jobs

    return _answer(config_id, lambda env, config, response: list_jobs(env, config, response, most=limit, status=status))


@command.command(name="cancel")
@click.argument("job_id")
@config_id
@log_level
def cancel_command(job_id: str, config_id: str | None) -> int:
    """Ends a job."""
    from mason.operators.call_records import cancel_job

    return _answer(config_id, lambda env, config, response: [cancel_job(env, config, job_id, response)])


@command.command(name="top")
@log_level
def top_command() -> int:
    """Lists the jobs that run on this machine, with the CPU and the memory that they take.

    A job of a server is listed with the server, all of its processes included.
    """
    from mason.operators.job_load import measure_jobs

    found = measure_jobs(MasonEnvironment.of(), _MEASURED_SECONDS)
    if terminal_width(sys.stdout) is None:
        show_json({"Jobs": found})
        return 0
    rows = [
        [
            *(str(each[word]) for word in ("JobID", "Name", "Status", "Processes")),
            f"{each['CPUPercent']} %",
            f"{each['MemoryBytes'] / 1e6:,.0f} MB",
        ]
        for each in found
    ]
    show_table(["Job", "Name", "Status", "Processes", "CPU", "Memory"], rows)
    return 0


@command.command(name="logs")
@click.argument("job_id")
@click.option("--follow", is_flag=True, help="Go on until the job is over.")
@config_id
@log_level
def logs_command(job_id: str, follow: bool, config_id: str | None) -> int:
    """Prints what a job has said.

    With --follow the exit code is that of the job: 0 if it succeeded, 130 if it was cancelled, else 1.
    """
    from mason.clients.response import Response
    from mason.configurations.saved import use_configuration
    from mason.engines.execution.models.job import JobStatus
    from mason.operators.call_records import find_job
    from mason.operators.detached_calls import repeat_lost

    env = MasonEnvironment.of()
    config = use_configuration(env, config_id or "")
    shown: list[str] = []
    while True:
        if follow and repeat_lost(env, job_id):
            tell("The process that ran the job was gone. It may be done twice, and is run again.")
        job = find_job(env, config, job_id, Response(config.redactor))
        lines: Sequence[str] = job.details.get("Log", ())
        for line in _new_lines(shown, lines):
            show(line)
        shown = list(lines) or shown
        if not follow or job.status.is_final:
            break
        time.sleep(_LOOK_SECONDS)
    if not follow or job.status is JobStatus.SUCCEEDED:
        return 0
    tell_error(str(job.details.get("Error") or f"The job is {job.status}."))
    return 130 if job.status is JobStatus.CANCELLED else 1


def _new_lines(before: Sequence[str], now: Sequence[str]) -> Sequence[str]:
    """Return the lines that are new: of a long log the middle is left out, and what was last is among the rest."""
    if not before or before[-1] not in now:
        return now
    last = len(now) - 1 - list(reversed(now)).index(before[-1])
    return now[last + 1 :]


def _answer(
    config_id: str | None, ask: Callable[[MasonEnvironment, ValidConfig, Response], Sequence[JobRecord]]
) -> int:
    from mason.configurations.saved import use_configuration
    from mason.operators.operator_response import OperatorResponse
    from mason.operators.runner import respond, show_result

    def work(response: Response) -> OperatorResponse:
        env = MasonEnvironment.of()
        config = use_configuration(env, config_id or "")
        response.redactor = config.redactor
        found: Any = ask(env, config, response)
        return OperatorResponse(response, found)

    start_logging()
    result = respond(work)
    show_json(show_result(result))
    return 1 if result.response.errors else 0
