"""`mason workflow`, and which of its flags go together: what is asked for is done or refused, never left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mason.cli import completion
from mason.cli.options import config_id, log_level, output_form, resolve_given_path
from mason.cli.output import (
    choose_form,
    form_shown,
    is_form_chosen,
    leave_table,
    show,
    show_envelope,
    show_json,
    show_listing,
    show_reply,
    show_table,
    start_logging,
    stdout_kept_clean,
    tell,
    terminal_width,
)
from mason.util.environment import MasonEnvironment
from mason.util.view import View

if TYPE_CHECKING:
    from mason.clients.response import Response
    from mason.operators.operator_response import OperatorResponse
    from mason.state.models import Registration
    from mason.workflows.workflow_calls import WorkflowCall

_LISTED = View(columns=("Namespace", "Command", "Description"))
_RUNS = View(columns=("RunID", "Status", "Workflow", "StartedAt", "Steps"))
_PLAN = View(parts={"Workflow": (), "Scheduler": ()})
"""What each step reads and writes, and what it waits for, is told while it is planned."""
_DEPLOYED = View(parts={"Name": (), "Schedule": (), "NextDueAt": ()})
"""Of a run, what its steps said and how it ended is told already."""

_DOINGS = {
    "scheduler": "--scheduler",
    "runs": "--runs",
    "shown_run": "--show",
    "draw": "--draw",
    "resumed_run": "--resume",
    "saved_plan": "--save",
    "deploy": "--deploy",
    "run_now": "--run",
}
"""Each is something else to do."""

_TOGETHER = ({"deploy", "run_now"}, {"resumed_run", "run_now"})
_OF_A_WORKFLOW = {"draw": "--draw", "saved_plan": "--save", "deploy": "--deploy", "run_now": "--run"}
_OF_CALLS = {"parameter_file": "--file", "config_id": "--config"}
_NEEDS = {
    "parallel": ("--parallel", ("run_now", "resumed_run"), "--run or --resume"),
    "first": ("--from", ("resumed_run",), "--resume RUN"),
    "only": ("--only", ("resumed_run",), "--resume RUN"),
    "from_plan": ("--from-plan", ("run_now",), "--run"),
    "schedule_name": ("--schedule-name", ("deploy", "run_now"), "--deploy"),
    "schedule": ("--schedule", ("deploy", "run_now"), "--deploy"),
}
_TEXTS = {"parameter_file": "--file", "shown_run": "--show", "resumed_run": "--resume", "saved_plan": "--save"}


def check_flags(given: Mapping[str, Any]) -> None:
    """See that what was given, by the names of the command's parameters, can be meant.

    Raises:
        click.UsageError: it cannot.
    """
    for name, flag in {**_TEXTS, **{name: flag for name, (flag, _, _) in _NEEDS.items()}}.items():
        if given[name] == "":
            raise click.UsageError(f"{flag} is given with nothing behind it.")
    doings = [name for name in _DOINGS if given[name]]
    for pair in combinations(doings, 2):
        if set(pair) not in _TOGETHER:
            raise click.UsageError(f"{_DOINGS[pair[0]]} and {_DOINGS[pair[1]]} do not go together.")
    for name, (flag, others, advice) in _NEEDS.items():
        if given[name] and not any(given[each] for each in others):
            raise click.UsageError(f"{flag} goes with {advice}.")
    if given["first"] and given["only"]:
        raise click.UsageError("--from and --only do not go together.")
    _check_what_it_is_of(given, doings)


def _check_what_it_is_of(given: Mapping[str, Any], doings: Sequence[str]) -> None:
    """See that what is done with a workflow has one, and that nothing is given to what would leave it out."""
    looks = [_DOINGS[name] for name in doings if name in ("scheduler", "runs", "shown_run")]
    has_workflow = given["workflow"] is not None or ":" in (given["namespace"] or "")
    for name, flag in _OF_CALLS.items():
        if given[name] and looks:
            raise click.UsageError(f"{flag} and {looks[0]} do not go together.")
    for name, flag in {**_OF_A_WORKFLOW, **_OF_CALLS}.items():
        if given[name] and not has_workflow and not given["resumed_run"]:
            raise click.UsageError(f"{flag} needs a workflow: mason workflow NAMESPACE COMMAND {flag} …")
    if given["scheduler"] and given["namespace"]:
        raise click.UsageError("--scheduler runs what is due of every workflow: name none.")
    if given["as_json"] and not has_workflow and not {"runs", "shown_run", "resumed_run"} & set(doings):
        raise click.UsageError("--json goes with --runs or --show.")


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
@click.option(
    "--show", "shown_run", metavar="RUN", help="Show a run with its steps.", shell_complete=completion.run_ids
)
@click.option("--json", "as_json", is_flag=True, help="Print what --runs and --show have to say as JSON.")
@click.option(
    "--resume",
    "resumed_run",
    metavar="RUN",
    help="Run again what failed in a run, and what depends on it.",
    shell_complete=completion.run_ids,
)
@click.option("--from", "first", metavar="STEP", help="With --resume: this step, and what depends on it, as well.")
@click.option("--only", metavar="STEP", help="With --resume: this step alone.")
@config_id
@output_form
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
    if as_json:
        choose_form("json")
    if namespace and workflow is None and ":" in namespace.partition("@")[0]:
        namespace, _, workflow = namespace.partition(":")  # table:infer, as messages write it
    if scheduler:
        return _run_schedules()
    if runs:
        return _list_runs(namespace or "", (workflow or "").partition("@")[0])
    if shown_run:
        return _show_run(shown_run)
    if workflow is None and not resumed_run:
        return _list(namespace or "")
    name, at, digest = (workflow or "").partition("@")
    if at and not digest:
        raise click.UsageError(f'"{workflow}" ends before its digest.')
    from mason.service.service import Service
    from mason.workflows.runs.resume import Choice
    from mason.workflows.workflow_calls import WorkflowCall

    file = resolve_given_path(parameter_file) if parameter_file else None
    full_name = f"{namespace}:{name}" if name else ""
    call = WorkflowCall(
        name=full_name,
        digest=digest,
        parameter_file=file,
        config_id=config_id or "",
        schedule_name=schedule_name or "",
        schedule=schedule or "",
    )
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
    width = terminal_width(sys.stderr)
    return _answer(lambda response: service.plan_workflow(call, response, save=save, width=width), _PLAN)


def _answer(work: Callable[[Response], OperatorResponse], view: View = _DEPLOYED) -> int:
    from mason.cli.views.step_table import StepTable
    from mason.service.reply import reply_with

    start_logging(StepTable)
    with stdout_kept_clean():
        reply = reply_with(work)
    leave_table(StepTable)
    return show_reply(reply, "Workflow Response", view)


def _run_schedules() -> int:
    import signal
    from queue import SimpleQueue

    from mason.errors import Interrupted
    from mason.state.home import open_state, pin_state
    from mason.workflows.schedules.schedule_loop import ScheduleLoop
    from mason.workflows.schedules.scheduled import RunProcess

    pin_state(MasonEnvironment.of())
    env = MasonEnvironment.of()
    stop: SimpleQueue[int] = SimpleQueue()  # unlike an event, it can be told from a signal at any moment
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stop.put(number))
    start_logging()
    tell(f"Looking at the schedules of {env.shorten_home(env.home)}/. Ctrl-C ends it.")
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


def _list_runs(namespace: str, workflow: str) -> int:
    from mason.cli.views.run_view import RUN_COLUMNS, run_rows
    from mason.service.service import Service

    found = Service(MasonEnvironment.of()).list_runs(f"{namespace}:{workflow}" if namespace else "")
    none = "No Runs.  Run a workflow with -r"

    def print_transcript() -> None:
        if found:
            show_table(RUN_COLUMNS, run_rows(found))
        else:
            show(none)

    people = form_shown() == "table"
    shown = [dict(zip(_RUNS.columns, row, strict=True)) for row in run_rows(found)] if people else found
    return show_listing(shown, _RUNS, print_transcript, none)


def _show_run(run_id: str) -> int:
    from mason.cli.views.run_view import STEP_COLUMNS, run_lines, step_lines, step_rows
    from mason.service.service import Service

    run = Service(MasonEnvironment.of()).get_run(run_id)
    if is_form_chosen() and form_shown() != "table":
        return show_envelope({"Errors": [], "Info": [], "Warnings": [], "Data": [run]})
    show("\n".join([*run_lines(run), ""]))
    show_table(STEP_COLUMNS, step_rows(run))
    said = list(step_lines(run))
    if said:
        show("\n".join(["", *said]))
    return 0


def _list(namespace: str) -> int:
    from mason.cli.views.definitions import Listing, show_definitions
    from mason.service.service import Service
    from mason.state.models import Kind

    env = MasonEnvironment.of()
    listing = Listing(
        kind=Kind.WORKFLOW,
        title=f"Available {namespace or 'Workflow'} Methods",
        view=_LISTED,
        columns=_LISTED.columns,
        describe=_describe,
        transcript_columns=["namespace", "command", "description"],
        transcript_row=_describe,
    )
    return show_definitions(listing, Service(env).list_workflows(namespace), env)


def _describe(found: Registration) -> list[str]:
    return [found.name.namespace, found.name.command, str(found.definition.get("description", ""))]
