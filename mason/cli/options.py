"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from mason.cli import completion_sources
from mason.cli.output import LEVELS, choose_level


def _choose(ctx: click.Context, parameter: click.Parameter, level: str) -> str:
    choose_level(level)
    return level


log_level = click.option(
    "-l",
    "--log-level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    callback=_choose,
    expose_value=False,
    help="How much is said on stderr (info unless told).",
)


config_id = click.option(
    "-c",
    "--config",
    "config_id",
    metavar="ID",
    help="The configuration to use for this call.",
    shell_complete=completion_sources.config_ids,
)


def given_path(path: str) -> Path:
    """Return the path that a user named; the examples that come with Mason are found from everywhere.

    `mason/examples/operators/` works in a clone, and as well where Mason was installed as a package.
    """
    here = Path(path)
    if here.exists() or here.is_absolute() or here.parts[:2] != ("mason", "examples"):
        return here
    import mason

    packaged = Path(mason.__file__).parent.parent / here
    return packaged if packaged.exists() else here
