"""Which step of a workflow a commit was made for, so that an attempt at it can tell what an earlier one has added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mason.lineage.surroundings import surroundings
from mason.pipeline.tables.commit import CommitRecord

_KEY = "work"


@dataclass(frozen=True)
class StepAttempt:
    """The work of a step, and the attempt at it. A step may add to a table more than once: that is one attempt."""

    id: str
    attempt: str

    @classmethod
    def here(cls) -> StepAttempt | None:
        """Return the work that this thread does, if it does that of a step."""
        around = surroundings()
        return cls(around.work, around.attempt) if around.work else None

    def was_attempted_by(self, commit: CommitRecord) -> bool:
        """Say whether an earlier attempt made a commit; that it did was not recorded, or a later part of it failed."""
        made_for = commit.details.get(_KEY, {})
        return bool(made_for.get("Id") == self.id and made_for.get("Attempt") != self.attempt)

    def to_details(self) -> Mapping[str, Mapping[str, str]]:
        return {_KEY: {"Id": self.id, "Attempt": self.attempt}}
