"""`mason completion`."""

from __future__ import annotations

import click

from mason.cli.output import show


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
