"""`mason init`."""

from __future__ import annotations

import click

from mason.cli.output import show, tell


@click.command(name="init")
@click.argument("folder", default=".")
def command(folder: str) -> int:
    """Makes a small project to start from.

    FOLDER (the working directory by default) gets a configuration, an operator of your own, sample data, and a
    script that runs them. Files that are there already are not touched.
    """
    from pathlib import Path
    from shlex import quote

    from mason.operators.starter_project import RUN_IT, make_project

    for place in make_project(Path(folder)):
        tell(f"Made {place}")
    show(f"Try it: {'' if folder == '.' else f'cd {quote(folder)} && '}{RUN_IT}")
    return 0
