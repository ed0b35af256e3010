"""`mason workflow`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mason.cli.options import config_id, log_level, resolve_given_path
from mason.cli.output import (
    leave_table,
    show,
    show_banner,
    show_json,
    show_reply,
    show_table,
    start_logging,
    stdout_kept_clean,
    tell,
    terminal_width,
)
from mason.cli.workflow_flags import check_flags
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.operators.operator_response import OperatorResponse
    from mason.workflows.workflow_calls import WorkflowCall


@click.command(name="workflow")
@click.argument("namespace", required=False)
@click.argument("workflow", required=False, metavar="[COMMAND]")
@click.option("-f", "--file", "parameter_file", metavar="FILE", help="The YAML file of the steps' parameters.")
@click.option("-d", "--deploy", is_flag=True, help="Hand the workflow to the scheduler, to be run when it is due.")
@click.option("-r", "--run", "run_now", is_flag=True, help="Run the workflow now.")
@click.option("-s", "--schedule-name", metavar="NAME", help="With --deploy: the name of the schedule.")
@click.option("--schedule", metavar="WHEN", help='With --deploy: "0 6 * * * Europe/Berlin", or @daily and the like.')
@click.option("--scheduler", is_flag=True, help="Run what is due of the schedules on this machine, until ctrl-C.")
@click.option("--parallel", type=click.IntRange(1, 1000), help="How many steps may run at the same time.")
@click.option("--save", "saved_plan", metavar="FILE", help="Save the plan of a dry run.")
@click.option("--from-plan", metavar="FILE", help="With --run: only if nothing has changed since the plan was saved.")
@click.option("--draw", type=click.Choice(["text", "mermaid", "json"]), help="Print a picture of the DAG.")
@click.option("--runs", is_flag=True, help="List the newest runs.")
@click.option("--show", "shown_run", metavar="RUN", help="Show a run with its steps.")
@click.option("--json", "as_json", is_flag=True, help="Print what --runs and --show have to say as JSON.")
@click.option("--resume", "resumed_run", metavar="RUN", help="Run again what failed in a run, and what depends on it.")
@click.option("--from", "first", metavar="STEP", help="With --resume: this step, and what depends on it, as well.")
@click.option("--only", metavar="STEP", help="With --resume: this step alone.")
@config_id
@log_level
def command(
    namespace: str | None,
    workflow: str | None,
    parameter_file: str | None,
    deploy: bool,
    run_now: bool,
    schedule_name: str | None,
    schedule: str | None,
    scheduler: bool,
    parallel: int | None,
    saved_plan: str | None,
    from_plan: str | None,
    draw: str | None,
    runs: bool,
    shown_run: str | None,
    as_json: bool,
    resumed_run: str | None,
    first: str | None,
    only: str | None,
    config_id: str | None,
) -> int:
    """Lists, plans, runs and deploys workflows.

    Without COMMAND the workflows of NAMESPACE are listed, or all. With it the workflow is checked and planned, step by
    step, and nothing is written; -r runs it, and -d has it run when it is due.
    """
    check_flags(click.get_current_context().params)
    if namespace and workflow is None and ":" in namespace.partition("@")[0]:
        namespace, _, workflow = namespace.partition(":")  # table:infer, as messages write it
    if scheduler:
        return _run_schedules()
    if runs:
        return _list_runs(namespace or "", (workflow or "").partition("@")[0], as_json=as_json)
    if shown_run:
        return _show_run(shown_run, as_json=as_json)
    if workflow is None and not resumed_run:
        return _list(namespace or "")
    name, at, digest = (workflow or "").partition("@")
    if at and not digest:
        raise click.UsageError(f'"{workflow}" ends before its digest.')
    from mason.service.service import Service
    from mason.workflows.resume import Choice
    from mason.workflows.workflow_calls import WorkflowCall

    file = resolve_given_path(parameter_file) if parameter_file else None
    full_name = f"{namespace}:{name}" if name else ""
    call = WorkflowCall(full_name, digest, file, config_id or "", schedule_name or "", schedule or "")
    if draw:
        return _draw(call, draw)
    service, limit = Service(MasonEnvironment.of()), parallel or 0
    if resumed_run:
        choice = Choice(first or "", only or "")
        return _answer(lambda response: service.resume_workflow(resumed_run, call, choice, response, limit=limit))
    if deploy or run_now:
        planned = Path(from_plan) if from_plan else None
        return _answer(
            lambda response: service.run_workflow(
                call, response, deploy=deploy, run=run_now, limit=limit, from_plan=planned
            )
        )
    save = Path(saved_plan) if saved_plan else None
    return _answer(lambda response: service.plan_workflow(call, response, save=save, width=terminal_width(sys.stderr)))


def _answer(work: Callable[[Response], OperatorResponse]) -> int:
    from mason.cli.step_table import StepTable
    from mason.service.reply import reply_with

    start_logging(StepTable)
    with stdout_kept_clean():
        reply = reply_with(work)
    leave_table(StepTable)
    return show_reply(reply, "Workflow Response")


def _run_schedules() -> int:
    import signal
    from queue import SimpleQueue

    from mason.errors import Interrupted
    from mason.state.home import open_state, pin_state
    from mason.workflows.schedule_loop import ScheduleLoop
    from mason.workflows.scheduled import RunProcess

    pin_state(MasonEnvironment.of())
    env = MasonEnvironment.of()
    stop: SimpleQueue[int] = SimpleQueue()  # unlike an event, it can be told from a signal at any moment
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stop.put(number))
    start_logging()
    tell(f"Looking at the schedules of {env.shown(env.home)}/. Ctrl-C ends it.")
    came = ScheduleLoop(open_state(env), lambda name, document: RunProcess(env, name, document)).run(stop)
    return Interrupted.exit_code if came == signal.SIGINT else 0


def _draw(call: WorkflowCall, kind: str) -> int:
    from mason.service.service import Service
    from mason.workflows import picture

    dag = Service(MasonEnvironment.of()).find_workflow(call).dag
    if kind == "json":
        show_json(picture.to_dict(dag))
    else:
        lines = [picture.to_mermaid(dag)] if kind == "mermaid" else picture.draw(dag, terminal_width(sys.stdout))
        show("\n".join(lines))
    return 0


def _list_runs(namespace: str, workflow: str, *, as_json: bool) -> int:
    from mason.cli.run_view import RUN_COLUMNS, run_rows
    from mason.service.service import Service

    found = Service(MasonEnvironment.of()).list_runs(f"{namespace}:{workflow}" if namespace else "")
    if as_json:
        show_json(found)
    elif not found:
        show("No Runs.  Run a workflow with -r")
    else:
        show_table(RUN_COLUMNS, run_rows(found))
    return 0


def _show_run(run_id: str, *, as_json: bool) -> int:
    from mason.cli.run_view import STEP_COLUMNS, run_lines, step_lines, step_rows
    from mason.service.service import Service

    run = Service(MasonEnvironment.of()).get_run(run_id)
    if as_json:
        show_json(run)
        return 0
    show("\n".join([*run_lines(run), ""]))
    show_table(STEP_COLUMNS, step_rows(run))
    said = list(step_lines(run))
    if said:
        show("\n".join(["", *said]))
    return 0


def _list(namespace: str) -> int:
    from mason.operators.registry import where_examples_are
    from mason.service.service import Service
    from mason.state.models import Kind

    env = MasonEnvironment.of()
    found = Service(env).list_workflows(namespace)
    if not found:
        show('No Workflows Registered.  Register workflows by running "mason register"')
        tell(where_examples_are(Kind.WORKFLOW))
        return 0
    show_banner(f"Available {namespace or 'Workflow'} Methods: {env.shown(env.workflow_home)}/")
    show("")
    rows = [[each.name.namespace, each.name.command, str(each.definition.get("description", ""))] for each in found]
    show_table(["namespace", "command", "description"], rows)
    return 0
