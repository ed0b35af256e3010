"""`mason scheduled`: what schedulers call. It is not shown to people."""

from __future__ import annotations

import click

from mason.cli.options import log_level
from mason.cli.output import read_log_level, show_json, start_logging, stdout_kept_clean
from mason.errors import Interrupted
from mason.operators.operator_response import OperatorResponse
from mason.util.environment import MasonEnvironment


@click.group(name="scheduled", hidden=True)
def command() -> None:
    """What schedulers call when something that was deployed is due."""


@command.command()
@click.argument("schedule")
@click.option("--json-log", is_flag=True, help="Tell what is logged as a server does: a line of JSON for each message.")
@log_level
def run(schedule: str, json_log: bool) -> int:
    """Runs what the local scheduler claimed of a schedule."""
    from mason.workflows.schedules.scheduled import run_due

    if json_log:
        from mason.api.server.json_log import start_logging as start_json_log

        start_json_log(read_log_level())
    else:
        start_logging()
    with stdout_kept_clean():
        result = run_due(MasonEnvironment.of(), schedule)
    return _answer(result)


@command.command()
@click.argument("schedule")
@click.argument("step")
@click.option("--scheduler", required=True)
@click.option("--run", "scheduler_run", required=True)
@click.option("--attempt", type=click.IntRange(min=1), default=1)
@log_level
def step(schedule: str, step: str, scheduler: str, scheduler_run: str, attempt: int) -> int:
    """Runs a step of a run that a scheduler elsewhere drives; the exit code says how it ended."""
    from mason.workflows.runs.outside_runs import OutsideRun
    from mason.workflows.schedules.scheduled import run_step

    start_logging()
    with stdout_kept_clean():
        return run_step(MasonEnvironment.of(), OutsideRun(scheduler, schedule, scheduler_run), step, attempt)


@command.command()
@click.argument("schedule")
@click.option("--scheduler", required=True)
@click.option("--run", "scheduler_run", required=True)
@log_level
def verdict(schedule: str, scheduler: str, scheduler_run: str) -> int:
    """Says how a run ended that a scheduler elsewhere drives."""
    from mason.workflows.runs.outside_runs import OutsideRun
    from mason.workflows.schedules.scheduled import judge_run

    start_logging()
    return _answer(judge_run(MasonEnvironment.of(), OutsideRun(scheduler, schedule, scheduler_run)))


def _answer(result: OperatorResponse) -> int:
    show_json(result.to_dict())
    if result.response.status == Interrupted.status:
        return Interrupted.exit_code
    return 1 if result.response.errors else 0
