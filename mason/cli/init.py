"""`mason init`."""

from __future__ import annotations

import click

from mason.cli.output import show, tell
from mason.project.making import RUN_IT, list_templates, make_project


@click.command(name="init")
@click.argument("folder", default=".", metavar="[DIR]")
@click.option(
    "-t",
    "--template",
    default="files",
    show_default=True,
    type=click.Choice(list_templates()),
    help="What to begin with.",
)
def command(folder: str, template: str) -> int:
    """Makes a project to start from.

    DIR (the working directory by default) gets a mason.yaml with two configurations, sources to merge, an operator of
    your own with tests, a workflow with its parameters that merges, checks and reports, and one command that runs all.
    Files that are there already are not touched.
    """
    from pathlib import Path
    from shlex import quote

    for place in make_project(Path(folder), template):
        tell(f"Made {place}")
    show(f"Try it: {'' if folder == '.' else f'cd {quote(folder)} && '}{RUN_IT}")
    return 0
