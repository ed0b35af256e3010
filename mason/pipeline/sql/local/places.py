"""Where in its query an expression stands, as far as Spark minds."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from mason.pipeline.sql.local.aggregates import is_aggregate


def picks_rows(node: Any) -> bool:
    """Say whether a condition only picks rows: there what is unknown is a no, and Spark makes it one early."""
    above, denied = node.parent, False
    while isinstance(above, exp.Paren | exp.And | exp.Or | exp.Not):
        if denied and not isinstance(above, exp.Paren | exp.And):
            return False
        denied = denied or isinstance(above, exp.Not)
        above = above.parent
    return isinstance(above, exp.Where)


def stands_among_groups(node: Any) -> bool:
    """Say whether Spark refuses a subquery here that depends on the row: there is no such row any more."""
    above = node.parent
    while above is not None and not isinstance(above, exp.Select | exp.Order):
        if isinstance(above, exp.Anonymous) and is_aggregate(above.name):
            return False
        node, above = above, above.parent
    return isinstance(above, exp.Order) or (
        isinstance(above, exp.Select) and node.arg_key == "expressions" and above.args.get("group") is not None
    )
