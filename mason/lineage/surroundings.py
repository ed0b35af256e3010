"""What a job belongs to: the operator that asked for it, its configuration, and the step of a workflow, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Surroundings:
    """Names, as far as they are known."""

    operator: str = ""
    configuration: str = ""
    workflow: str = ""
    run_id: str = ""
    step: str = ""
    is_told: bool = False
    """Whether a job is being told already: one that an engine runs on behalf of another is the same job."""


_UNKNOWN = Surroundings()
_CURRENT: ContextVar[Surroundings] = ContextVar("mason_surroundings", default=_UNKNOWN)


def surroundings() -> Surroundings:
    return _CURRENT.get()


@contextmanager
def within_operator(name: str, config_id: str) -> Iterator[None]:
    """Say that what this thread does meanwhile is done by an operator, with a configuration."""
    with _changed(replace(surroundings(), operator=name, configuration=config_id)):
        yield


@contextmanager
def within_step(workflow: str, run_id: str, step: str) -> Iterator[None]:
    """Say that what this thread does meanwhile is a step of a run."""
    with _changed(replace(surroundings(), workflow=workflow, run_id=run_id, step=step)):
        yield


@contextmanager
def within_job() -> Iterator[None]:
    """Say that a job is being told."""
    with _changed(replace(surroundings(), is_told=True)):
        yield


@contextmanager
def _changed(new: Surroundings) -> Iterator[None]:
    token = _CURRENT.set(new)
    try:
        yield
    finally:
        _CURRENT.reset(token)
