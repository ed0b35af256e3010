"""`mason token`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from mason.cli.options import output_form
from mason.cli.output import show, show_listing, show_table, tell, tell_warning
from mason.errors import BadInput, ConfigurationNotFound
from mason.util.environment import MasonEnvironment
from mason.util.names import CONFIG_ID_RULE, did_you_mean, is_config_id
from mason.util.view import View
from mason.util.words import DURATION_HOW, read_duration

if TYPE_CHECKING:
    from mason.state.store import StateStore


_LISTED = View(columns=("Name", "Scope", "State", "Created", "Expires", "Operators", "Configurations"))


@click.group(name="token")
def command() -> None:
    """Makes, lists and revokes the tokens of those who may call the REST API."""


@command.command()
@click.option("--name", required=True, help="What to call the token: who will have it.")
@click.option(
    "--scope",
    type=click.Choice(["read", "run", "admin"]),
    default="read",
    show_default=True,
    help="read: GET; run: operators and workflows that do something, too; admin: everything.",
)
@click.option("--expires", metavar="TIME", help="When it ends, as in 12h, 30d or 4w; never by default.")
@click.option("--operator", "operators", multiple=True, metavar="NAME", help="Only these operators, as in table:*.")
@click.option("--configuration", "configurations", multiple=True, metavar="ID", help="Only these configurations.")
def create(
    name: str, scope: str, expires: str | None, operators: tuple[str, ...], configurations: tuple[str, ...]
) -> None:
    """Makes a token and prints it: this is the only time that it is shown."""
    from mason.state.home import open_state
    from mason.state.tokens import Scope, create_token

    if not is_config_id(name):
        raise BadInput(f'"{name}" cannot be the name of a token: {CONFIG_ID_RULE}.')
    lifetime = _lifetime(expires) if expires else None
    store = open_state(MasonEnvironment.of())
    token = create_token(
        store, name, Scope(scope), lifetime=lifetime, operators=operators, configurations=configurations
    )
    for warning in _useless_limits(store, operators, configurations):
        tell(f"warning: {warning}", "warning")
    tell(f'Made the token "{name}". It is shown only this once:')
    show(token)


@command.command(name="list")
@output_form
def list_all() -> int:
    """Lists the tokens, without what they are."""
    from mason.state.home import read_state
    from mason.state.tokens import list_tokens

    tokens = list_tokens(read_state(MasonEnvironment.of()))
    none = "No Tokens.  Make one with mason token create"
    rows = [
        [
            each.name,
            each.scope.value,
            each.state,
            each.created_at,
            each.expires_at or "never",
            ", ".join(each.operators) or "all",
            ", ".join(each.configurations) or "all",
        ]
        for each in tokens
    ]

    def print_transcript() -> None:
        if rows:
            show_table([each.lower() for each in _LISTED.columns], rows)
        else:
            show(none)

    shown = [dict(zip(_LISTED.columns, row, strict=True)) for row in rows]
    return show_listing(shown, _LISTED, print_transcript, none)


@command.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Makes a token worthless, from the next request on.

    Calls that it began are cancelled, and schedules that it deployed on the local scheduler are paused.
    """
    from mason.state.home import open_state
    from mason.util.words import counted
    from mason.workflows.revocation import revoke as revoke_with_all

    ended = revoke_with_all(open_state(MasonEnvironment.of()), name)
    tell(f'Revoked the token "{name}".')
    if ended.cancelled:
        tell(f"Cancelled what it began and what was not over: {counted(ended.cancelled, 'call')}.")
    if ended.paused:
        tell(f"Paused the schedules that it deployed: {', '.join(ended.paused)}. Deploying one again resumes it.")
    for schedule, scheduler in ended.elsewhere:
        tell_warning(f"The schedule {schedule}, which it deployed, is with {scheduler} and goes on: delete it there.")


def _useless_limits(store: StateStore, operators: Sequence[str], configurations: Sequence[str]) -> Iterator[str]:
    """Yield which of the things that a token is for are not there; they may be one day, as all may at the beginning."""
    from mason.configurations.saved import find_configuration
    from mason.operators.registration.registry import outline_definitions
    from mason.state.models import Kind

    names = [str(each.name) for each in outline_definitions(store, Kind.OPERATOR)]
    for pattern in operators:
        if names and not any(fnmatchcase(name, pattern) for name in names):
            yield f'No operator is called "{pattern}". {did_you_mean(pattern, names)}'.rstrip()
    for config_id in configurations:
        try:
            find_configuration(MasonEnvironment.of(), store, config_id)
        except ConfigurationNotFound as error:
            yield str(error)


def _lifetime(text: str) -> timedelta:
    lifetime = read_duration(text)
    if lifetime is None:
        raise BadInput(f'"{text}" is not a time that a token can last.', hint=DURATION_HOW)
    return lifetime
