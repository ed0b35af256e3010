"""`mason new`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mason.cli.output import show, tell
from mason.errors import BadInput
from mason.project.making import list_operator_templates
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.project.project_file import Project


@click.group(name="new")
def command() -> None:
    """Adds an operator, a workflow or a client to the project."""


@command.command()
@click.argument("namespace")
@click.argument("name", metavar="COMMAND")
@click.option(
    "-t",
    "--template",
    default="class",
    show_default=True,
    type=click.Choice(list_operator_templates()),
    help="A table out of tables in SQL (sql) or over DataFrames (spark), or anything else (class).",
)
def operator(namespace: str, name: str, template: str) -> None:
    """Adds an operator with a test of it."""
    from mason.project.making import add_definition
    from mason.state.models import Kind

    _tell_made(add_definition(_project(), Kind.OPERATOR, namespace, name, template))
    show(f"Try it: mason operator {namespace} {name} --help")


@command.command()
@click.argument("namespace")
@click.argument("name", metavar="COMMAND")
def workflow(namespace: str, name: str) -> None:
    """Adds a workflow of one step."""
    from mason.project.making import add_definition
    from mason.state.models import Kind

    _tell_made(add_definition(_project(), Kind.WORKFLOW, namespace, name))
    show(f"Try it: mason workflow {namespace} {name}")


@command.command()
@click.argument("name")
@click.option("--role", default="storage", show_default=True, help="The role that it is to fill.")
def client(name: str, role: str) -> None:
    """Adds the package of a client, whose verbs are yet to be written."""
    from shlex import quote

    from mason.project.making import add_client

    project = _project()
    _tell_made(add_client(project, name, role))
    show(f"Install it: pip install -e {quote(str(project.folder / 'clients' / name))}")


def _project() -> Project:
    from mason.project.project_file import read_project

    env = MasonEnvironment.of()
    if not env.project:
        raise BadInput("There is no mason.yaml here or above.", hint="`mason init` makes a project.")
    return read_project(Path(env.project))


def _tell_made(places: Sequence[Path]) -> None:
    for place in places:
        tell(f"Made {place}")
