"""Whole queries of Spark SQL, made into queries of DuckDB from the inside out, each with the types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.aggregates import window_of
from mason.pipeline.sql.local.expressions import Expressions
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.scope import Columns, Scope
from mason.pipeline.sql.local.sources import lateral_join, range_rows
from mason.pipeline.sql.local.values import Typed, converted, told

_SELECT_PARTS = {
    *("with_", "hint", "expressions", "distinct", "from_", "joins", "laterals", "where", "group", "having", "windows"),
    *("order", "sort", "limit", "offset"),
}
_SET_PARTS = {"with_", "this", "expression", "distinct", "order", "limit", "offset", "sort"}
_TABLE_PARTS = {"this", "alias"}
_JOIN_PARTS = {"this", "side", "kind", "method", "on", "using"}


def made_query(tree: Any, scope: Scope) -> Columns:
    """Make a query one of DuckDB, in its place, and return the columns that it has in Spark.

    Raises:
        BadQuery: the local engine would give another answer, or Spark gives none.
    """
    scope = scope.with_tables(_defined(tree, scope))
    if isinstance(tree, exp.Subquery):
        _check_parts(tree, {"this", "alias"})
        return made_query(tree.this, scope)
    if isinstance(tree, exp.SetOperation):
        return _set_operation(tree, scope)
    if isinstance(tree, exp.Select):
        return _select(tree, scope)
    raise unlike_spark(f'"{tree.key}"')


def one_column(tree: Any, scope: Scope) -> pa.DataType:
    """Make a query inside an expression, and return the type of its first column."""
    return made_query(tree, scope.inner())[0][1]


def _defined(tree: Any, scope: Scope) -> Mapping[str, Columns]:
    """The queries of WITH."""
    found: dict[str, Columns] = {}
    defined = tree.args.get("with_")
    if defined is None:
        return found
    if defined.args.get("recursive"):
        raise unlike_spark('"WITH RECURSIVE"')
    for each in defined.expressions:
        columns = made_query(each.this, Scope({**scope.tables, **found}))
        found[each.alias.lower()] = _renamed(columns, each)
    return found


def _renamed(columns: Columns, source: Any) -> Columns:
    """The columns as an alias calls them."""
    names = source.alias_column_names
    return [(name, kind) for name, (_, kind) in zip(names, columns, strict=True)] if names else columns


def _select(tree: Any, scope: Scope) -> Columns:
    _check_parts(tree, _SELECT_PARTS)
    within = Scope(scope.tables, outer=scope.outer if not scope.sources else scope)
    _add_sources(tree, within)
    make = Expressions(within, one_column)
    _replace(tree.args.get("where"), make.condition)
    columns = _projections(tree, make)
    named = Expressions(within.with_names({name.lower(): kind for name, kind in columns if name}), one_column)
    _group(tree.args.get("group"), named)
    _replace(tree.args.get("having"), named.condition)
    for window in tree.args.get("windows") or ():
        window.replace(window_of(window, make))
    for part in ("order", "sort"):
        _order(tree.args.get(part), named)
    if tree.args.get("sort") is not None:
        tree.set("sort", None)  # an order inside of tasks, of which there is one
    tree.set("hint", None)
    return columns


def _check_parts(tree: Any, known: set[str]) -> None:
    for name, value in tree.args.items():
        if value and name not in known:
            raise unlike_spark(f'"{name.strip("_").replace("_", " ").upper()}"')


def _replace(holder: Any, make: Callable[[Any], Any]) -> None:
    if holder is not None:
        holder.set("this", make(holder.this))


def _group(group: Any, make: Expressions) -> None:
    if group is None:
        return
    sets = list(group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets))
    for each in sets:
        _check_set(each)
    group.set("expressions", [each if each in sets else _outside(each, make) for each in group.expressions])


def _check_set(several: Any) -> None:
    """See that ROLLUP, CUBE and GROUPING SETS name columns, and lists of such."""
    for node in several.expressions:
        plain = node.expressions if isinstance(node, exp.Tuple) else [node.unnest()]
        if any(not isinstance(each, exp.Column) for each in plain):
            raise unlike_spark("set of groups by other than columns")


def _order(order: Any, make: Expressions) -> None:
    for each in order.expressions if order is not None else ():
        each.set("this", _outside(each.this, make))


def _outside(node: Any, make: Expressions) -> Any:
    """What GROUP BY and ORDER BY name; a number there is the place of a column."""
    if isinstance(node, exp.Literal | exp.Column):
        return node
    return make.typed(node).node


def _projections(tree: Any, make: Expressions) -> Columns:
    columns: list[tuple[str, pa.DataType]] = []
    for node in list(tree.expressions):
        if node.is_star:
            columns += _star(node, make.scope)
            continue
        value = make.typed(node.this if isinstance(node, exp.Alias) else node)
        name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column | exp.Dot) else ""
        if isinstance(node, exp.Alias):
            node.set("this", value.node)
        elif value.node is not node:
            node.replace(value.node)
        columns.append((name, value.kind))
        if name:
            make.scope.names.setdefault(name.lower(), value.kind)
    return columns


def _star(node: Any, scope: Scope) -> Columns:
    star = node if isinstance(node, exp.Star) else node.this
    if star.args.get("replace") or star.args.get("rename"):
        raise unlike_spark('"*" with other values')
    left_out = {each.name.lower() for each in star.args.get("except_") or ()}
    columns = scope.all_columns() if isinstance(node, exp.Star) else scope.columns_of(node.table)
    return [(name, kind) for name, kind in columns if name.lower() not in left_out]


# What FROM names


def _add_sources(tree: Any, scope: Scope) -> None:
    start = tree.args.get("from_")
    if start is not None:
        _add_source(start.this, scope)
    joins = list(tree.args.get("joins") or ())
    for join in joins:
        _check_parts(join, _JOIN_PARTS)
        before = dict(scope.sources)
        added = _add_source(join.this, scope)
        _merge_columns(join, before, added, scope)
        if str(join.args.get("kind") or "").upper() in ("SEMI", "ANTI"):
            _replace_on(join, scope)
            scope.sources.pop(added)
    for join in joins:
        if str(join.args.get("kind") or "").upper() not in ("SEMI", "ANTI"):
            _replace_on(join, scope)
    for lateral in tree.args.get("laterals") or ():
        joins.append(lateral_join(lateral, scope, Expressions(scope, one_column)))
    tree.set("laterals", None)
    tree.set("joins", joins)


def _replace_on(join: Any, scope: Scope) -> None:
    if join.args.get("on") is not None:
        join.set("on", Expressions(scope, one_column).condition(join.args["on"]))


def _merge_columns(join: Any, before: Mapping[str, Columns], added: str, scope: Scope) -> None:
    """Make one column of two that USING or NATURAL names."""
    names = [each.name for each in join.args.get("using") or ()]
    theirs = {name.lower(): kind for name, kind in scope.sources[added]}
    mine = {name.lower(): (name, kind) for columns in before.values() for name, kind in columns}
    if str(join.args.get("method") or "").upper() == "NATURAL":
        names = [name for name, _ in mine.values() if name.lower() in theirs]
    for name in names:
        if name.lower() not in mine or name.lower() not in theirs:
            raise does_not_fit(f'Both sides of USING have no column "{name}"')
        kept, kind = mine[name.lower()]
        if kind != theirs[name.lower()]:
            raise unlike_spark(f"USING ({name}) of {told(kind)} and {told(theirs[name.lower()])}", ": cast one of them")
        scope.merged[kept] = kind


def _add_source(node: Any, scope: Scope) -> str:
    """Make a table, a query or rows known to a scope, and return the name."""
    name, columns = _source(node, scope)
    known = name.lower() or f"\0{len(scope.sources)}"
    scope.sources[known] = columns
    return known


def _source(node: Any, scope: Scope) -> tuple[str, Columns]:
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
        return range_rows(node, Expressions(scope, one_column))
    if isinstance(node, exp.Table):
        _check_parts(node, _TABLE_PARTS)
        columns = scope.tables.get(node.name.lower())
        if columns is None:
            raise does_not_fit(f'There is no table "{node.name}"')
        return node.alias_or_name, _renamed(columns, node)
    if isinstance(node, exp.Subquery):
        _check_parts(node, {"this", "alias"})
        return node.alias, _renamed(made_query(node.this, Scope(scope.tables, outer=scope.outer)), node)
    if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
        return node.alias, _renamed(made_query(node.this.this, scope.inner()), node)
    if isinstance(node, exp.Values):
        return node.alias, _renamed(_values(node, scope), node)
    raise unlike_spark(f'"{node.sql(dialect="spark")[:60]}"')


def _values(node: Any, scope: Scope) -> Columns:
    make = Expressions(scope, one_column)
    rows = [each.expressions if isinstance(each, exp.Tuple) else [each] for each in node.expressions]
    columns = [make.alike(column) for column in zip(*rows, strict=True)]
    made = [exp.Tuple(expressions=list(row)) for row in zip(*(nodes for nodes, _ in columns), strict=True)]
    node.set("expressions", made)
    if not node.alias_column_names:
        names = [exp.to_identifier(f"col{place}") for place in range(1, len(columns) + 1)]
        node.set("alias", exp.TableAlias(this=exp.to_identifier(node.alias or "rows_given"), columns=names))
    return [(f"col{place}", kind) for place, (_, kind) in enumerate(columns, 1)]


# UNION, INTERSECT, EXCEPT


def _set_operation(tree: Any, scope: Scope) -> Columns:
    _check_parts(tree, _SET_PARTS)
    sides = [made_query(side, scope) for side in (tree.this, tree.expression)]
    if len(sides[0]) != len(sides[1]):
        raise does_not_fit(f"One side of the union has {len(sides[0])} columns and the other {len(sides[1])}")
    columns = [_common(*pair) for pair in zip(*sides, strict=True)]
    for name, side in zip(("this", "expression"), sides, strict=True):
        if [kind for _, kind in side] != [kind for _, kind in columns]:
            tree.set(name, _widened(tree.args[name], side, columns))
    names = {name.lower(): kind for name, kind in columns if name}
    _order(tree.args.get("order"), Expressions(Scope(scope.tables, names=names), one_column))
    return columns


def _common(mine: tuple[str, pa.DataType], theirs: tuple[str, pa.DataType]) -> tuple[str, pa.DataType]:
    kind = st.common(mine[1], theirs[1])
    if kind is None:
        raise does_not_fit(f"One side of the union has {told(mine[1])} where the other has {told(theirs[1])}")
    return mine[0], kind


def _widened(query: Any, columns: Columns, wanted: Sequence[tuple[str, pa.DataType]]) -> Any:
    """A side of a union with the types of the whole."""
    names = [f"c{place}" for place in range(len(columns))]
    values = [
        exp.alias_(converted(Typed(exp.column(name), kind), to), label or name, quoted=True)
        for name, (_, kind), (label, to) in zip(names, columns, wanted, strict=True)
    ]
    plain = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    alias = exp.TableAlias(this=exp.to_identifier("side"), columns=[exp.to_identifier(name) for name in names])
    return exp.Select(expressions=values).from_(exp.Subquery(this=plain, alias=alias))
