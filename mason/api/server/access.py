"""Who may call: tokens, and the names and pages that a request may come by and from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from mason.api.server.settings import ServerSettings, is_loopback
from mason.errors import Forbidden, Unauthorized
from mason.service.caller import ANYBODY, Caller
from mason.state.tokens import TOKEN_VARIABLE, Scope, Token, find_token, tidy_token, token_digest

_HOW = "Send the header `Authorization: Bearer TOKEN`; `mason token create` makes one."


def token_of_environment(variables: Mapping[str, str] = os.environ) -> Token | None:
    """Return the token that the environment gives, which is for everything; it is kept nowhere.

    Raises:
        BadInput: nobody could send it.
    """
    text = tidy_token(variables.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE)
    return Token(TOKEN_VARIABLE, Scope.ADMIN, "", digest=token_digest(text)) if text else None


class Access:
    """Decides whether a request is looked at, and for whom it is."""

    def __init__(self, settings: ServerSettings, given: Token | None) -> None:
        self._settings = settings
        self._given = given

    def check_source(self, headers: Mapping[str, str], *, is_open: bool) -> None:
        """Refuse what a web page that a user of this machine visits could send.

        A page of another site cannot choose the `Host` (it would have to be a name that its owner lets point here),
        and browsers say in `Origin` and `Sec-Fetch-Site` where a request comes from.

        Raises:
            Forbidden: it may come from such a page.
        """
        host = headers.get("host", "")
        name = _host_name(host)
        if self._settings.is_loopback and not (is_loopback(name) or name in self._settings.hosts):
            raise Forbidden(f'This server is not called "{name}".', hint="`mason run --allow-host NAME` allows a name.")
        if self._settings.hosts and not (is_loopback(name) or name in self._settings.hosts):
            raise Forbidden(f'This server is not called "{name}".')
        origin = headers.get("origin")
        if origin is not None and _place(origin) != host.lower():
            raise Forbidden("Requests from pages of other sites are not answered.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_open:
            raise Forbidden("Requests from pages of other sites are not answered.")

    def find_caller(self, headers: Mapping[str, str], tokens: Sequence[Token]) -> Caller:
        """Return who asks.

        Raises:
            Unauthorized: it takes a token, and there is none, or one that is not valid.
        """
        known = [*tokens, *([self._given] if self._given else ())]
        kind, _, text = headers.get("authorization", "").partition(" ")
        if not text:
            if not known and self._settings.is_loopback and not self._settings.require_token:
                return ANYBODY
            raise Unauthorized("This call needs a token.", hint=_HOW)
        token = find_token(known, text.strip()) if kind.lower() == "bearer" else None
        if token is None:
            raise Unauthorized("The token is not known here.", hint=_HOW)
        if token.state != "active":
            raise Unauthorized(f'The token "{token.name}" is {token.state}.', hint=_HOW)
        return Caller(token)


def _place(origin: str) -> str:
    """Return the host and the port in an `Origin` header."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _host_name(host: str) -> str:
    """Return the name in a `Host` header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
