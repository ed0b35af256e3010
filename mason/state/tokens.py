"""Tokens: who may call the API, for how long, and what. Only the digest of a token is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from mason.errors import AlreadyExists, BadInput, Conflict, NotFound
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.names import did_you_mean

PREFIX = "mason_"
TOKEN_VARIABLE = "MASON_TOKEN"
"""The variable that gives a server a token for everything. Its name is that token's, and no other's."""

_ACTIVE, _REVOKED = "active", "revoked"
_MANY = 10_000
_MAKE_ONE = "Use letters, digits and signs of ASCII, or one that `mason token create` makes."


class Scope(StrEnum):
    """What a token is for; each scope includes those before it."""

    READ = "read"
    RUN = "run"
    ADMIN = "admin"

    def includes(self, other: Scope) -> bool:
        scopes = list(Scope)
        return scopes.index(self) >= scopes.index(other)


class Token(NamedTuple):
    """A token as it is listed. Without patterns it may use every operator, or every configuration."""

    name: str
    scope: Scope
    created_at: str
    expires_at: str = ""
    operators: Sequence[str] = ()
    configurations: Sequence[str] = ()
    revoked: bool = False
    digest: str = ""

    @property
    def state(self) -> str:
        if self.revoked:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= _now() else "active"

    @property
    def is_limited(self) -> bool:
        """Say whether it is for some operators or some configurations only."""
        return bool(self.operators or self.configurations)

    def may_use_operator(self, name: str) -> bool:
        return not self.operators or any(fnmatchcase(name, pattern) for pattern in self.operators)

    def may_use_configuration(self, config_id: str) -> bool:
        return not self.configurations or config_id in self.configurations


def create_token(
    store: StateStore,
    name: str,
    scope: Scope,
    *,
    lifetime: timedelta | None = None,
    operators: Sequence[str] = (),
    configurations: Sequence[str] = (),
) -> str:
    """Make a token and return it: this is the only time that anybody can read it.

    Raises:
        AlreadyExists: there is a token of that name.
        BadInput: it is the name of the one that the environment gives: what that one began would be this one's, too.
    """
    if name == TOKEN_VARIABLE:
        raise BadInput(f"{name} is the token that a server's environment gives.", hint="Choose another name.")
    text = PREFIX + secrets.token_urlsafe(32)
    document = {
        "Digest": token_digest(text),
        "Scope": scope,
        "ExpiresAt": (datetime.now(UTC) + lifetime).isoformat(timespec="seconds") if lifetime else "",
        "Operators": list(operators),
        "Configurations": list(configurations),
    }
    try:
        store.add_record(RecordKind.TOKEN, name, _ACTIVE, document)
    except AlreadyExists as error:
        raise AlreadyExists(f'There is a token "{name}" already.', hint="Choose another name.") from error
    return text


def list_tokens(store: StateStore) -> list[Token]:
    """Return every token, sorted by name; those that are revoked or expired, too."""
    return sorted(_token(each) for each in store.list_records(RecordKind.TOKEN, limit=_MANY))


def revoke_token(store: StateStore, name: str) -> None:
    """Make a token worthless from now on.

    Raises:
        NotFound: there is no such token.
    """
    record = store.get_record(RecordKind.TOKEN, name)
    if record is None:
        known = [each.name for each in list_tokens(store)]
        raise NotFound(f'There is no token "{name}".', hint=did_you_mean(name, known))
    try:
        store.update_record(record, _REVOKED, record.document)
    except Conflict:  # somebody else revoked it just now: a token has no other way to change
        return


def is_revoked(store: StateStore, name: str) -> bool:
    """Say whether a token was revoked; what is no token that the state keeps was not."""
    found = store.get_record(RecordKind.TOKEN, name) if name else None
    return found is not None and found.status == _REVOKED


def revocation_reason(name: str) -> str:
    """Return what is said of everything that ends with a token."""
    return f'The token "{name}" was revoked.'


def find_token(tokens: Iterable[Token], text: str) -> Token | None:
    """Return the token that the text is, whatever its state.

    Every known digest is compared, each in the same time: how long it takes says nothing about any of them.
    """
    digest, found = token_digest(text), None
    for token in tokens:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def tidy_token(text: str, where: str) -> str:
    """Return a token that somebody gave as a header carries it: what comes from a file often ends with a line's end.

    Raises:
        BadInput: no header can carry it. The message does not show it.
    """
    token = text.strip()
    if not (token.isascii() and token.isprintable()):
        raise BadInput(f"{where} can be no token: it has characters that no header can carry.", hint=_MAKE_ONE)
    return token


def token_digest(text: str) -> str:
    """Return what is kept of a token. It is random and long, so that a plain digest cannot be turned back."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def _token(record: Record) -> Token:
    document = record.document
    return Token(
        name=record.id,
        scope=Scope(document["Scope"]),
        created_at=record.created_at,
        expires_at=document["ExpiresAt"],
        operators=tuple(document["Operators"]),
        configurations=tuple(document["Configurations"]),
        revoked=record.status == _REVOKED,
        digest=document["Digest"],
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
