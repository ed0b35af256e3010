"""The entry point: finds the command, runs it, and turns what went wrong into a message and an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys

import click

from mason import __version__
from mason.cli.commands import find_commands

_WIDEST_HELP = 80
_NARROWEST_HELP = 50
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
        return [name for name, each in find_commands().items() if not each.hidden]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = find_commands().get(cmd_name)
        return found.load() if found else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in find_commands() and not args[0].startswith("-"):
            from mason.util.names import did_you_mean

            ctx.fail(f'There is no command "{args[0]}". {did_you_mean(args[0], self.list_commands(ctx))}'.rstrip())
        return super().resolve_command(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(_BANNER)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.summary) for name, each in find_commands().items() if not each.hidden])


def _help_width() -> int:
    """Return how wide help is: as click has it, whose way to ask for the terminal costs an eighth of `mason --help`."""
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(1).columns
    except OSError:
        width = _WIDEST_HELP
    return max(min(width or _WIDEST_HELP, _WIDEST_HELP) - 2, _NARROWEST_HELP)


_SETTINGS = {"help_option_names": ["-h", "--help"], "terminal_width": _help_width()}


@click.group(cls=LazyCommands, context_settings=_SETTINGS)
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
