"""A server that others can reach, or that is told to require one, has a token or does not start."""

from __future__ import annotations

from mason.api.server.access import token_of_environment
from mason.api.server.settings import ServerSettings
from mason.errors import BadInput
from mason.state.home import open_state, read_state
from mason.state.tokens import TOKEN_VARIABLE, Scope, create_token, list_tokens
from mason.util.environment import MasonEnvironment

FIRST_TOKEN = "first"


def require_token(settings: ServerSettings, env: MasonEnvironment) -> None:
    """Check that a server has a token which others can reach, or which is told to require one. No state is made.

    Raises:
        BadInput: it has none, or none that is valid; or the one of the environment can be none.
    """
    if token_of_environment() or (settings.is_loopback and not settings.require_token):
        return
    tokens = list_tokens(read_state(env))
    if any(each.state == "active" for each in tokens):
        return
    none = "no token that is neither expired nor revoked" if tokens else "no token yet"
    how = f"Make one with `mason token create --name NAME --scope admin`, set {TOKEN_VARIABLE}, or use --create-token"
    if settings.require_token:
        raise BadInput(
            f"--require-token: there is {none}.",
            hint=f"If there was one, {env.shorten_home(env.home)} is not the home that it was made in. {how}.",
        )
    raise BadInput(
        f"{settings.host} can be reached from other machines, and there is {none}.",
        hint=f"{how}, or listen on 127.0.0.1.",
    )


def create_first_token(env: MasonEnvironment) -> str:
    """Make a token for everything if there is none yet, and return it; else nothing."""
    store = open_state(env)
    if token_of_environment() or list_tokens(store):
        return ""
    return create_token(store, FIRST_TOKEN, Scope.ADMIN)
