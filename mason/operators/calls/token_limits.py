"""What whoever holds a token may do to the jobs and schedules of others, wherever that runs which they asked for."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from mason.operators.calls.records import MAY_FOLLOW, MAY_READ_ROWS
from mason.state.schedules import MAY_USE
from mason.state.store import StateStore
from mason.state.tokens import Token, list_tokens

_TOKEN: ContextVar[Token | None] = ContextVar("mason_token", default=None)


def current_limit() -> Token | None:
    """Return the token that this context is limited to, for another process that is to be limited as well."""
    return _TOKEN.get()


def limit_to(token: Token) -> None:
    """Let what runs in this context from now on see and change only what a token is for."""
    _TOKEN.set(token)
    MAY_FOLLOW.set(lambda job: may_follow(token, job))
    MAY_READ_ROWS.set(not token.operators)
    MAY_USE.set(lambda schedule: may_use_schedule(token, schedule))


def limit_to_deployer(store: StateStore, schedule: Mapping[str, Any]) -> None:
    """Let a run of a schedule see and change only what the token is for that it was deployed with.

    One that was deployed by a command, or with the token of the environment, may do what a command may.
    """
    name = schedule.get("DeployedBy", "")
    token = next((each for each in list_tokens(store) if each.name == name), None) if name else None
    if token:
        limit_to(token)


def may_follow(token: Token, job: Mapping[str, Any]) -> bool:
    """Say whether a token is for a job: a call of its own, or anything with a configuration that it is for."""
    return job.get("CalledBy") == token.name or token.may_use_configuration(job.get("Configuration", ""))


def may_use_schedule(token: Token, schedule: Mapping[str, Any]) -> bool:
    """Say whether a token is for a schedule: one that it deployed, or one whose steps use what it is for.

    Of one that does not say what it uses, as those of an older Mason, nobody knows: it is for tokens for everything.
    """
    if not token.is_limited or schedule.get("DeployedBy") == token.name:
        return True
    operators, configurations = schedule.get("Operators"), schedule.get("Configurations")
    if operators is None or configurations is None:
        return False
    return all(map(token.may_use_operator, operators)) and all(map(token.may_use_configuration, configurations))
