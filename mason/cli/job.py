"""`mason job`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from mason.cli import completion
from mason.cli.options import config_id, log_level, output_form
from mason.cli.output import form_shown, show, show_envelope, show_reply, show_table, start_logging, tell, tell_error
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.engines.execution.models.job import JobRecord
    from mason.service.service import Service

_LOOK_SECONDS = 0.5
_MEASURED_SECONDS = 0.5
_IS_REPEATED = "The process that ran the job was gone. It may be done twice, and is run again."


@click.group(name="job")
def command() -> None:
    """Follows jobs and cancels them."""


@command.command(name="get")
@click.argument("job_id", shell_complete=completion.job_ids)
@config_id
@output_form
@log_level
def get_command(job_id: str, config_id: str | None) -> int:
    """Shows where a job stands, and what came of it."""

    def find(service: Service, response: Response) -> JobRecord:
        found = service.complete_job_id(job_id)
        if service.repeat_lost_job(found):
            response.add_info(_IS_REPEATED)
        return service.get_job(found, config_id or "", response)

    return _answer(find)


@command.command(name="list")
@click.option("--status", default="", help="Only those that stand like this: queued, running, succeeded, failed …")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="So many at most.")
@config_id
@output_form
@log_level
def list_command(status: str, limit: int, config_id: str | None) -> int:
    """Lists the newest jobs."""
    return _answer(lambda service, response: service.list_jobs(config_id or "", response, most=limit, status=status))


@command.command(name="cancel")
@click.argument("job_id", shell_complete=completion.job_ids)
@config_id
@output_form
@log_level
def cancel_command(job_id: str, config_id: str | None) -> int:
    """Ends a job."""
    return _answer(
        lambda service, response: service.cancel_job(service.complete_job_id(job_id), config_id or "", response)
    )


@command.command(name="top")
@output_form
@log_level
def top_command() -> int:
    """Lists the jobs that run on this machine, with the CPU and the memory that they take.

    A job of a server is listed with the server, all of its processes included.
    """
    from mason.operators.job_load import measure_jobs

    found = measure_jobs(MasonEnvironment.of(), _MEASURED_SECONDS)
    if form_shown() != "table":
        return show_envelope({"Errors": [], "Info": [], "Warnings": [], "Data": found})
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
@click.argument("job_id", shell_complete=completion.job_ids)
@click.option("--follow", is_flag=True, help="Go on until the job is over.")
@config_id
@log_level
def logs_command(job_id: str, follow: bool, config_id: str | None) -> int:
    """Prints what a job has said.

    With --follow the exit code is that of the job: 0 if it succeeded, 130 if it was cancelled, else 1.
    """
    from mason.clients.response import Response
    from mason.engines.execution.models.job import JobStatus
    from mason.service.service import Service

    service = Service(MasonEnvironment.of())
    job_id = service.complete_job_id(job_id)
    printed: list[str] = []
    while True:
        if follow and service.repeat_lost_job(job_id):
            tell(_IS_REPEATED)
        job = service.get_job(job_id, config_id or "", Response())
        lines: Sequence[str] = job.details.get("Log", ())
        for line in _new_lines(printed, lines):
            show(line)
        printed = list(lines) or printed
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


def _answer(ask: Callable[[Service, Response], Any]) -> int:
    from mason.operators.operator_response import OperatorResponse
    from mason.service.reply import reply_with
    from mason.service.service import Service

    start_logging()
    service = Service(MasonEnvironment.of())
    return show_reply(reply_with(lambda response: OperatorResponse(response, ask(service, response))))
