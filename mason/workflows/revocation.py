"""Revokes a token, with all that goes on in its name: calls are cancelled and schedules paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mason.operators.calls.records import cancel_calls_of
from mason.state.schedules import LOCAL, list_deployed_by, pause_schedule, scheduler_of
from mason.state.store import StateStore
from mason.state.tokens import revocation_reason, revoke_token


class Revocation(NamedTuple):
    """What has ended with a token, and what has not."""

    cancelled: int
    """How many calls were cancelled."""
    paused: Sequence[str]
    elsewhere: Sequence[tuple[str, str]]
    """The schedules that another scheduler has, each with that: they go on until somebody deletes them there."""


def revoke(store: StateStore, name: str) -> Revocation:
    """Make a token worthless, and end what goes on in its name.

    Calls that are accepted in this very moment end by themselves: whoever runs one looks at its token.

    Raises:
        NotFound: there is no such token.
    """
    revoke_token(store, name)
    reason = revocation_reason(name)
    cancelled = cancel_calls_of(store, name, reason)
    deployed = list_deployed_by(store, name)
    here = [each for each in deployed if scheduler_of(each) == LOCAL]
    paused = [str(each.document["Name"]) for each in here if pause_schedule(store, each, reason)]
    elsewhere = [(str(each.document["Name"]), scheduler_of(each)) for each in deployed if scheduler_of(each) != LOCAL]
    return Revocation(cancelled, paused, elsewhere)
