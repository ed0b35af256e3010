"""What came of a call, and what was logged meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mason.api.operator_api import Answer


@dataclass(frozen=True)
class Outcome:
    """The answer to a call, and the lines of its log."""

    answer: Answer
    log: Sequence[str] = ()
