"""How large values are that the constants of a statement make: `repeat('a', 2000000000)` is one of two gigabytes.

An engine makes such a value before anybody can stop it, so it is refused in the tree. Each part of the statement gets a
`Size` from those of its parts: the most bytes that it may have, the most elements, and between which numbers it lies,
as far as constants say so. Of a column nothing is known but that a value may have one byte; what WITH and subqueries
make is followed under its name. A statement that says its counts in columns alone passes: what its values are, only the
data know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from mason.pipeline.sql.query import BadQuery
from mason.pipeline.sql.statement import Statement, too_deep
from mason.pipeline.sql.value_rules import (
    LAMBDAS,
    NUMBER,
    UNKNOWN,
    Columns,
    Size,
    arguments_of,
    constant_size,
    either_size,
    function_name,
    name_in_statement,
    parameter_size,
    rule_of,
)

# Where nothing limits a query, this does: both engines fail beyond it one way or another (Arrow's columns and Java's
# arrays end at two gigabytes), the local one by taking the memory of the machine first.
LARGEST_VALUE = 2**30


def check_value_sizes(statement: Statement, limit: int | None, parameters: Mapping[str, Any] | None = None) -> None:
    """Check that no value is made larger than a limit by constants; None is `LARGEST_VALUE`.

    Raises:
        BadQuery: one is; the message says by which function, and where it stands.
    """
    try:
        _Sizes(statement, LARGEST_VALUE if limit is None else limit, parameters or {}).of_query(statement.tree, {}, {})
    except RecursionError as error:
        raise too_deep() from error


class _Sizes:
    """Follows the queries of a statement from the inside out."""

    def __init__(self, statement: Statement, limit: int, parameters: Mapping[str, Any]) -> None:
        self._statement = statement
        self._limit = limit
        self._parameters = parameters

    def of_query(self, query: Any, named: Mapping[str, Columns], outer: Columns) -> Columns:
        """Return the columns of a query. `named` are those of WITH, `outer` what a subquery sees around it."""
        while isinstance(query, exp.Subquery | exp.Paren):
            named = self._with_named(query, named, outer)
            query = query.this
        named = self._with_named(query, named, outer)
        if isinstance(query, exp.SetOperation):
            return self._unite_columns(query, named, outer)
        if isinstance(query, exp.Values):
            return self._of_values(query, named, outer)
        return self._of_select(query, named, outer) if isinstance(query, exp.Select) else {}

    def _with_named(self, query: Any, named: Mapping[str, Columns], outer: Columns) -> Mapping[str, Columns]:
        with_ = query.args.get("with_") or query.args.get("with")
        for each in with_.expressions if with_ is not None else ():
            found = self.of_query(each.this, named, outer)
            named = {**named, each.alias.casefold(): _rename_columns(found, each.args.get("alias"))}
        return named

    def _unite_columns(self, union: Any, named: Mapping[str, Columns], outer: Columns) -> Columns:
        parts = []
        while isinstance(union, exp.SetOperation):  # of thousands, each stands inside the next
            named = self._with_named(union, named, outer)
            parts.append(union.expression)
            union = union.this
        first, *others = [self.of_query(each, named, outer) for each in (union, *reversed(parts))]
        united = dict(first)
        for other in others:
            for name, size in zip(first, other.values(), strict=False):
                united[name] = either_size([united[name], size])
        return united

    def _of_values(self, values: Any, named: Mapping[str, Columns], outer: Columns) -> Columns:
        found: dict[str, Size] = {}
        for row in values.expressions:
            for number, each in enumerate(row.expressions if isinstance(row, exp.Tuple) else [row], 1):
                size = self._of_expression(each, named, outer)
                found[f"col{number}"] = either_size([found.get(f"col{number}", size), size])
        return _rename_columns(found, values.args.get("alias"))

    def _of_select(self, select: Any, named: Mapping[str, Columns], outer: Columns) -> Columns:
        known = dict(outer)
        from_ = select.args.get("from_") or select.args.get("from")
        joins, laterals = select.args.get("joins") or [], select.args.get("laterals") or []
        for source in [*([from_.this] if from_ else []), *(join.this for join in joins), *laterals]:
            for name, size in self._of_source(source, named, known).items():
                known[name] = either_size([known[name], size]) if name in known else size
        sources, columns = dict(known), {}
        for each in select.expressions:
            size = self._of_expression(each, named, known)
            if each.is_star:
                columns.update(sources)
            columns[each.alias_or_name.casefold()] = size
            if isinstance(each, exp.Alias):  # what comes later in the list may use it
                known[each.alias.casefold()] = size
        done = ("expressions", "from", "from_", "laterals", "with", "with_", "joins")
        rest = [value for key, value in select.args.items() if key not in done]
        rest += [value for join in joins for key, value in join.args.items() if key != "this"]
        for part in rest:
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, exp.Expression):
                    self._of_expression(each, named, known)
        return columns

    def _of_source(self, source: Any, named: Mapping[str, Columns], known: Columns) -> Columns:
        alias = source.args.get("alias")
        if isinstance(source, exp.Subquery | exp.Values):
            return _rename_columns(self.of_query(source, named, known), alias)
        if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
            found = named.get(source.name.casefold(), {}) if not source.db else {}
            for join in source.args.get("joins") or ():
                found = {**found, **self._of_source(join.this, named, known)}
            return _rename_columns(found, alias)
        made = self._of_expression(source, named, known)  # rows that a function makes of its elements
        names = alias.columns if isinstance(alias, exp.TableAlias) else ()
        return {each.name.casefold(): replace(made, low=None, high=None, text=None) for each in names}

    def _of_expression(self, expression: Any, named: Mapping[str, Columns], known: Columns) -> Size:
        """Return the size of an expression, its parts before itself: no tree is too deep for that."""
        if isinstance(expression, exp.Query):
            return next(iter(self.of_query(expression, named, known).values()), UNKNOWN)
        found: dict[int, Size] = {}
        nodes = list(expression.walk(bfs=True, prune=lambda node: isinstance(node, exp.Query | exp.Lambda)))
        for node in reversed(nodes):
            if isinstance(node, exp.Query):
                size = self._of_expression(node, named, known)
            elif isinstance(node, exp.Lambda):
                continue  # it is applied by the function whose argument it is
            else:
                size = self._of_node(node, found, named, known)
            if size.bytes > self._limit:
                raise self._too_large(node, size)
            found[id(node)] = size
        return found[id(expression)]

    def _of_node(self, node: Any, found: Mapping[int, Size], named: Mapping[str, Columns], known: Columns) -> Size:
        if isinstance(node, exp.Literal):
            return constant_size(node.this if node.is_string else node.this.rstrip("LSYDF"))
        if isinstance(node, exp.Column | exp.Identifier):
            return known.get(node.name.casefold(), UNKNOWN)
        if isinstance(node, exp.Placeholder):
            return parameter_size(self._parameters.get(str(node.this)))
        parts = arguments_of(node)
        sizes = [found.get(id(each), UNKNOWN) for each in parts]
        applied = LAMBDAS.get(function_name(node))
        bodies = [each for each in parts if isinstance(each, exp.Lambda)]
        if applied and bodies:
            body = bodies[0]

            def apply(*given: Size) -> Size:
                names = [each.name.casefold() for each in body.expressions]
                inside = dict(zip(names, given, strict=False))
                return self._of_expression(body.this, named, {**known, **inside})

            return applied(sizes, apply, self._limit)
        for body in bodies:
            self._of_expression(body.this, named, known)
        if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
            return Size(bytes=NUMBER)
        return rule_of(node)(sizes) if sizes else UNKNOWN

    def _too_large(self, node: Any, size: Size) -> BadQuery:
        word = name_in_statement(node)
        start = max(self._statement.text.casefold().find(word), 0)
        subject = "|| " if word == "||" else f"{word}(…) "
        most = f"{size.bytes:,.0f} bytes" if size.bytes < 1e18 else "very many bytes"
        raised = ", or have result_bytes of the server raised" if self._limit < LARGEST_VALUE else ""
        return self._statement.problem(
            start,
            f"{subject}can make a value of {most}, and here a value has at most {self._limit:,}.",
            f"Make it smaller{raised}.",
        )


def _rename_columns(columns: Columns, alias: Any) -> Columns:
    names = [each.name.casefold() for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return dict(zip(names, columns.values(), strict=False)) if names else columns
