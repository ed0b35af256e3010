"""`mason doctor`."""

from __future__ import annotations

import sys
from itertools import chain

import click

from mason.cli.options import config_id
from mason.cli.output import colour_text, show
from mason.util.environment import MasonEnvironment
from mason.util.text_table import escape_controls


@click.command(name="doctor")
@config_id
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    help="Also try whether tables can be read and written there; may be given several times.",
)
def command(config_id: str | None, paths: tuple[str, ...]) -> int:
    """Checks this machine and the clients of a configuration.

    One line for each thing, with what to do about it where something is wrong; the exit code is 1 then.
    """
    from mason.cli.commands import commands_in_the_way
    from mason.operators.diagnosis import Finding, FindingStatus, diagnose

    words = {
        FindingStatus.FINE: colour_text("ok   ", "green", sys.stdout),
        FindingStatus.LATER: colour_text("note ", "yellow", sys.stdout),
        FindingStatus.WRONG: colour_text("WRONG", "red", sys.stdout),
    }
    healthy = True
    plugins = [Finding("Plug-ins", FindingStatus.WRONG, str(error)) for error in commands_in_the_way()]
    for finding in chain(diagnose(MasonEnvironment.of(), config_id or "", paths), plugins):
        message = escape_controls(f"{finding.subject}: {finding.message}", "\n")
        show(f"{words[finding.verdict]}  {message}", is_drawn=True)
        healthy = healthy and finding.verdict is not FindingStatus.WRONG
    return 0 if healthy else 1
