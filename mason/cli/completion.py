"""`mason completion`, and what a shell can complete: ids of configurations, operators, and their parameters."""

from __future__ import annotations

import click

from mason.cli.output import show
from mason.errors import MasonError
from mason.util.environment import MasonEnvironment


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Prints the completion script of a shell.

    Operators, their parameters and the ids of configurations complete. For bash: source <(mason completion bash)
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
    """Return `name:` for every parameter of the operator that is not given yet."""
    # While the value of an option is typed, click has not yet told the arguments from the rest.
    words = [each for each in (ctx.params.get("namespace"), ctx.params.get("operator")) if each]
    words = words or [each for each in ctx.args if not each.startswith("-")]
    wanted = (words[0], words[1]) if len(words) > 1 else ("", *words)
    before, comma, begun = incomplete.rpartition(",")
    for namespace, command, names in _operators():
        if (namespace, command) == wanted:
            free = [name for name in names if f"{name}:" not in before]
            return [f"{before}{comma}{name}:" for name in free if name.startswith(begun)]
    return []


def _operators() -> list[tuple[str, str, list[str]]]:
    from mason.operators.registration.registry import outline_definitions
    from mason.parameters.definition import ParameterDefinitions
    from mason.state.home import read_state
    from mason.state.models import Kind

    try:
        registered = outline_definitions(read_state(MasonEnvironment.of()), Kind.OPERATOR)
    except MasonError:
        return []
    return [
        (
            each.name.namespace,
            each.name.command,
            [p.name for p in ParameterDefinitions.of(each.definition.get("parameters")).all],
        )
        for each in registered
    ]
