"""Finds out where the Mason is that somebody wants to use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mason.connection.connection import Connection
from mason.errors import BadInput, MissingDependency
from mason.state.tokens import tidy_token

if TYPE_CHECKING:
    from mason.connection.remote import RemoteConnection

_VARIABLE = "MASON_TOKEN"
_EXAMPLE = "An address looks like http://127.0.0.1:5000."


def open_connection(url: str, *, token: str, config: str, progress: bool | None, ca_file: str) -> Connection:
    """Return the connection; see `mason.connect`."""
    if url:
        return _remote(_check_url(url), _choose_token(token), config, progress, ca_file)
    if token or ca_file:
        raise BadInput("A token and certificates are for a server.", hint="Give its address, too.")
    from mason.connection.embedded import EmbeddedConnection

    return EmbeddedConnection(config, progress)


def _remote(url: str, token: str, config: str, progress: bool | None, ca_file: str) -> RemoteConnection:
    try:
        from mason.connection.remote import RemoteConnection
        from mason.connection.rest import RestApi
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise MissingDependency(
            "A connection to a server needs the package httpx.", hint="Run: pip install 'mason-data[client]'"
        ) from error
    return RemoteConnection(RestApi(url, token, ca_file), config, progress)


def _choose_token(token: str) -> str:
    """Return the token to send: the one given, or else that of the environment."""
    return tidy_token(token, "token") or tidy_token(os.environ.get(_VARIABLE, ""), _VARIABLE)


def _check_url(url: str) -> str:
    """Return the address of the server itself; who has copied that of the API means the same."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise BadInput(f'"{url}" is not an address of a server.', hint=_EXAMPLE)
    if parts.username or parts.password:
        raise BadInput("The address has a user or a password in it.", hint="Give the token as token=….")
    if parts.query or parts.fragment:
        raise BadInput(f'"{url}" is not an address of a server.', hint=_EXAMPLE)
    return url.rstrip("/").removesuffix("/api")
