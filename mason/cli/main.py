"""The entry point: finds the command, runs it, and turns what went wrong into a message and an exit code."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys

import click

from mason import __version__

COMMANDS = {
    "completion": "Prints the completion script of a shell.",
    "config": "Configures clients and engines.",
    "doctor": "Checks this machine and the clients of a configuration.",
    "init": "Makes a small project to start from.",
    "job": "Follows jobs and cancels them.",
    "operator": "Lists and runs operators.",
    "register": "Registers operators and workflows.",
    "registry": "Shows and changes which version of an operator or workflow is current.",
    "run": "Runs the REST API.",
    "spark": "Shows and stops the Spark server that Mason keeps warm between commands.",
    "state": "Copies what Mason knows into a database, and removes what is over and old.",
    "test": "Runs the tests of operators on every configuration that this machine offers.",
    "token": "Makes, lists and revokes the tokens of those who may call the REST API.",
    "workflow": "Lists, plans, runs and deploys workflows.",
}

HIDDEN = ("scheduled",)
"""Commands that schedulers call, and people need not know of."""

_BANNER = r"""
     __  ___
    /  |/  /__ ________  ___
   / /|_/ / _ `(_-<  _ \/ _ \
  /_/  /_/\_,_/___/\___/_//_/

  Data operators that do the same sensible thing whichever technologies stand behind them.
"""


class LazyCommands(click.Group):
    """Imports a command only when it is called, so that `mason --help` costs next to nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        command: click.Command = importlib.import_module(f"mason.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in (*COMMANDS, *HIDDEN) and not args[0].startswith("-"):
            from mason.util.nearest import did_you_mean

            ctx.fail(f'There is no command "{args[0]}". {did_you_mean(args[0], COMMANDS)}'.rstrip())
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(_BANNER)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="mason", message="%(prog)s %(version)s")
def mason() -> None:
    """Data operators that do the same sensible thing whichever technologies stand behind them."""


def run() -> int:
    """Run the command line and return its exit code."""
    if sys.stdout is None:  # closed by whoever called: what nobody wants to read goes nowhere
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 whatever the locale says, and no name of a file may stop a message.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        result = mason.main(prog_name="mason", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort as error:  # click's own word for ctrl-C
        raise KeyboardInterrupt from error
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename:
            raise
        sys.stderr.write("error: What this command has to say could not be written: no space left.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 (only to tell Mason's own errors from bugs, which are raised again)
        return _explain(error)


def _explain(error: Exception) -> int:
    from mason.cli.output import tell_error
    from mason.errors import MasonError

    if not isinstance(error, MasonError):
        raise error
    for message in error.messages:
        tell_error(message)
    return error.exit_code
