"""The request that is being answered, for whoever needs to know who asks and under which number."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from mason.service.caller import ANYBODY, Caller
from mason.util.names import new_id

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(kw_only=True)
class RequestInfo:
    """A request: its id is in the reply, in the log, and in the record of the job that it became."""

    id: str
    caller: Caller = ANYBODY
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
