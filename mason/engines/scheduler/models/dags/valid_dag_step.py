"""A step that can be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mason.engines.scheduler.models.dags.retry import NO_RETRY, Retry


@dataclass(frozen=True, slots=True)
class ValidDagStep:
    """A step whose operator, parameters and configuration were checked. A workflow's `step` returns it to have it run.

    `id` is what the step is called in its own workflow; `key` is unique in the DAG, also when workflows are nested
    (`load.step_1`).
    """

    id: str
    key: str
    operator: str
    digest: str
    config_id: str = ""
    dependencies: Sequence[str] = ()
    """The keys of the steps that come before."""
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """As they were written: what comes from an earlier step is not filled in."""
    retry: Retry = NO_RETRY
    timeout: float | None = None
    when: str = ""

    @property
    def pinned_operator(self) -> str:
        return f"{self.operator}@sha256:{self.digest}"

    def called(self, name: str) -> ValidDagStep:
        """Return the step under the name that another workflow has for it."""
        return self if name == self.id else replace(self, id=name)
