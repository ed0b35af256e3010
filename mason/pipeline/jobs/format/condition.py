"""A condition in SQL (Spark's dialect) over the rows of a table: `price > 10 and country = 'DE'`.

Only what can be said of one row by itself is allowed: comparisons, and, or, not, in, between, like, is null,
arithmetic, casts to simple types, and literals. A condition is true, false or unknown, as SQL has it: what is compared
with null is unknown, and only rows for which the condition is true are taken. As in Spark, NaN equals itself and is
larger than any other number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from mason.errors import BadInput
from mason.pipeline.jobs.format import values
from mason.pipeline.jobs.format.values import Unequal, Values
from mason.pipeline.sql.gaps import open_quote
from mason.pipeline.sql.spark_dialect import SparkAsWritten
from mason.util.names import did_you_mean

ALLOWED = (
    "Allowed are columns, literals, =, <>, <, <=, >, >=, <=>, and, or, not, in (…), between, like, ilike, is null, "
    "is true, is false, +, -, *, /, and cast(… as a simple type)."
)


class BadCondition(BadInput):
    """Raised when a condition is no SQL, or says more than is allowed, with its place. 400 · exit 1"""


@dataclass(frozen=True)
class Condition:
    """A condition that could be parsed."""

    text: str
    tree: exp.Expr

    @classmethod
    def of(cls, text: str) -> Condition:
        """Parse a condition.

        Raises:
            BadCondition: it is none.
        """
        try:
            trees = sqlglot.parse(text, read=SparkAsWritten)
        except ParseError as error:
            found = error.errors[0]
            near = f'near "{found["highlight"]}"' if found.get("highlight") else "at its end"
            problem = f"filter {found['line']}:{found['col']}: it cannot be understood {near}."
            raise BadCondition(problem, hint=ALLOWED) from error
        except TokenError as error:
            place = _place_of(text, open_quote(text) or 0)
            raise BadCondition(f"filter {place}: a quote or a comment is opened and not closed.") from error
        except RecursionError as error:
            raise BadCondition("filter: it is nested too deeply to be understood.") from error
        if len(trees) != 1 or trees[0] is None:
            reason = "there is nothing in it" if not any(trees) else "it is more than one statement"
            raise BadCondition(f"filter: {reason}.", hint="Say one condition, such as price > 10.")
        return cls(text, trees[0])

    def columns(self, schema: pa.Schema) -> list[str]:
        """Return the columns that the condition looks at.

        Raises:
            BadCondition: one of them is not there.
        """
        found = [self._column(each, schema)[0] for each in self.tree.find_all(exp.Column)]
        return list(dict.fromkeys(found))

    def check(self, schema: pa.Schema) -> None:
        """See that the condition can be asked of such rows: it is asked of none.

        Raises:
            BadCondition: it cannot.
        """
        self.mask(pa.RecordBatch.from_pylist([], schema))

    def mask(self, rows: pa.RecordBatch) -> pa.Array:
        """Say of each row whether the condition is true.

        Raises:
            BadCondition: it cannot be asked of such rows, or fails for one of them, as a division by zero does.
        """
        try:
            found = self._truth(self.tree, rows)
        except RecursionError as error:
            raise BadCondition("filter: it is nested too deeply to be understood.") from error
        if isinstance(found, pa.Scalar):
            return pa.repeat(pa.scalar(found.as_py() is True), rows.num_rows)
        return pc.fill_null(found, False)

    def _truth(self, node: exp.Expr, rows: pa.RecordBatch) -> Values:
        found = self._value(node, rows)
        if pa.types.is_null(found.type):
            return pa.scalar(None, pa.bool_())
        if not pa.types.is_boolean(found.type):
            raise self._bad(node, f"this is {found.type}, and neither true nor false")
        return found

    def _value(self, node: exp.Expr, rows: pa.RecordBatch) -> Values:
        if isinstance(node, exp.Parameter | exp.SessionParameter | exp.Placeholder):
            raise self._bad(node, "it has no variables", "Write the value itself.")
        evaluate = _NODES.get(type(node))
        if evaluate is None or any(said and name not in _UNDERSTOOD for name, said in node.args.items()):
            raise self._bad(node, f"{node.sql(dialect='spark')} is not allowed in a filter", ALLOWED)
        try:
            return evaluate(self, node, rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, Unequal) as error:
            raise self._bad(node, str(error).splitlines()[0].rstrip(".")) from error

    def _column(self, node: exp.Column, schema: pa.Schema) -> tuple[str, list[str]]:
        """The name of a column and of the fields below it, spelled as the schema does."""
        names = [each.name for each in node.parts]
        found = _find_spelling(names[0], schema.names)
        if found is None:
            near = did_you_mean(names[0], schema.names)
            raise self._bad(
                node, f'there is no column "{names[0]}"', near or f"Columns: {', '.join(schema.names[:50])}."
            )
        return found, names[1:]

    def _bad(self, node: exp.Expr, problem: str, hint: str = "") -> BadCondition:
        return BadCondition(f"filter {self._place(node)}: {problem}.", hint=hint)

    def _place(self, node: exp.Expr) -> str:
        starts = [each.meta["start"] for each in node.walk() if "start" in each.meta]
        return _place_of(self.text, min(starts, default=0))


def _place_of(text: str, start: int) -> str:
    before = text[:start]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _find_spelling(name: str, known: Sequence[str]) -> str | None:
    if name in known:
        return name
    return next((each for each in known if each.casefold() == name.casefold()), None)


Evaluate = Callable[[Condition, Any, pa.RecordBatch], Values]


def _column(condition: Condition, node: exp.Column, rows: pa.RecordBatch) -> Values:
    name, fields = condition._column(node, rows.schema)
    found: pa.Array = rows.column(name)
    for field in fields:
        names = found.type.names if pa.types.is_struct(found.type) else []
        spelled = _find_spelling(field, names)
        if spelled is None:
            raise condition._bad(node, f'"{name}" has no field "{field}"', did_you_mean(field, names))
        found = pc.struct_field(found, [names.index(spelled)])  # by number: a name may have a dot in it
    return values.plain(found)


def _literal(condition: Condition, node: exp.Literal, rows: pa.RecordBatch) -> Values:
    if node.is_string:
        return pa.scalar(node.this, pa.string())
    text: str = node.this
    return pa.scalar(float(text)) if "e" in text.lower() else values.number(text)


def _negative(condition: Condition, node: exp.Neg, rows: pa.RecordBatch) -> Values:
    return values.negate(condition._value(node.this, rows))


def _comparison(name: str) -> Evaluate:
    def evaluate(condition: Condition, node: exp.Binary, rows: pa.RecordBatch) -> Values:
        return values.compare_values(name, condition._value(node.this, rows), condition._value(node.expression, rows))

    return evaluate


def _arithmetic(name: str) -> Evaluate:
    def evaluate(condition: Condition, node: exp.Binary, rows: pa.RecordBatch) -> Values:
        return values.calculate(name, condition._value(node.this, rows), condition._value(node.expression, rows))

    return evaluate


def _logic(combine: Callable[[Any, Any], Any]) -> Evaluate:
    def evaluate(condition: Condition, node: exp.Connector, rows: pa.RecordBatch) -> Values:
        return combine(condition._truth(node.this, rows), condition._truth(node.expression, rows))

    return evaluate


def _not(condition: Condition, node: exp.Not, rows: pa.RecordBatch) -> Values:
    return pc.invert(condition._truth(node.this, rows))


def _is(condition: Condition, node: exp.Is, rows: pa.RecordBatch) -> Values:
    if isinstance(node.expression, exp.Null):
        return pc.is_null(condition._value(node.this, rows))
    if not isinstance(node.expression, exp.Boolean):
        raise condition._bad(node, "after is comes null, true or false")
    return pc.fill_null(pc.equal(condition._truth(node.this, rows), node.expression.this), False)


def _in(condition: Condition, node: exp.In, rows: pa.RecordBatch) -> Values:
    if node.args.get("query") or not node.expressions:
        raise condition._bad(node, "in needs a list of values", ALLOWED)
    wanted = condition._value(node.this, rows)
    found = [values.compare_values("equal", wanted, condition._value(each, rows)) for each in node.expressions]
    united = found[0]
    for each in found[1:]:
        united = pc.or_kleene(united, each)
    return united


def _between(condition: Condition, node: exp.Between, rows: pa.RecordBatch) -> Values:
    found = condition._value(node.this, rows)
    low, high = (condition._value(node.args[end], rows) for end in ("low", "high"))
    above, below = values.compare_values("greater_equal", found, low), values.compare_values("less_equal", found, high)
    return pc.and_kleene(above, below)


def _like(*, ignore_case: bool) -> Evaluate:
    def evaluate(condition: Condition, node: exp.Like, rows: pa.RecordBatch) -> Values:
        found, pattern = condition._value(node.this, rows), condition._value(node.expression, rows)
        if not pa.types.is_string(found.type) or not isinstance(pattern, pa.Scalar) or pattern.as_py() is None:
            raise condition._bad(node, "like compares a text with a pattern in quotes")
        matches = pc.match_like(found, pattern.as_py(), ignore_case=ignore_case)
        return pc.invert(matches) if node.args.get("negate") else matches

    return evaluate


def _cast(condition: Condition, node: exp.Cast, rows: pa.RecordBatch) -> Values:
    from mason.pipeline.types.sql_types import BadSchema, parse_schema

    text = node.to.sql(dialect="spark")
    if node.args.get("safe"):
        raise condition._bad(node, "try_cast is not allowed in a filter", ALLOWED)
    try:
        target = parse_schema(f"x {text}")["x"]
    except BadSchema as error:
        raise condition._bad(node, f"{text} is not a type to cast to") from error
    return values.cast(condition._value(node.this, rows), target)


_UNDERSTOOD = frozenset(
    (
        *("this", "expression", "expressions", "low", "high", "to", "negate", "is_string", "query"),
        *("table", "db", "catalog", "typed", "safe"),
    )
)
"""The parts of nodes that are looked at: a node that says more, as `between symmetric` does, means something else."""

_NODES: Mapping[type[exp.Expr], Evaluate] = {
    exp.Paren: lambda condition, node, rows: condition._value(node.this, rows),
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda condition, node, rows: pa.scalar(bool(node.this)),
    exp.Null: lambda condition, node, rows: pa.scalar(None, pa.null()),
    exp.Neg: _negative,
    exp.EQ: _comparison("equal"),
    exp.NEQ: _comparison("not_equal"),
    exp.LT: _comparison("less"),
    exp.LTE: _comparison("less_equal"),
    exp.GT: _comparison("greater"),
    exp.GTE: _comparison("greater_equal"),
    exp.NullSafeEQ: _comparison("same"),
    exp.Add: _arithmetic("add_checked"),
    exp.Sub: _arithmetic("subtract_checked"),
    exp.Mul: _arithmetic("multiply_checked"),
    exp.Div: _arithmetic("divide"),
    exp.And: _logic(pc.and_kleene),
    exp.Or: _logic(pc.or_kleene),
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like(ignore_case=False),
    exp.ILike: _like(ignore_case=True),
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
