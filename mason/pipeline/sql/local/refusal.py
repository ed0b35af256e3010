"""What the local engine says where it would answer otherwise than Spark."""

from __future__ import annotations

from mason.pipeline.sql.query import BadQuery

_HINT = "Where Spark knows it, ask Spark: execution_engine: spark."


def unlike_spark(what: str, why: str = "") -> BadQuery:
    """Return the error for a part of a query that would have another answer here."""
    return BadQuery(f"The local engine has no {what} with the answers of Spark{why}.", hint=_HINT)


def does_not_fit(what: str) -> BadQuery:
    """Return the error for values that an operation does not take, here as in Spark."""
    return BadQuery(f"{what}.", hint="Cast one of them to the type that is meant.")
