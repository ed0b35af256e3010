"""The call that this thread works on, if there is one: its first job has its id, and all end when it is ended."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass


@dataclass
class CurrentCall:
    """A call while it runs."""

    id: str
    is_repeated: bool = False
    """Whether it is run again, since the process that ran it is gone."""
    jobs: int = 0

    def next_job_id(self) -> str:
        """Return the id for the next job of this call, or nothing when that is to have one of its own."""
        self.jobs += 1
        return first_job_id(self.id, is_repeated=self.is_repeated) if self.jobs == 1 else ""


def first_job_id(call_id: str, *, is_repeated: bool) -> str:
    """Return the id of the first job of a call: its own, unless a job that is lost has that already."""
    return f"{call_id}-again" if is_repeated else call_id


_CURRENT: ContextVar[CurrentCall | None] = ContextVar("mason_current_call", default=None)


def begin_call(call_id: str, *, is_repeated: bool = False) -> Token[CurrentCall | None]:
    """Say that what this thread does from now on belongs to a call; give what is returned to `end_call`."""
    return _CURRENT.set(CurrentCall(call_id, is_repeated))


def end_call(token: Token[CurrentCall | None]) -> None:
    _CURRENT.reset(token)


def current_call() -> CurrentCall | None:
    return _CURRENT.get()
