"""`when`: a condition on what earlier steps gave, in a part of SQL that can only compare.

It is read by sqlglot and walked here, node by node; whatever is not listed below is refused, so that nothing runs.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mason.workflows.definition.references import Lookup, Reference, parse_reference

if TYPE_CHECKING:
    from sqlglot import exp

CONDITION_RULE = (
    "a condition compares what earlier steps gave, as in \"{{step_1.RowsOut}} > 0 and {{step_2.status}} = 'succeeded'\""
)
_TOKEN = re.compile(
    r"'(?:[^']|'')*'"
    r"|\{\{(?P<braced>[^{}]*)\}\}"
    r"|(?P<bare>[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)+)"
    r"|\b(?P<ours>ref_[0-9]+)\b"
)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": operator.eq,
    "NEQ": operator.ne,
    "GT": operator.gt,
    "GTE": operator.ge,
    "LT": operator.lt,
    "LTE": operator.le,
}
_LONGEST = 2_000
_LONGEST_SHOWN = 200


@dataclass(frozen=True)
class Condition:
    """A condition that was read; it holds when it is true, and not when a value in it is missing."""

    text: str
    references: Sequence[Reference]
    _tree: exp.Expr

    def holds(self, look_up: Lookup) -> bool:
        """Say whether it holds for what the references refer to now."""
        values = {f"ref_{number}": look_up(each) for number, each in enumerate(self.references)}
        return _truth(_value(self._tree, values)) is True


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        ValueError: it is none, or does more than compare.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST:,} characters")
    import sqlglot  # a workflow without a condition does not pay for it
    from sqlglot.errors import SqlglotError

    references: list[Reference] = []

    def number_reference(found: re.Match[str]) -> str:
        if found["ours"]:  # the name that a reference has below
            raise ValueError(f'"{found["ours"]}" is neither a value nor what a step gave; {CONDITION_RULE}')
        words = found["bare"] if found["braced"] is None else found["braced"]
        if words is None:
            return found[0]
        references.append(parse_reference(words))
        return f"ref_{len(references) - 1}"

    try:
        tree = sqlglot.parse_one(_TOKEN.sub(number_reference, text))
        _check(tree, references)
    except (SqlglotError, RecursionError) as error:
        raise ValueError(
            f'"{_shorten_text(text)}" cannot be read{_where(error, references)}; {CONDITION_RULE}'
        ) from error
    return Condition(text, tuple(references), tree)


def _where(error: Exception, references: Sequence[Reference]) -> str:
    """Say where the reading stopped, as far as that is known."""
    if isinstance(error, RecursionError):
        return ", since there is too much in it"
    found: Sequence[Mapping[str, Any]] = getattr(error, "errors", ())
    near = found[0].get("highlight") if found else ""
    return f' near "{_with_references(str(near), references)}"' if near else ""


def _shorten_text(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _check(node: exp.Expr, references: Sequence[Reference]) -> None:
    kind = type(node).__name__
    if kind == "Column" and re.fullmatch(r"ref_[0-9]+", node.name) and int(node.name[4:]) < len(references):
        return
    if kind == "Column" and node.this.args.get("quoted"):
        raise ValueError(f"{node.sql()} is in double quotes, and a text is in single ones; {CONDITION_RULE}")
    if kind == "Column":
        raise ValueError(
            f'"{_text_of_node(node, references)}" is neither a value nor what a step gave; {CONDITION_RULE}'
        )
    if kind not in {*_COMPARISONS, "And", "Or", "Not", "Paren", "Neg", "Is", "In", "Literal", "Boolean", "Null"}:
        raise ValueError(f'"{_text_of_node(node, references)}" does more than compare; {CONDITION_RULE}')
    if kind == "In" and not node.expressions:
        raise ValueError(f'"{_text_of_node(node, references)}" does more than compare; {CONDITION_RULE}')
    if kind == "Is" and type(node.expression).__name__ not in ("Null", "Boolean"):
        raise ValueError(
            f'"{_text_of_node(node, references)}": behind "is" stands null, true or false; {CONDITION_RULE}'
        )
    for child in node.iter_expressions():
        _check(child, references)


def _text_of_node(node: exp.Expr, references: Sequence[Reference]) -> str:
    """Return a part of a condition as its author wrote it."""
    return _shorten_text(_with_references(node.sql(), references))


def _with_references(text: str, references: Sequence[Reference]) -> str:
    def restore_reference(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"{{{{{references[number].text}}}}}" if number < len(references) else found[0]

    return re.sub(r"\bref_([0-9]{1,4})\b", restore_reference, text)


def _value(node: Any, values: dict[str, Any]) -> Any:
    """Return what a node is worth: nothing is unknown, as in SQL."""
    kind = type(node).__name__
    if kind in ("And", "Or"):
        return _both(_truth(_value(node.this, values)), _truth(_value(node.expression, values)), decides=kind == "Or")
    if kind in _COMPARISONS:
        return _compare(_COMPARISONS[kind], _value(node.this, values), _value(node.expression, values))
    if kind == "Not":
        inner = _truth(_value(node.this, values))
        return None if inner is None else not inner
    if kind == "Neg":
        return _negate(_value(node.this, values))
    if kind == "Is":
        return _value(node.this, values) is _value(node.expression, values)
    if kind == "In":
        left = _value(node.this, values)
        return None if left is None else any(_same(left, _value(each, values)) for each in node.expressions)
    return _leaf(kind, node, values)


def _leaf(kind: str, node: Any, values: dict[str, Any]) -> Any:
    if kind == "Paren":
        return _value(node.this, values)
    if kind == "Column":
        return values[node.name]
    if kind == "Literal":
        return node.this if node.is_string else int(node.this) if node.this.isdecimal() else float(node.this)
    return bool(node.this) if kind == "Boolean" else None


def _both(left: bool | None, right: bool | None, *, decides: bool) -> bool | None:
    """Return `and` (which false decides) or `or` (which true decides) of two truths, either of which may be unknown."""
    if decides in (left, right):
        return decides
    return None if left is None or right is None else not decides


def _negate(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    return -value


def _truth(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither true nor false")


def _compare(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if compare is operator.eq or compare is operator.ne:
        return compare(True, _same(left, right))
    try:
        return compare(*_alike(left, right))
    except TypeError:
        raise ValueError(f"{left!r} and {right!r} cannot be compared") from None


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    first, second = _alike(left, right)
    return bool(first == second)


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both as numbers where one is a number and the other a text of one."""
    if isinstance(left, str) is isinstance(right, str):
        return left, right
    try:
        return (float(left), right) if isinstance(left, str) else (left, float(right))
    except (TypeError, ValueError):
        return left, right
