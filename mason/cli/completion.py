"""`mason completion`, and what a shell can complete: ids of configurations, operators, and their parameters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mason.cli.output import show
from mason.errors import MasonError
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.parameters.definition import ParameterDefinition, ParameterDefinitions
    from mason.state.models import RecordKind

_NEWEST = 100


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Prints the completion script of a shell.

    Operators, their parameters and values, and the ids of configurations, jobs and runs complete. For bash:

    source <(mason completion bash)
    """
    from click.shell_completion import get_completion_class

    from mason.cli.main import mason

    completion = get_completion_class(shell)
    assert completion is not None
    show(completion(mason, {}, "mason", "_MASON_COMPLETE").source())


def config_ids(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of the configurations: of the project, and of those that are saved."""
    from mason.state.home import read_state

    try:
        store = read_state(MasonEnvironment.of())
        saved = (each.id for each in store.list_configurations())
        ids = sorted({"local", *saved, *store.surroundings.configurations()})
    except MasonError:
        return []  # a shell that completes must not be written to
    return [each for each in ids if each.startswith(incomplete)]


def namespaces(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the namespaces of the operators, and the operators without one."""
    names = {namespace or command for namespace, command, _ in _operators()}
    return sorted(name for name in names if name.startswith(incomplete))


def commands(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the commands of the namespace that stands before."""
    wanted = ctx.params.get("namespace")
    return [command for namespace, command, _ in _operators() if namespace == wanted and command.startswith(incomplete)]


def parameters(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return `name:` for every parameter of the operator that is not given yet, and behind that its values."""
    # While the value of an option is typed, click has not yet told the arguments from the rest.
    words = [each for each in (ctx.params.get("namespace"), ctx.params.get("operator")) if each]
    words = words or [each for each in ctx.args if not each.startswith("-")]
    wanted = (words[0], words[1]) if len(words) > 1 else ("", *words)
    before, comma, begun = incomplete.rpartition(",")
    sign = "=" if incomplete.partition("=")[0].isidentifier() and "=" in incomplete else ":"
    for namespace, command, definitions in _operators():
        if (namespace, command) == wanted:
            if sign in begun:
                name, _, value = begun.partition(sign)
                found = _values(definitions.find(name), value, f"{before}{comma}".split(","), sign, ctx)
                return [f"{before}{comma}{name}{sign}{each}" for each in found]
            free = [each.name for each in definitions.all if f"{each.name}{sign}" not in before]
            return [f"{before}{comma}{name}{sign}" for name in free if name.startswith(begun)]
    return []


def job_ids(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of the newest jobs."""
    from mason.state.models import RecordKind

    return sorted(each for kind in (RecordKind.CALL, RecordKind.JOB) for each in _ids(kind, incomplete))


def run_ids(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of the newest runs."""
    from mason.state.models import RecordKind

    return _ids(RecordKind.RUN, incomplete)


def _ids(kind: RecordKind, begun: str) -> list[str]:
    from mason.state.home import read_state

    try:
        records = read_state(MasonEnvironment.of()).list_records(kind, limit=_NEWEST)
    except MasonError:
        return []
    return [each.id for each in records if each.id.startswith(begun)]


def _values(
    parameter: ParameterDefinition | None, begun: str, given: Sequence[str], sign: str, ctx: click.Context
) -> list[str]:
    """Return what a parameter's value may be that begins so: a choice, a path, a database, a table or a job."""
    if parameter is None:
        return []
    words = ("true", "false") if parameter.type == "boolean" else parameter.choices
    if words:
        return [each for each in words if each.startswith(begun)]
    if parameter.type == "path":
        return _paths(begun)
    if parameter.name == "job_id":
        return job_ids(ctx, ctx.command.params[0], begun)
    if parameter.name in ("database_name", "table_name"):
        database = next((each.partition(sign)[2] for each in given if each.startswith(f"database_name{sign}")), "")
        return _names_in_metastore(
            parameter.name == "table_name", database, begun, str(ctx.params.get("config_id") or "")
        )
    return []


def _paths(begun: str) -> list[str]:
    """Return the files and folders here whose path begins so; a folder ends in a slash."""
    from glob import escape, glob

    found = sorted(glob(f"{escape(begun)}*"))  # noqa: PTH207 (a path as it was typed stays what it is)
    return [f"{each}/" if os.path.isdir(each) else each for each in found if "," not in each]  # noqa: PTH112


def _names_in_metastore(wants_tables: bool, database: str, begun: str, config_id: str) -> list[str]:
    """Return the databases of the metastore, or the tables of one of them."""
    from mason.clients.response import Response
    from mason.configurations.saved import use_configuration

    if wants_tables and not database:
        return []
    try:
        metastore = use_configuration(MasonEnvironment.of(), config_id).metastore.client
        response = Response()
        listed = (
            metastore.list_tables(database, response=response)[0]
            if wants_tables
            else metastore.list_databases(response=response)[0]
        )
    except MasonError:
        return []  # a metastore that does not answer completes nothing
    return [each.name for each in listed if each.name.startswith(begun)]


def _operators() -> list[tuple[str, str, ParameterDefinitions]]:
    from mason.operators.registration.registry import outline_definitions
    from mason.parameters.definition import ParameterDefinitions
    from mason.state.home import read_state
    from mason.state.models import Kind

    try:
        registered = outline_definitions(read_state(MasonEnvironment.of()), Kind.OPERATOR)
    except MasonError:
        return []
    return [
        (each.name.namespace, each.name.command, ParameterDefinitions.of(each.definition.get("parameters")))
        for each in registered
    ]
