"""What the local engine says where it would answer otherwise than Spark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mason.pipeline.sql.query import CANNOT_GUARANTEE, BadQuery
from mason.util.names import did_you_mean


class Refusal(BadQuery):
    """Raised when the local engine cannot guarantee Spark's result for a statement. 422 · exit 1"""

    start: int | None = None
    """Where in the statement that stands which is refused, once it is known."""

    def stands_at(self, node: Any) -> Refusal:
        """Say where it stands: the first to say so was nearest to it."""
        if self.start is None:
            self.start = min((each.meta["start"] for each in node.walk() if "start" in each.meta), default=None)
        return self


def not_there(node: Any, what: str, known: Iterable[str]) -> Refusal:
    """Return the error for a name that nothing has here, which stands at a node."""
    names = list(dict.fromkeys(known))
    hint = did_you_mean(node.name, names) or (f"There are: {', '.join(names[:_SHOWN])}." if names else "")
    return Refusal(f'There is no {what} "{node.name}".', hint=hint).stands_at(node)


_SHOWN = 30
_HINT = "Use execution_engine: spark."


def unlike_spark(what: str, why: str = "") -> Refusal:
    """Return the error for a part of a query that would have another answer here."""
    return Refusal(f"{CANNOT_GUARANTEE} for {what}{why}.", hint=_HINT)


def wrong(what: str) -> Refusal:
    """Return the error for what is one in Spark, too."""
    return Refusal(f"{what}.")


def does_not_fit(what: str) -> Refusal:
    """Return the error for values that an operation does not take, here as in Spark."""
    return Refusal(f"{what}.", hint="Cast one of them to the type that is meant.")
