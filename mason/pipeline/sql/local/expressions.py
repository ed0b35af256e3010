"""Expressions of Spark SQL, each made into one of DuckDB that has the value and the type that Spark would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import arithmetic, functions
from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.patterns import like_pattern
from mason.pipeline.sql.local.refusal import Refusal, does_not_fit, unlike_spark
from mason.pipeline.sql.local.sameness import in_order, is_same, one_zero
from mason.pipeline.sql.local.scope import Scope, picks_rows, stands_among_groups
from mason.pipeline.sql.local.spark_types import type_in_statement
from mason.pipeline.sql.local.values import (
    Typed,
    build_stated_cast,
    call,
    convert_value,
    describe_type,
    literal,
    plain_cast,
    text,
    try_convert,
)
from mason.pipeline.sql.spark_dialect import is_cast

OneColumn = Callable[[Any, Scope], pa.DataType]
"""Makes a query inside an expression one of DuckDB, and returns the type of its only column."""


class Expressions:
    """Makes the expressions of one scope."""

    def __init__(self, scope: Scope, one_column: OneColumn) -> None:
        self.scope = scope
        self._one_column = one_column

    def type_expression(self, node: Any) -> Typed:
        """Return an expression for DuckDB with its type in Spark.

        Raises:
            BadQuery: the local engine would give another answer, or Spark gives none.
        """
        make = _MAKERS.get(type(node))
        if make is None or not _is_known(node):
            raise unlike_spark(f'"{_render_node(node)}"').stands_at(node)
        is_key = any(is_same(node, key) for key in self.scope.keys)
        try:
            made: Typed = make(self, node)
        except Refusal as error:
            raise error.stands_at(node) from error.__cause__
        return Typed(one_zero(made.node, made.kind), made.kind) if is_key else made

    def as_kind(self, node: Any, kind: pa.DataType) -> Any:
        """Return an expression for DuckDB as a type."""
        return convert_value(self.type_expression(node), kind)

    def alike(self, nodes: Sequence[Any]) -> tuple[list[Any], pa.DataType]:
        """Return expressions as the type that they have in common, and that."""
        values = [self.type_expression(each) for each in nodes]
        kind = st.widest(each.kind for each in values)
        if kind is None:
            kinds = " and ".join(dict.fromkeys(describe_type(each.kind) for each in values))
            raise does_not_fit(f"Values of {kinds} do not mix")
        return [convert_value(each, kind) for each in values], kind

    def inside(self, names: Mapping[str, pa.DataType]) -> Expressions:
        """Return what makes expressions where a function's variables are known."""
        return Expressions(self.scope.with_variables(names), self._one_column)

    # What stands in the statement

    def _column(self, node: Any) -> Typed:
        return Typed(node, self.scope.type_of(node))

    def _variable(self, node: Any) -> Typed:
        return Typed(node, self.scope.type_of(exp.column(node.copy())))

    def _negative(self, node: Any) -> Typed:
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return literal(inner, is_negative=True)
        value = self.type_expression(inner)
        if value.kind == st.TEXT:
            value = Typed(convert_value(value, st.DOUBLE), st.DOUBLE)
        if not st.is_number(value.kind):
            raise does_not_fit(f"A {describe_type(value.kind)} has no negative")
        return Typed(plain_cast(exp.Neg(this=exp.paren(value.node, copy=False)), value.kind), value.kind)

    def _paren(self, node: Any) -> Typed:
        value = self.type_expression(node.this)
        return Typed(exp.Paren(this=value.node), value.kind)

    def _dot(self, node: Any) -> Typed:
        value = self.type_expression(node.this)
        name = node.expression.name.lower()
        fields = [each for each in value.kind if each.name.lower() == name] if st.is_struct(value.kind) else []
        if not fields:
            raise does_not_fit(f'A {describe_type(value.kind)} has no field "{node.expression.name}"')
        return Typed(exp.Dot(this=value.node, expression=node.expression), fields[0].type)

    # Comparisons

    def _type_comparison(self, node: Any) -> Typed:
        (left, right), kind = self.alike([node.this, node.expression])
        if st.is_map(kind):
            raise does_not_fit("Maps cannot be compared")
        if pa.types.is_nested(kind) and not isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ):
            left, right = in_order(left, kind), in_order(right, kind)
        return Typed(type(node)(this=left, expression=right), st.BOOL)

    def _between(self, node: Any) -> Typed:
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"])
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"])
        both = exp.And(this=self._type_comparison(low).node, expression=self._type_comparison(high).node)
        return Typed(exp.Paren(this=both), st.BOOL)

    def _in(self, node: Any) -> Typed:
        if node.args.get("query") is not None:
            return self._in_query(node)
        (first, *rest), _ = self.alike([node.this, *node.expressions])
        return Typed(exp.In(this=first, expressions=rest), st.BOOL)

    def _in_query(self, node: Any) -> Typed:
        if not picks_rows(node):
            raise unlike_spark('"IN (SELECT …)" but as a condition of WHERE')
        query = node.args["query"]
        value, kind = self.type_expression(node.this), self._one_column(query, self.scope)
        both = st.common(value.kind, kind)
        if both is None or both != kind:
            raise unlike_spark(
                f'"IN (SELECT …)" of {describe_type(value.kind)} among {describe_type(kind)}', ": cast one of them"
            )
        return Typed(exp.In(this=convert_value(value, both), query=query), st.BOOL)

    def _exists(self, node: Any) -> Typed:
        self._one_column(node.this, self.scope)
        return Typed(node, st.BOOL)

    def _like(self, node: Any) -> Typed:
        if isinstance(node.expression, exp.Any | exp.All):
            return self._like_several(node)
        return self._like_by(node, text("\\"))

    def _like_several(self, node: Any) -> Typed:
        patterns = node.expression.this.unnest()
        each_of = patterns.expressions if isinstance(patterns, exp.Tuple) else [patterns]
        connect = exp.or_ if isinstance(node.expression, exp.Any) else exp.and_
        # NOT is of each pattern: NOT LIKE ANY is true where one of them does not fit.
        negate = node.args.get("negate")
        several = connect(*(type(node)(this=node.this.copy(), expression=each, negate=negate) for each in each_of))
        return Typed(self.condition(several), st.BOOL)

    def _like_escape(self, node: Any) -> Typed:
        return self._like_by(node.this, node.expression)

    def _like_by(self, like: Any, escape: Any) -> Typed:
        this, pattern = (self.as_kind(each, st.TEXT) for each in (like.this, like.expression))
        same = type(like)(this=this, expression=like_pattern(pattern, escape.name))
        return Typed(_unless(exp.Escape(this=same, expression=escape), like), st.BOOL)

    def _regexp_like(self, node: Any) -> Typed:
        return functions.call_function("regexp_like", [node.this, node.expression], self)

    # Conditions

    def condition(self, node: Any) -> Any:
        """Return a condition."""
        return self.as_kind(node, st.BOOL)

    def _type_connection(self, node: Any) -> Typed:
        return Typed(type(node)(this=self.condition(node.this), expression=self.condition(node.expression)), st.BOOL)

    def _not(self, node: Any) -> Typed:
        return Typed(exp.Not(this=exp.Paren(this=self.condition(node.this))), st.BOOL)

    def _is(self, node: Any) -> Typed:
        this = (
            self.type_expression(node.this).node if isinstance(node.expression, exp.Null) else self.condition(node.this)
        )
        return Typed(exp.Is(this=this, expression=node.expression), st.BOOL)

    def _case(self, node: Any) -> Typed:
        tests = [each.this for each in node.args["ifs"]]
        if node.this is not None:
            tests = [exp.EQ(this=node.this.copy(), expression=each) for each in tests]
        default = node.args.get("default") or exp.Null()
        (*results, other), kind = self.alike([*(each.args["true"] for each in node.args["ifs"]), default])
        return Typed(_case_of([self._test(each) for each in tests], results, other), kind)

    def _test(self, node: Any) -> Any:
        if isinstance(node, exp.Null):
            raise does_not_fit("WHEN NULL is not a condition")
        return self.condition(node)

    def _if(self, node: Any) -> Typed:
        (yes, no), kind = self.alike([node.args["true"], node.args.get("false") or exp.Null()])
        return Typed(_case_of([self.condition(node.this)], [yes], no), kind)

    # Casts

    def _cast(self, node: Any) -> Typed:
        kind = type_in_statement(node.args["to"])
        cast = try_convert if isinstance(node, exp.TryCast) else convert_value
        made = cast(self.type_expression(node.this), kind)
        return Typed(build_stated_cast(made, kind) if _is_cast_to_spark(node, kind) else made, kind)

    def _binary(self, node: Any) -> Typed:
        return Typed(call("unhex", text(node.name)), st.BINARY)

    # Arithmetic

    def _arithmetic(self, node: Any) -> Typed:
        if isinstance(node.expression, exp.Interval):
            return arithmetic.move_moment(node, self.type_expression(node.this))
        left, right = self.type_expression(node.this), self.type_expression(node.expression)
        return arithmetic.build_operation(type(node), left, right)

    def _bits(self, node: Any) -> Typed:
        (left, right), kind = self.alike([node.this, node.expression])
        if not st.is_integer(kind):
            raise does_not_fit(f"A {describe_type(kind)} has no bits")
        return Typed(plain_cast(type(node)(this=left, expression=right), kind), kind)

    def _bits_not(self, node: Any) -> Typed:
        value = self.type_expression(node.this)
        return Typed(plain_cast(exp.BitwiseNot(this=exp.Paren(this=value.node)), value.kind), value.kind)

    # Functions

    def _type_concatenation(self, node: Any) -> Typed:
        return functions.call_function("concat", [node.this, node.expression], self)

    def _adjacent(self, node: Any) -> Typed:
        """Texts that stand side by side, which are one."""
        if any(not isinstance(each, exp.Literal) for each in node.expressions):
            raise unlike_spark(f'"{_render_node(node)}"')
        return Typed(text("".join(each.name for each in node.expressions)), st.TEXT)

    def _function(self, node: Any) -> Typed:
        return functions.call_function(node.name.lower(), node.expressions, self)

    def _substring(self, node: Any) -> Typed:
        parts = [node.this, node.args["start"], node.args.get("length")]
        return functions.call_function("substr", [each for each in parts if each is not None], self)

    def _trim(self, node: Any) -> Typed:
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
        what = self.as_kind(node.expression, st.TEXT) if node.args.get("expression") is not None else text(" ")
        return Typed(call(name, self.as_kind(node.this, st.TEXT), what), st.TEXT)

    def _position(self, node: Any) -> Typed:
        return functions.call_function("instr", [node.this, node.args["substr"]], self)

    def _extract(self, node: Any) -> Typed:
        return functions.call_function("date_part", [text(node.name), node.expression], self)

    def _today(self, _: Any) -> Typed:
        return functions.call_function("current_date", [], self)

    def _now(self, _: Any) -> Typed:
        return functions.call_function("current_timestamp", [], self)

    def _element(self, node: Any) -> Typed:
        if len(node.expressions) != 1:
            raise unlike_spark(f'"{_render_node(node)}"')
        value = self.type_expression(node.this)
        if st.is_map(value.kind):
            key = self.as_kind(node.expressions[0], value.kind.key_type)
            return Typed(call("map_extract_value", value.node, key), value.kind.item_type)
        if st.is_list(value.kind):
            return Typed(
                call("spark_at", value.node, self.as_kind(node.expressions[0], st.LONG)), value.kind.value_type
            )
        raise does_not_fit(f"A {describe_type(value.kind)} has no elements")

    def _type_explode(self, node: Any) -> Typed:
        value = self.type_expression(node.this)
        if not st.is_list(value.kind) or not isinstance(node.parent, exp.Select | exp.Alias):
            raise unlike_spark(f'"{_render_node(node)}" among columns', ": LATERAL VIEW can")
        return Typed(call("unnest", value.node), value.kind.value_type)

    def _window(self, node: Any) -> Typed:
        return functions.over_rows(node, self)

    def _type_filter(self, node: Any) -> Typed:
        return functions.of_some_rows(node, self)

    def _within_group(self, node: Any) -> Typed:
        return functions.within_group(node, self)

    def _any(self, node: Any) -> Typed:
        return functions.call_function("any", [node.this.unnest()], self)

    def _subquery(self, node: Any) -> Typed:
        asked = len(self.scope.asked_inside)
        kind = self._one_column(node.this, self.scope)
        if len(self.scope.asked_inside) > asked and stands_among_groups(node):
            raise unlike_spark("subquery that refers to its query in ORDER BY, or among columns beside GROUP BY")
        return Typed(node, kind)


def _case_of(tests: Sequence[Any], results: Sequence[Any], other: Any) -> Any:
    ifs = [exp.If(this=test, true=result) for test, result in zip(tests, results, strict=True)]
    return exp.Case(ifs=ifs, default=other)


def _unless(condition: Any, like: Any) -> Any:
    """A condition, or its opposite where the statement has NOT."""
    return exp.Not(this=exp.Paren(this=condition)) if like.args.get("negate") else condition


def _is_cast_to_spark(node: Any, kind: pa.DataType) -> bool:
    """Whether a number in the statement is cast: 4L and 4S are such numbers themselves; so is 4Y, but not always."""
    return is_cast(node) or isinstance(node, exp.TryCast) or kind in (st.BYTE, st.INT)


def _is_known(node: Any) -> bool:
    """Whether nothing is said in an expression but what is understood here."""
    known = _PARTS.get(type(node), _USUAL)
    return all(name in known for name, value in node.args.items() if value)


def _render_node(node: Any) -> str:
    rendered: str = node.sql(dialect="spark", comments=False)
    return rendered if len(rendered) <= 60 else f"{rendered[:60]}…"


_MAKERS: Mapping[type, Callable[[Expressions, Any], Typed]] = {
    exp.Column: Expressions._column,
    exp.Identifier: Expressions._variable,
    exp.Literal: lambda _, node: literal(node),
    exp.Boolean: lambda _, node: Typed(node, st.BOOL),
    exp.Null: lambda _, node: Typed(node, st.NOTHING),
    exp.HexString: Expressions._binary,
    exp.Neg: Expressions._negative,
    exp.Paren: Expressions._paren,
    exp.Dot: Expressions._dot,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), Expressions._type_comparison),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), Expressions._type_comparison),
    exp.Between: Expressions._between,
    exp.In: Expressions._in,
    exp.Exists: Expressions._exists,
    **dict.fromkeys((exp.Like, exp.ILike), Expressions._like),
    exp.Escape: Expressions._like_escape,
    exp.RegexpLike: Expressions._regexp_like,
    **dict.fromkeys((exp.And, exp.Or), Expressions._type_connection),
    exp.Not: Expressions._not,
    exp.Is: Expressions._is,
    exp.Case: Expressions._case,
    exp.If: Expressions._if,
    **dict.fromkeys((exp.Cast, exp.TryCast), Expressions._cast),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv), Expressions._arithmetic),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), Expressions._bits),
    exp.BitwiseNot: Expressions._bits_not,
    exp.DPipe: Expressions._type_concatenation,
    exp.Concat: Expressions._adjacent,
    exp.Anonymous: Expressions._function,
    exp.Substring: Expressions._substring,
    exp.Trim: Expressions._trim,
    exp.StrPosition: Expressions._position,
    exp.Extract: Expressions._extract,
    exp.CurrentDate: Expressions._today,
    exp.CurrentTimestamp: Expressions._now,
    exp.Bracket: Expressions._element,
    exp.Explode: Expressions._type_explode,
    exp.Window: Expressions._window,
    exp.Filter: Expressions._type_filter,
    exp.WithinGroup: Expressions._within_group,
    exp.Any: Expressions._any,
    exp.Subquery: Expressions._subquery,
}

_USUAL = {"this", "expression", "expressions"}
_PARTS: Mapping[type, set[str]] = {
    exp.Column: {"this", "table", "db"},
    exp.Identifier: {"this", "quoted"},
    exp.Literal: {"this", "is_string"},
    exp.Between: {"this", "low", "high"},
    exp.In: {"this", "expressions", "query"},
    **{key: {"this", "expression", "negate"} for key in (exp.Like, exp.ILike)},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true", "false"},
    exp.Cast: {"this", "to"},
    exp.TryCast: {"this", "to", "safe"},
    exp.DPipe: {"this", "expression", "safe"},
    exp.Concat: {"expressions", "safe"},
    exp.Substring: {"this", "start", "length"},
    exp.Trim: {"this", "expression", "position"},
    exp.StrPosition: {"this", "substr"},
    exp.Window: {"this", "partition_by", "order", "spec", "over", "alias"},
}
