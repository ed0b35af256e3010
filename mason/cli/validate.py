"""`mason validate`."""

from __future__ import annotations

import click

from mason.cli.options import log_level
from mason.cli.output import show, start_logging, tell_error, tell_warning
from mason.errors import BadInput
from mason.util.environment import MasonEnvironment


@click.command(name="validate")
@log_level
def command() -> int:
    """Checks the whole project that the working directory is in.

    Its mason.yaml, configurations, operators and workflows are checked at once, without running any of their code.
    """
    from mason.project.validation import validate_project

    env = MasonEnvironment.of()
    if not env.project:
        raise BadInput("There is no mason.yaml here or above.", hint="`mason init` makes a project.")
    start_logging()
    report = validate_project(env)
    for warning in report.warnings:
        tell_warning(warning)
    for problem in report.problems:
        tell_error(problem)
    if report.problems:
        return 1
    counts = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for word, count in report.counts)
    show(f"The project {report.name} is valid: {counts}.")
    return 0
