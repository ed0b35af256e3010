"""Which commands there are: a module with a function `command` is its own registration.

Mason's own lie below `mason/cli`, and in `command.py` of a client's folder, whose name is the command's. Other packages
declare theirs in the entry-point group `mason.commands`. A listing reads the text of these modules and imports none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from mason.errors import BrokenPlugin
from mason.util.packages import OWN_DISTRIBUTION, EntryPoint, error_of_double_name, points_by_name

if TYPE_CHECKING:
    from pathlib import Path

    import click

ENTRY_POINT_GROUP = "mason.commands"
_CLI = os.path.dirname(__file__)  # noqa: PTH120 (`mason --help` does without pathlib)
_CLIENTS = os.path.join(os.path.dirname(_CLI), "clients")  # noqa: PTH118, PTH120


class CommandModule(NamedTuple):
    """A command as it lies on disk; `points` are several where packages disagree about whose it is."""

    points: Sequence[EntryPoint]
    summary: str
    hidden: bool = False

    def load(self) -> click.Command:
        """Import the command.

        Raises:
            BrokenPlugin: several packages declare it, or what one declares is no command.
        """
        import click

        if len(self.points) > 1:
            raise error_of_double_name("command", self.points)
        [point] = self.points
        found = point.load("command")
        if not isinstance(found, click.Command):
            raise point.broken("command", f"it is a {type(found).__name__} and no click.Command")
        return found


@cache
def find_commands() -> Mapping[str, CommandModule]:
    """Return the commands by name. A package cannot take the place of one of Mason's own."""
    own = {**_own_commands(), **_client_commands()}
    others = {
        name: _load_command(points) for name, points in points_by_name(ENTRY_POINT_GROUP).items() if name not in own
    }
    found = {**own, **others}
    return {name: found[name] for name in sorted(found)}


def commands_in_the_way() -> Sequence[BrokenPlugin]:
    """Return what is wrong with the commands that packages declare, as far as their names tell it."""
    found, wrong = find_commands(), []
    for name, points in points_by_name(ENTRY_POINT_GROUP).items():
        if len(points) > 1:
            wrong.append(error_of_double_name("command", points))
        elif found[name].points[0].distribution == OWN_DISTRIBUTION:
            wrong.append(points[0].broken("command", "Mason has a command of this name"))
    return wrong


def _own_commands() -> dict[str, CommandModule]:
    names = [name.removesuffix(".py") for name in os.listdir(_CLI) if name.endswith(".py")]  # noqa: PTH208
    readings = {name: _read_command(f"{_CLI}/{name}.py", "command") for name in names}
    return {name: _own(name, f"mason.cli.{name}", *each) for name, each in readings.items() if each}


def _client_commands() -> dict[str, CommandModule]:
    clients = os.listdir(_CLIENTS)  # noqa: PTH208
    readings = {name: _read_command(f"{_CLIENTS}/{name}/command.py", "command") for name in clients}
    found = {name: each for name, each in readings.items() if each}
    return {
        (word := name.replace("_", "-")): _own(word, f"mason.clients.{name}.command", *each)
        for name, each in found.items()
    }


def _own(name: str, module: str, summary: str, hidden: bool) -> CommandModule:
    return CommandModule((EntryPoint(name, module, f"{module}:command", OWN_DISTRIBUTION),), summary, hidden)


def _load_command(points: Sequence[EntryPoint]) -> CommandModule:
    if len(points) > 1:
        packages = ", ".join(each.distribution for each in points)
        return CommandModule(points, f"Declared by several packages: {packages}.")
    file = points[0].source()
    reading = _read_command(file, points[0].value.partition(":")[2]) if file else None
    return CommandModule(points, *(reading or (f"Comes with the package {points[0].distribution}.", False)))


def _read_command(file: str | Path, name: str) -> tuple[str, bool] | None:
    """Return the first line of the command's docstring, and whether its decorator hides it; None for other modules."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError):
        return None
    before, found, after = text.partition(f"\ndef {name}(")
    if not found:
        return None
    decorators = before.rpartition("\n\n")[2].splitlines()
    makers = [each for each in decorators if each.startswith(("@click.command(", "@click.group("))]
    docstring = after.partition('"""')[2].partition('"""')[0]
    return docstring.partition("\n")[0].strip(), any("hidden=True" in each for each in makers)
