"""Whole queries of Spark SQL, made into queries of DuckDB from the inside out, each with the types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.aggregates import window_of
from mason.pipeline.sql.local.expressions import Expressions
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.sameness import holds_floats, in_order, one_zero
from mason.pipeline.sql.local.scope import Columns, Scope
from mason.pipeline.sql.local.sources import lateral_join, range_rows
from mason.pipeline.sql.local.values import Typed, convert_value, describe_type

_SELECT_PARTS = {
    *("with_", "hint", "expressions", "distinct", "from_", "joins", "laterals", "where", "group", "having", "windows"),
    *("order", "sort", "limit", "offset"),
}
_SET_PARTS = {"with_", "this", "expression", "distinct", "order", "limit", "offset", "sort"}
_TABLE_PARTS = {"this", "alias"}
_JOIN_PARTS = {"this", "side", "kind", "method", "on", "using"}


def translate_query(tree: Any, scope: Scope) -> Columns:
    """Make a query one of DuckDB, in its place, and return the columns that it has in Spark.

    Raises:
        BadQuery: the local engine would give another answer, or Spark gives none.
    """
    scope = scope.with_tables(_translate_definitions(tree, scope))
    if isinstance(tree, exp.Subquery):
        _check_parts(tree, {"this", "alias"})
        return translate_query(tree.this, scope)
    if isinstance(tree, exp.SetOperation):
        return _set_operation(tree, scope)
    if isinstance(tree, exp.Select):
        return _select(tree, scope)
    raise unlike_spark(f'"{tree.key}"')


def one_column(tree: Any, scope: Scope) -> pa.DataType:
    """Make a query inside an expression, and return the type of its first column."""
    return translate_query(tree, scope.inner())[0][1]


def _translate_definitions(tree: Any, scope: Scope) -> Mapping[str, Columns]:
    """The queries of WITH."""
    found: dict[str, Columns] = {}
    defined = tree.args.get("with_")
    if defined is None:
        return found
    if defined.args.get("recursive"):
        raise unlike_spark('"WITH RECURSIVE"')
    for each in defined.expressions:
        columns = translate_query(each.this, Scope(tables={**scope.tables, **found}))
        found[each.alias.lower()] = _rename_columns(columns, each)
    return found


def _rename_columns(columns: Columns, source: Any) -> Columns:
    """The columns as an alias calls them."""
    names = source.alias_column_names
    return [(name, kind) for name, (_, kind) in zip(names, columns, strict=True)] if names else columns


def _select(tree: Any, scope: Scope) -> Columns:
    _check_parts(tree, _SELECT_PARTS)
    within = Scope(tables=scope.tables, outer=scope.outer if not scope.sources else scope)
    _add_sources(tree, within)
    _replace(tree.args.get("where"), Expressions(within, one_column).condition)
    within = replace(within, keys=_keys(tree, within))
    make = Expressions(within, one_column)
    columns = _projections(tree, make)
    within = within.with_names({name.lower(): kind for name, kind in columns if name})
    _group(tree.args.get("group"), Expressions(replace(within, keys=()), one_column))
    named = Expressions(within, one_column)
    _replace(tree.args.get("having"), named.condition)
    for window in tree.args.get("windows") or ():
        window.replace(window_of(window, make))
    for part in ("order", "sort"):
        _order(tree.args.get(part), columns, named)
    sort = tree.args.get("sort")
    if sort is not None:
        tree.set("sort", None)  # an order inside of tasks, of which there is one: LIMIT takes the first of it
        tree.set("order", tree.args.get("order") or exp.Order(expressions=sort.expressions))
    tree.set("hint", None)
    return columns


def _check_parts(tree: Any, known: set[str]) -> None:
    for name, value in tree.args.items():
        if value and name not in known:
            raise unlike_spark(f'"{_WORDS.get(name) or name.strip("_").replace("_", " ").upper()}"')


_WORDS = {"sample": "TABLESAMPLE"}
"""What is called otherwise in SQL than in its tree."""


def _replace(holder: Any, make: Callable[[Any], Any]) -> None:
    if holder is not None:
        holder.set("this", make(holder.this))


def _group(group: Any, make: Expressions) -> None:
    if group is None:
        return
    sets = list(group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets))
    for each in sets:
        _check_set(each)
    if group.args.get("grouping_sets"):
        group.set("expressions", [])  # keys before GROUPING SETS are what the sets are made of, in Spark alone
    group.set("expressions", [each if each in sets else _outside(each, make) for each in group.expressions])


def _keys(tree: Any, scope: Scope) -> Sequence[Any]:
    """What the rows of a query are grouped by, as far as a zero in it may have a sign."""
    group = tree.args.get("group")
    if group is None:
        return []
    sets = list(group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets))
    plain = [each for each in group.expressions if each not in sets]
    if group.args.get("all"):
        plain = [each.unalias() for each in tree.expressions if not each.is_star]
    found = [
        _resolve_key(each, tree, scope)
        for each in (*plain, *(key for each in sets for key in each.find_all(exp.Column)))
    ]
    kinds = [Expressions(scope, one_column).type_expression(each.copy()).kind for each in found]
    return [each.copy() for each, kind in zip(found, kinds, strict=True) if holds_floats(kind)]


def _resolve_key(key: Any, tree: Any, scope: Scope) -> Any:
    """The expression that a key stands for: the place of a column, or the name that the query gives one."""
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(tree.expressions):
        return tree.expressions[int(key.name) - 1].unalias()
    if not isinstance(key, exp.Column) or key.table or scope.has_column(key.name):
        return key
    named = {each.alias.lower(): each.this for each in tree.expressions if isinstance(each, exp.Alias)}
    return named.get(key.name.lower(), key)


def _check_set(several: Any) -> None:
    """See that ROLLUP, CUBE and GROUPING SETS name columns, and lists of such."""
    for node in several.expressions:
        plain = node.expressions if isinstance(node, exp.Tuple) else [node.unnest()]
        if any(not isinstance(each, exp.Column) for each in plain):
            raise unlike_spark("set of groups by other than columns")


def _order(order: Any, columns: Columns, make: Expressions) -> None:
    for each in order.expressions if order is not None else ():
        each.set("this", _render_order(each.this, columns, make))


def _outside(node: Any, make: Expressions) -> Any:
    """What GROUP BY names; a number there is the place of a column."""
    if isinstance(node, exp.Column):
        make.scope.type_of(node)  # which says where it stands if there is none
    if isinstance(node, exp.Literal | exp.Column):
        return node
    return make.type_expression(node).node


def _render_order(node: Any, columns: Columns, make: Expressions) -> Any:
    """What ORDER BY names, so that DuckDB has it in the order of Spark."""
    if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(columns):
        if pa.types.is_nested(columns[int(node.name) - 1][1]):
            raise unlike_spark("order by the place of a column that holds lists or structs", ": name it")
        return node
    if isinstance(node, exp.Column):
        return in_order(node, make.scope.type_of(node))
    value = make.type_expression(node)
    return in_order(value.node, value.kind)


def _projections(tree: Any, make: Expressions) -> Columns:
    columns: list[tuple[str, pa.DataType]] = []
    if tree.args.get("distinct"):
        tree.set("expressions", [each for node in tree.expressions for each in _spell_out_star(node, make.scope)])
    for node in list(tree.expressions):
        if node.is_star:
            columns += _star(node, make.scope)
            continue
        value = make.type_expression(node.this if isinstance(node, exp.Alias) else node)
        if tree.args.get("distinct"):
            value = Typed(one_zero(value.node, value.kind), value.kind)
        name = node.alias_or_name if isinstance(node, exp.Alias | exp.Column | exp.Dot) else ""
        if isinstance(node, exp.Alias):
            node.set("this", value.node)
        elif value.node is not node:
            node.replace(exp.alias_(value.node, name, quoted=True) if name else value.node)
        columns.append((name, value.kind))
        if name:
            make.scope.names.setdefault(name.lower(), value.kind)
    return columns


def _spell_out_star(node: Any, scope: Scope) -> Sequence[Any]:
    """The columns of a star one by one, where a zero among them may have a sign and each can be named."""
    columns = _star(node, scope) if node.is_star else []
    if not any(holds_floats(kind) for _, kind in columns) or len({name.lower() for name, _ in columns}) < len(columns):
        return [node]
    table = node.args.get("table") if isinstance(node, exp.Column) else None
    return [exp.column(exp.to_identifier(name, quoted=True), table=table and table.copy()) for name, _ in columns]


def _star(node: Any, scope: Scope) -> Columns:
    star = node if isinstance(node, exp.Star) else node.this
    if star.args.get("replace") or star.args.get("rename"):
        raise unlike_spark('"*" with other values')
    left_out = {each.name.lower() for each in star.args.get("except_") or ()}
    columns = scope.all_columns() if isinstance(node, exp.Star) else scope.columns_of(node.args["table"])
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
        column, kind = mine[name.lower()]
        if kind != theirs[name.lower()]:
            raise unlike_spark(
                f"USING ({name}) of {describe_type(kind)} and {describe_type(theirs[name.lower()])}",
                ": cast one of them",
            )
        scope.merged[column] = kind


def _add_source(node: Any, scope: Scope) -> str:
    """Make a table, a query or rows known to a scope, and return the name."""
    name, columns = _source(node, scope)
    known = name.lower() or f"\0{len(scope.sources)}"
    scope.sources[known] = columns
    return known


def _source(node: Any, scope: Scope) -> tuple[str, Columns]:
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous):
        return range_rows(node, Expressions(scope, one_column))
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        raise unlike_spark(f'"{node.this.sql_name().lower()}" as a table')
    if isinstance(node, exp.Table):
        _check_parts(node, _TABLE_PARTS)
        columns = scope.tables.get(node.name.lower())
        if columns is None:
            raise does_not_fit(f'There is no table "{node.name}"')
        return node.alias_or_name, _rename_columns(columns, node)
    if isinstance(node, exp.Subquery):
        _check_parts(node, {"this", "alias"})
        return node.alias, _rename_columns(
            translate_query(node.this, Scope(tables=scope.tables, outer=scope.outer)), node
        )
    if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
        return node.alias, _rename_columns(translate_query(node.this.this, scope.inner()), node)
    if isinstance(node, exp.Values):
        return node.alias, _rename_columns(_values(node, scope), node)
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
    sides = [translate_query(side, scope) for side in (tree.this, tree.expression)]
    if len(sides[0]) != len(sides[1]):
        raise does_not_fit(f"One side of the union has {len(sides[0])} columns and the other {len(sides[1])}")
    columns = [_common(*pair) for pair in zip(*sides, strict=True)]
    groups = not isinstance(tree, exp.Union) or bool(tree.args.get("distinct"))
    zeros = groups and any(holds_floats(kind) for _, kind in columns)
    for name, side in zip(("this", "expression"), sides, strict=True):
        if zeros or [kind for _, kind in side] != [kind for _, kind in columns]:
            tree.set(name, _widen_side(tree.args[name], side, columns, one_zero if zeros else _as_it_is))
    names = {name.lower(): kind for name, kind in columns if name}
    _order(tree.args.get("order"), columns, Expressions(Scope(tables=scope.tables, names=names), one_column))
    return columns


def _common(mine: tuple[str, pa.DataType], theirs: tuple[str, pa.DataType]) -> tuple[str, pa.DataType]:
    kind = st.common(mine[1], theirs[1])
    if kind is None:
        raise does_not_fit(
            f"One side of the union has {describe_type(mine[1])} where the other has {describe_type(theirs[1])}"
        )
    return mine[0], kind


def _as_it_is(node: Any, _: pa.DataType) -> Any:
    return node


def _widen_side(query: Any, columns: Columns, wanted: Columns, finish: Callable[[Any, pa.DataType], Any]) -> Any:
    """A side of a union with the types of the whole."""
    names = [f"c{place}" for place in range(len(columns))]
    values = [
        exp.alias_(finish(convert_value(Typed(exp.column(name), kind), to), to), label or name, quoted=True)
        for name, (_, kind), (label, to) in zip(names, columns, wanted, strict=True)
    ]
    plain = query.this if isinstance(query, exp.Subquery) and not query.alias else query
    alias = exp.TableAlias(this=exp.to_identifier("side"), columns=[exp.to_identifier(name) for name in names])
    return exp.Select(expressions=values).from_(exp.Subquery(this=plain, alias=alias))
