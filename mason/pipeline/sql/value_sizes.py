"""How large values are that the constants of a statement make: `repeat('a', 2000000000)` is one of two gigabytes.

An engine makes such a value before anybody can stop it, so it is refused in the tree. Each part of the statement gets a
`Size` from those of its parts: the most bytes that it may have, the most elements, and between which numbers it lies,
as far as constants say so. Of a column nothing is known but that a value may have one byte; what WITH and subqueries
make is followed under its name. A statement that says its counts in columns alone passes: what its values are, only the
data know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from mason.pipeline.sql.prepared_counts import Prepared, count_prepared
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

_DEEPEST = 100
"""How often Spark lets a recursive WITH see itself."""
_MOST_VISITS = 200_000
"""How many parts are looked at once more, where a function or WITH does something again and again."""
_LARGEST_INT = 2**31 - 1
_COUNTS = {"repeat": 1, "array_repeat": 1, "lpad": 1, "rpad": 1, "pad": 1, "space": 0, "randstr": 0, "array_insert": 1}
"""Functions that make a value as large as a number says, and the place of that number."""


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
        self._visits = _MOST_VISITS + 3 * sum(1 for _ in statement.tree.walk())

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
            name, alias = each.alias.casefold(), each.args.get("alias")
            found = _rename_columns(self.of_query(each.this, named, outer), alias)
            if with_.args.get("recursive") and _reads(each.this, name):
                found = self._of_recursion(each.this, name, alias, {**named, name: found}, outer)
            named = {**named, name: found}
        return named

    def _of_recursion(self, query: Any, name: str, alias: Any, named: Mapping[str, Columns], outer: Columns) -> Columns:
        """Return the columns of a query that sees itself, as often as Spark lets it, or until they grow no more."""
        found = named[name]
        for _ in range(_DEEPEST):
            grown = _rename_columns(self.of_query(query, {**named, name: found}, outer), alias)
            if grown == found:
                break
            found = grown
        return found

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
            name = each.alias_or_name.casefold()
            # By its place where it has no name, or that of another: WITH may name it by that.
            columns[name if name and name not in columns else f"{name} {len(columns)}"] = size
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
        return {each.name.casefold(): replace(made, text=None) for each in names}

    def _of_expression(self, expression: Any, named: Mapping[str, Columns], known: Columns) -> Size:
        """Return the size of an expression, its parts before itself: no tree is too deep for that."""
        if isinstance(expression, exp.Query):
            return next(iter(self.of_query(expression, named, known).values()), UNKNOWN)
        found: dict[int, Size] = {}
        nodes = list(expression.walk(bfs=True, prune=lambda node: isinstance(node, exp.Query | exp.Lambda)))
        self._visits -= len(nodes)
        if self._visits < 0:
            raise too_deep()
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
        prepared = count_prepared(node, sizes)
        if prepared and prepared.count > prepared.most:
            raise self._too_many(node, prepared)
        return rule_of(node)(_with_count(node, parts, sizes)) if sizes else UNKNOWN

    def _too_many(self, node: Any, prepared: Prepared) -> BadQuery:
        word = "group" if isinstance(node, exp.Group) else name_in_statement(node)
        start = max(self._statement.text.casefold().find(word), 0)
        asking = "GROUP BY" if isinstance(node, exp.Group) else f"{word}(…)"
        count = f"{prepared.count:,.0f}" if prepared.count < 1e18 else "very many"
        return self._statement.problem(
            start, f"{asking} asks for {count} {prepared.parts}, and {prepared.most:,} are the most."
        )

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


def _with_count(node: Any, parts: Sequence[Any], sizes: Sequence[Size]) -> Sequence[Size]:
    """The sizes of arguments, of which one may say how large the value becomes.

    Such a number that is the same for every row, and that no rule here computes, may be any.
    """
    place = _COUNTS.get(function_name(node))
    if place is None or place >= len(parts) or sizes[place].high is not None or not _is_constant(parts[place]):
        return sizes
    return [*sizes[:place], Size(bytes=NUMBER, low=0, high=_LARGEST_INT), *sizes[place + 1 :]]


def _is_constant(node: Any) -> bool:
    of_rows = (exp.Column, exp.Identifier, exp.Placeholder, exp.Query, exp.Null, exp.AggFunc, exp.Window)
    calls = {each.name.casefold() for each in node.find_all(exp.Anonymous)}
    return node.find(*of_rows) is None and not calls & _OF_MANY_ROWS


_OF_MANY_ROWS = {"count", "row_number", "rank", "dense_rank", "rand", "random", "ntile", "monotonically_increasing_id"}
"""Functions that say a number of rows though no column is named."""


def _reads(query: Any, name: str) -> bool:
    return any(each.name.casefold() == name and not each.db for each in query.find_all(exp.Table))


def _rename_columns(columns: Columns, alias: Any) -> Columns:
    names = [each.name.casefold() for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return dict(zip(names, columns.values(), strict=False)) if names else columns
