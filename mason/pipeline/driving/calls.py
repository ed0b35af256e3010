"""The call that this thread works on, if there is one: its first job has its id, and all end when it is ended."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass


@dataclass
class CurrentCall:
    """A call while it runs."""

    id: str
    jobs: int = 0

    def next_job_id(self) -> str:
        """Return the id for the next job of this call, or nothing when that is to have one of its own."""
        self.jobs += 1
        return self.id if self.jobs == 1 else ""


_CURRENT: ContextVar[CurrentCall | None] = ContextVar("mason_current_call", default=None)


def begin_call(call_id: str) -> Token[CurrentCall | None]:
    """Say that what this thread does from now on belongs to a call; give what is returned to `end_call`."""
    return _CURRENT.set(CurrentCall(call_id))


def end_call(token: Token[CurrentCall | None]) -> None:
    _CURRENT.reset(token)


def current_call() -> CurrentCall | None:
    return _CURRENT.get()
