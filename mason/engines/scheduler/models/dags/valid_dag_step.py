"""A step that can be run, and how often and after how long it is tried again when it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

LONGEST_WAIT = 3600.0
USUAL_RETRIES = 3
RETRY_RULE = 'must be "exponential(SECONDS)" or "constant(SECONDS)", as in "exponential(5)"'

_WRITTEN = re.compile(r"\s*(exponential|constant)\s*\(\s*([0-9]+(?:\.[0-9]+)?)\s*\)\s*")


@dataclass(frozen=True, slots=True)
class Retry:
    """Up to `most` further attempts; `exponential(5)` waits 5, 10, 20 … seconds before them, `constant(5)` always 5."""

    most: int = 0
    seconds: float = 0.0
    doubles: bool = False

    @classmethod
    def of(cls, written: str, most: int | None) -> Retry:
        """Read a policy as `workflow.yaml` has it.

        Raises:
            ValueError: it is none.
        """
        if not written:
            return cls(most or 0, 1.0, True)
        found = _WRITTEN.fullmatch(written)
        if found is None:
            raise ValueError(f'"{written}" {RETRY_RULE}')
        return cls(USUAL_RETRIES if most is None else most, float(found[2]), found[1] == "exponential")

    def wait(self, failures: int) -> float:
        """Return the seconds to wait after so many failures, of which there is at least one."""
        doublings = min(failures - 1, 32) if self.doubles else 0
        return min(self.seconds * float(1 << doublings), LONGEST_WAIT)

    def __str__(self) -> str:
        name = "exponential" if self.doubles else "constant"
        return f"{name}({self.seconds:g}), at most {self.most}" if self.most else "none"


NO_RETRY = Retry()


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def with_name(self, name: str) -> ValidDagStep:
        """Return the step under the name that another workflow has for it."""
        return self if name == self.id else replace(self, id=name)
