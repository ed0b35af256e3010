"""What makes the same query over the same rows answer otherwise the next time."""

from __future__ import annotations

from sqlglot import exp

from mason.pipeline.sql.statement import Statement

_OF_THE_TIME = {"curdate", "current_date", "current_time", "current_timestamp", "localtimestamp", "now"}
_WITHOUT_PARENTHESES = {"current_time", "localtimestamp"}  # these look like columns
_OF_CHANCE = {"rand", "randn", "random", "randstr", "shuffle", "uniform", "uuid"}


def find_changing_part(statement: Statement) -> str:
    """Return on what a query depends besides the rows that it reads: "the time", "chance", or nothing."""
    columns = {each.name.casefold() for each in statement.tree.find_all(exp.Column)}
    calls = {each.name.casefold() for each in statement.tree.find_all(exp.Anonymous)}
    names = calls | (columns & _WITHOUT_PARENTHESES)
    if statement.tree.find(exp.CurrentDate) or names & _OF_THE_TIME or _asks_for_now(statement):
        return "the time"
    return "chance" if statement.tree.find(exp.TableSample) or calls & _OF_CHANCE else ""


def _asks_for_now(statement: Statement) -> bool:
    """Whether a function gives the moment when it is called without arguments."""
    calls = statement.tree.find_all(exp.Anonymous)
    return any(each.name.casefold() in _NOW_WITHOUT_ARGUMENTS and not each.expressions for each in calls)


_NOW_WITHOUT_ARGUMENTS = {"unix_timestamp", "to_unix_timestamp"}
