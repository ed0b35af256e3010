"""The request that is being answered, for whoever needs to know who asks and under which number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from mason.errors import Forbidden
from mason.state.tokens import Scope, Token
from mason.util.ids import new_id

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class Caller:
    """Who asks: the holder of a token, or anybody on this machine while there is no token."""

    token: Token | None = None

    @property
    def name(self) -> str:
        return self.token.name if self.token else ""

    @property
    def is_limited(self) -> bool:
        """Say whether the token is for some operators or some configurations only."""
        return bool(self.token and self.token.is_limited)

    def refusal(self, tokens: Sequence[Token]) -> str:
        """Return why the caller may not go on with what it was let in for, by the tokens known now; else ""."""
        if self.token is None:
            return "This call needs a token now." if tokens else ""
        # The one that the environment gives is not among those that are known.
        known = next((each for each in tokens if each.digest == self.token.digest), self.token)
        return "" if known.state == "active" else f'The token "{self.name}" is {known.state}.'

    def require(self, scope: Scope) -> None:
        """Check that the caller may do what a scope is for.

        Raises:
            Forbidden: the token is for less.
        """
        if self.token and not self.token.scope.includes(scope):
            raise Forbidden(
                f'The token "{self.name}" is for {self.token.scope}; this takes {scope}.',
                hint=f"Make one with `mason token create --name NAME --scope {scope}`.",
            )

    def may_use_operator(self, name: str) -> bool:
        return self.token is None or self.token.may_use_operator(name)

    def require_operator(self, name: str) -> None:
        if self.token and not self.may_use_operator(name):
            raise Forbidden(f'The token "{self.name}" is not for {name}.')

    def may_use_configuration(self, config_id: str) -> bool:
        return self.token is None or self.token.may_use_configuration(config_id)

    def require_configuration(self, config_id: str) -> None:
        if not self.may_use_configuration(config_id):
            what = f'the configuration "{config_id}"' if config_id else "what says no configuration"
            raise Forbidden(f'The token "{self.name}" is not for {what}.')


@dataclass
class RequestInfo:
    """A request: its id is in the reply, in the log, and in the record of the job that it became."""

    id: str
    caller: Caller = Caller()
    route: str = ""
    is_open: bool = False
    """Whether nobody looked who asks: then pages may answer, and no operation."""
    redact: Callable[[str], str] = str
    """Takes the secrets that the request gives, and those of its configuration, out of a text."""


REQUEST: ContextVar[RequestInfo | None] = ContextVar("mason_request", default=None)


def current_request() -> RequestInfo:
    """Return the request that is being answered."""
    found = REQUEST.get()
    assert found is not None
    return found


def request_id(asked_for: str) -> str:
    """Return the id that a client gave its request, if it can be one, or a new one."""
    return asked_for if _REQUEST_ID.fullmatch(asked_for) else new_id()
