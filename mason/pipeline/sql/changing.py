"""What makes the same query over the same rows answer otherwise the next time."""

from __future__ import annotations

from sqlglot import exp

from mason.pipeline.sql.statement import Statement

_OF_THE_TIME = (
    exp.CurrentDate,
    exp.CurrentDatetime,
    exp.CurrentTime,
    exp.CurrentTimestamp,
    exp.Localtime,
    exp.Localtimestamp,
)
_OF_CHANCE = (exp.Rand, exp.Randn, exp.Shuffle, exp.TableSample, exp.Uuid)
_NAMES_OF_THE_TIME = {"now"}  # these have no class of their own
_NAMES_OF_CHANCE = {"randstr", "uniform"}


def changing_in(statement: Statement) -> str:
    """Return on what a query depends besides the rows that it reads: "the time", "chance", or nothing."""
    calls = {each.name.casefold() for each in statement.tree.find_all(exp.Anonymous)}
    if statement.tree.find(*_OF_THE_TIME) or calls & _NAMES_OF_THE_TIME:
        return "the time"
    return "chance" if statement.tree.find(*_OF_CHANCE) or calls & _NAMES_OF_CHANCE else ""
