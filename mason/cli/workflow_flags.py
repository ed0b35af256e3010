"""Which flags of `mason workflow` go together. What is asked for is done, or refused: never left out in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import click

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
    for name, (flag, others, told) in _NEEDS.items():
        if given[name] and not any(given[each] for each in others):
            raise click.UsageError(f"{flag} goes with {told}.")
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
