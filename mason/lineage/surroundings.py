"""What a job belongs to: the operator that asked for it, its configuration, and the step of a workflow, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from uuid import uuid4


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Names, as far as they are known."""

    operator: str = ""
    configuration: str = ""
    workflow: str = ""
    run_id: str = ""
    step: str = ""
    work: str = ""
    """What the step is to do: the same for all of its attempts, and for those of a run that takes its run up."""
    attempt: str = ""
    is_reported: bool = False
    """Whether a job is being told already: one that an engine runs on behalf of another is the same job."""


_UNKNOWN = Surroundings()
_CURRENT: ContextVar[Surroundings] = ContextVar("mason_surroundings", default=_UNKNOWN)


def surroundings() -> Surroundings:
    return _CURRENT.get()


@contextmanager
def within_operator(name: str, config_id: str) -> Iterator[None]:
    """Say that what this thread does meanwhile is done by an operator, with a configuration."""
    with _change_surroundings(replace(surroundings(), operator=name, configuration=config_id)):
        yield


@contextmanager
def within_step(workflow: str, run_id: str, step: str, work: str) -> Iterator[None]:
    """Say that what this thread does meanwhile is an attempt at a step of a run."""
    around = replace(surroundings(), workflow=workflow, run_id=run_id, step=step)
    with _change_surroundings(replace(around, work=work, attempt=uuid4().hex)):
        yield


@contextmanager
def within_job() -> Iterator[None]:
    """Say that a job is being told."""
    with _change_surroundings(replace(surroundings(), is_reported=True)):
        yield


@contextmanager
def within(known: Surroundings) -> Iterator[None]:
    """Say what another process knows of what this one does for it."""
    with _change_surroundings(known):
        yield


@contextmanager
def _change_surroundings(new: Surroundings) -> Iterator[None]:
    token = _CURRENT.set(new)
    try:
        yield
    finally:
        _CURRENT.reset(token)
