"""The doors to one home: a command in a pipe, a request, and `mason.connect()` here and at a server."""

from __future__ import annotations

from tests.connection.conftest import home, server

__all__ = ["home", "server"]
