"""`mason state`."""

from __future__ import annotations

import click

from mason.cli.output import tell
from mason.errors import BadInput, NotFound
from mason.util.environment import MasonEnvironment


@click.group(name="state")
def command() -> None:
    """Copies what Mason knows into a database that several machines share."""


@command.command()
def copy() -> None:
    """Copies the file in MASON_HOME into the database that `state` in settings.yaml, or MASON_STATE, names.

    Registrations, configurations, tokens, jobs, runs and schedules: all of it, or nothing. The file stays as it is.
    """
    from mason.state.address import state_address
    from mason.state.copying import copy_state
    from mason.state.home import open_state
    from mason.state.sql_store import SqlStore
    from mason.state.sqlite import SqliteStore

    env = MasonEnvironment.of()
    if not state_address(env):
        raise BadInput(
            "The state is the file itself: nothing says where to copy it.",
            hint="Name a database: `state: postgresql://…` in settings.yaml, or MASON_STATE.",
        )
    if not env.state_file.exists():
        raise NotFound(f"There is no {env.shown(env.state_file)} to copy.")
    target = open_state(env)
    assert isinstance(target, SqlStore)
    counts = copy_state(SqliteStore(env.state_file), target)
    told = ", ".join(f"{number:,} {table}" for table, number in counts.items())
    tell(f"Copied {env.shown(env.state_file)} to {target.describe()}: {told}.")
