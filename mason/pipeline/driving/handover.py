"""Work that an engine goes on with when the process that asked for it is gone, and the threads that drive jobs here."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import uuid4

from mason.errors import MasonError

_NOTHING: Mapping[str, str] = MappingProxyType({})
JOB = "job"
"""A job that an execution engine runs by itself."""

RUN = "run"
"""A workflow that a scheduler runs by itself."""


def _forget(engine_id: str, notes: Mapping[str, str]) -> None:
    """Where nobody would come after this process, nothing need be kept."""


def _forget_log(lines: Sequence[str]) -> None:
    """Where nobody follows the call."""


@dataclass(kw_only=True)
class Handover:
    """What a call may hand over, and what an earlier process has handed over for it already."""

    kind: str = ""
    """What it may be; a step of a workflow that runs a job hands over nothing of the workflow's call."""
    earlier: str = ""
    """The id that the engine gave what an earlier process handed over."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What that process needed to know to finish it."""
    keep: Callable[[str, Mapping[str, str]], None] = _forget
    token: str = ""
    """What an earlier process was about to ask the engine with, if it got so far and no further."""
    announce: Callable[[str, Mapping[str, str]], None] = _forget
    keep_log: Callable[[Sequence[str]], None] = _forget_log
    """Keeps what the call has said so far, for whoever follows it, and for when its process is gone."""
    is_cancelled: bool = False
    """Whether somebody asked for the end of it meanwhile: it is not followed, and its engine is asked to stop it."""
    is_taken: bool = False
    """Whether what was handed over is followed again: what comes next is new."""
    is_forgotten: bool = False
    """Whether the engine knows nothing any more of what an earlier process handed over."""


_CURRENT: ContextVar[Handover | None] = ContextVar("mason_handover", default=None)


def begin_handover(handover: Handover) -> None:
    """Say what the call that this thread works on may hand over."""
    _CURRENT.set(handover)


def hand_over(kind: str, start: Callable[[], str], notes: Mapping[str, str] = _NOTHING) -> str:
    """Hand work to an engine and return the engine's id for it; what an earlier process handed over is not again.

    Args:
        notes: what whoever comes after needs to know to finish it; `earlier_notes` gives it back.
    """
    handover = _current(kind)
    if handover is None:
        return start()
    if was_handed_over(kind):
        handover.is_taken = True
        return handover.earlier
    engine_id = start()
    handover.keep(engine_id, notes)
    return engine_id


def hand_over_once(kind: str, start: Callable[[str], str], notes: Mapping[str, str] = _NOTHING) -> str:
    """Hand work to an engine that makes one job of all requests with the same token; see `hand_over`.

    The token is written down before the engine is asked. So whoever comes after a process that was gone in between asks
    with the same one, and gets the job that there is, or the only one.
    """
    handover = _current(kind)
    if handover is None or was_handed_over(kind):
        return hand_over(kind, lambda: start(""), notes)
    token = handover.token or uuid4().hex
    if not handover.token:
        handover.announce(token, notes)
    handover.token = ""  # what comes next is new
    return hand_over(kind, lambda: start(token), notes)


def was_handed_over(kind: str) -> bool:
    """Say whether an earlier process has handed over what this call is about to."""
    handover = _current(kind)
    return handover is not None and bool(handover.earlier) and not handover.is_taken


def earlier_notes(kind: str) -> Mapping[str, str]:
    """Return what an earlier process noted of what it handed over for this call; nothing if it is to begin."""
    handover = _current(kind)
    return handover.notes if handover is not None and (was_handed_over(kind) or handover.token) else _NOTHING


def note_forgotten(kind: str) -> None:
    """Say that the engine knows nothing of what was handed over: of an earlier process's, nobody can tell the end."""
    handover = _current(kind)
    if handover is not None and handover.is_taken:
        handover.is_forgotten = True


def _current(kind: str) -> Handover | None:
    handover = _CURRENT.get()
    return handover if handover is not None and handover.kind == kind else None


_LOG = logging.getLogger("mason.pipeline")


def start_driver(job_id: str, drive: Callable[..., object], *arguments: object) -> threading.Thread:
    """Run a driver in a thread, in the context of this one. What becomes of the job stands in its record.

    The thread is no daemon: a process whose work is done stays until the jobs that it has accepted are over.
    """
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(_drive, drive, arguments), name=f"mason-job-{job_id}")
    thread.start()
    return thread


def _drive(drive: Callable[..., object], arguments: tuple[object, ...]) -> None:
    try:
        drive(*arguments)
    except MasonError:
        return  # the record says so
    except Exception:  # noqa: BLE001 (a thread has no caller to raise it in)
        _LOG.exception("A job failed in a way that it should not.")
