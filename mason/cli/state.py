"""`mason state`."""

from __future__ import annotations

import click

from mason.cli.output import tell
from mason.errors import BadInput, NotFound
from mason.util.environment import MasonEnvironment


@click.group(name="state")
def command() -> None:
    """Copies what Mason knows into a database, and removes what is over and old."""


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
        raise NotFound(f"There is no {env.shorten_home(env.state_file)} to copy.")
    target = open_state(env)
    assert isinstance(target, SqlStore)
    counts = copy_state(SqliteStore(env.state_file), target)
    amounts = ", ".join(f"{number:,} {table}" for table, number in counts.items())
    tell(f"Copied {env.shorten_home(env.state_file)} to {target.describe()}: {amounts}.")


@command.command()
@click.option("--older-than", metavar="TIME", help="What is older than this, as in 12h, 30d or 4w.")
def prune(older_than: str | None) -> None:
    """Removes jobs and runs that are over and were kept long enough.

    How long that is `retention` in settings.yaml says, or MASON_RETENTION; --older-than wins.
    """
    from mason.state.home import open_state
    from mason.util.words import DURATION_HOW, read_duration
    from mason.workflows.retention import prune as prune_state
    from mason.workflows.retention import retention_of

    env = MasonEnvironment.of()
    if older_than is not None:
        keep = read_duration(older_than)
        if keep is None:
            raise BadInput(f'"{older_than}" is not a time that something can be kept.', hint=DURATION_HOW)
    else:
        keep = retention_of(env)
    if keep is None:
        raise BadInput(
            "Nothing says how long jobs and runs are kept.",
            hint="Give --older-than, or set `retention` in settings.yaml, or MASON_RETENTION.",
        )
    removed = prune_state(open_state(env), keep)
    tell(f"Removed {removed['jobs']:,} jobs and {removed['runs']:,} runs.")
