"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from mason.cli import completion
from mason.cli.output import FORMS, LEVELS, choose_form, choose_level
from mason.util.packaged import find_example


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
    help="How much is said on stderr (info by default).",
)


def _choose_form(ctx: click.Context, parameter: click.Parameter, form: str | None) -> str:
    choose_form(form or "")
    return form or ""


output_form = click.option(
    "-o",
    "--output",
    type=click.Choice(FORMS, case_sensitive=False),
    envvar="MASON_OUTPUT",
    callback=_choose_form,
    expose_value=False,
    help="The form of what is shown: a table by default on a terminal, json elsewhere. csv and ndjson are for rows.",
)


config_id = click.option(
    "-c",
    "-e",
    "--config",
    "config_id",
    metavar="ID",
    help="The configuration to use for this call: a saved one, or what the project calls it.",
    shell_complete=completion.config_ids,
)


def resolve_given_path(path: str) -> Path:
    """Return the path that a user named; the examples that come with Mason are found from everywhere."""
    return find_example(path)
