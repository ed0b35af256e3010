"""Which flags of `mason workflow` go together. What is asked for is done, or refused: never left out in silence."""

from __future__ import annotations

from collections.abc import Mapping
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
_NEEDS = {
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
