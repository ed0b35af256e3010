"""Functions of lists, structs and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.sameness import one_zero
from mason.pipeline.sql.local.values import Typed, call, convert_value, describe_type, plain_cast, text

if TYPE_CHECKING:
    from mason.pipeline.sql.local.expressions import Expressions

Special = Callable[[Sequence[Any], "Expressions"], Typed]


def _array(arguments: Sequence[Any], within: Expressions) -> Typed:
    nodes, kind = within.alike(arguments)
    if not nodes:
        raise unlike_spark("list of nothing")
    return Typed(plain_cast(exp.Array(expressions=nodes), pa.list_(kind)), pa.list_(kind))


def _struct(arguments: Sequence[Any], within: Expressions) -> Typed:
    names = [
        each.alias_or_name if isinstance(each, exp.Alias | exp.Column | exp.Dot) else f"col{place}"
        for place, each in enumerate(arguments, 1)
    ]
    return _build_struct(names, [within.type_expression(each.unalias()) for each in arguments])


def _build_named_struct(arguments: Sequence[Any], within: Expressions) -> Typed:
    names = arguments[::2]
    if not names or any(not isinstance(each, exp.Literal) for each in names):
        raise unlike_spark('"named_struct" with names that are no texts')
    return _build_struct([each.name for each in names], [within.type_expression(each) for each in arguments[1::2]])


def _build_struct(names: Sequence[str], values: Sequence[Typed]) -> Typed:
    kind = pa.struct([(name, each.kind) for name, each in zip(names, values, strict=True)])
    fields = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=each.node)
        for name, each in zip(names, values, strict=True)
    ]
    return Typed(plain_cast(exp.Struct(expressions=fields), kind), kind)


def _map(arguments: Sequence[Any], within: Expressions) -> Typed:
    keys, key = within.alike(arguments[::2])
    items, item = within.alike(arguments[1::2])
    if not keys or len(keys) != len(items):
        raise unlike_spark("map of nothing")
    return Typed(call("map", exp.Array(expressions=keys), exp.Array(expressions=items)), pa.map_(key, item))


def _map_from_arrays(arguments: Sequence[Any], within: Expressions) -> Typed:
    keys, items = (_list(within.type_expression(each)) for each in arguments)
    return Typed(call("map", keys.node, items.node), pa.map_(keys.kind.value_type, items.kind.value_type))


def _size(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (within.type_expression(each) for each in arguments)
    if value.kind == st.NOTHING:
        return Typed(plain_cast(exp.Null(), st.INT), st.INT)
    if not st.is_list(value.kind) and not st.is_map(value.kind):
        raise does_not_fit(f"A {describe_type(value.kind)} has no size")
    name = "cardinality" if st.is_map(value.kind) else "len"
    return Typed(plain_cast(call(name, value.node), st.INT), st.INT)


def _list(value: Typed) -> Typed:
    if not st.is_list(value.kind):
        raise does_not_fit(f"A {describe_type(value.kind)} is not a list")
    return value


def _map_value(value: Typed) -> Typed:
    if not st.is_map(value.kind):
        raise does_not_fit(f"A {describe_type(value.kind)} is not a map")
    return value


def _element(of_list: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        first, key = arguments
        value = within.type_expression(first)
        if st.is_map(value.kind) and of_list != "spark_get":
            return Typed(
                call("map_extract_value", value.node, within.as_kind(key, value.kind.key_type)), value.kind.item_type
            )
        return Typed(call(of_list, _list(value).node, within.as_kind(key, st.LONG)), value.kind.value_type)

    return build


def _with_element(name: str, gives: pa.DataType | None = None) -> Special:
    """A function of a list and a value such as are in it, that gives such a list unless a type is given."""

    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        first, second = (within.type_expression(each) for each in arguments)
        inner = st.common(_list(first).kind.value_type, second.kind)
        if inner is None or _text_beside_other(first.kind.value_type, second.kind):
            raise does_not_fit(
                f"A list of {describe_type(first.kind.value_type)} holds no {describe_type(second.kind)}"
            )
        node = call(name, convert_value(first, pa.list_(inner)), convert_value(second, inner))
        return Typed(node if gives is None else plain_cast(node, gives), gives or pa.list_(inner))

    return build


def _text_beside_other(one: pa.DataType, other: pa.DataType) -> bool:
    return (one == st.TEXT) != (other == st.TEXT) and st.NOTHING not in (one, other)


def _of_list(name: str, *more: str) -> Special:
    """A function of a list that gives such a list."""

    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (_list(within.type_expression(each)) for each in arguments)
        _check_order(name, value)
        return Typed(call(name, value.node, *map(text, more)), value.kind)

    return build


def _check_order(name: str, value: Typed) -> None:
    """See that elements have the same order in both: inside of lists and structs DuckDB has nulls last."""
    if name in ("list_sort", "list_min", "list_max") and pa.types.is_nested(value.kind.value_type):
        raise unlike_spark(f"order of the elements of {describe_type(value.kind)}")


def _distinct(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (_list(within.type_expression(each)) for each in arguments)
    return Typed(call("spark_distinct", one_zero(value.node, value.kind)), value.kind)


def _of_element(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (_list(within.type_expression(each)) for each in arguments)
        _check_order(name, value)
        return Typed(call(name, value.node), value.kind.value_type)

    return build


def _of_two(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        one, other = (_list(within.type_expression(each)) for each in arguments)
        kind = one.kind if other.kind.value_type == st.NOTHING else other.kind
        if one.kind.value_type not in (kind.value_type, st.NOTHING):
            raise does_not_fit(
                f"Lists of {describe_type(one.kind.value_type)} and {describe_type(other.kind.value_type)} do not mix"
            )
        return Typed(call(name, *(one_zero(convert_value(each, kind), kind) for each in (one, other))), kind)

    return build


def _sort_array(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, *ascending = arguments
    value = _list(within.type_expression(first))
    if ascending and not isinstance(ascending[0], exp.Boolean):
        raise unlike_spark('"sort_array" by an order that is not true or false')
    _check_order("list_sort", value)
    up = not ascending or bool(ascending[0].this)
    order = ("ASC", "NULLS FIRST") if up else ("DESC", "NULLS LAST")
    return Typed(call("list_sort", value.node, *map(text, order)), value.kind)


def _array_join(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, *rest = arguments
    value = within.type_expression(first)
    if value.kind != pa.list_(st.TEXT):
        raise unlike_spark(f'"array_join" of {describe_type(value.kind)}')
    texts = [within.as_kind(each, st.TEXT) for each in rest]
    return Typed(call("spark_join_all" if len(texts) == 2 else "spark_join", value.node, *texts), st.TEXT)


def _array_repeat(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, count = arguments
    value = within.type_expression(first)
    return Typed(call("spark_repeat", value.node, within.as_kind(count, st.LONG)), pa.list_(value.kind))


def _slice(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, start, length = arguments
    value = _list(within.type_expression(first))
    places = [within.as_kind(each, st.LONG) for each in (start, length)]
    return Typed(call("spark_slice", value.node, *places), value.kind)


def _flatten(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (_list(within.type_expression(each)) for each in arguments)
    return Typed(call("spark_flatten", value.node), _list(Typed(None, value.kind.value_type)).kind)


def _sequence(arguments: Sequence[Any], within: Expressions) -> Typed:
    nodes, kind = within.alike(arguments)
    if not st.is_integer(kind) or len(nodes) != 2:
        raise unlike_spark(f'"sequence" of {describe_type(kind)} in steps')
    return Typed(plain_cast(call("spark_sequence", *nodes), pa.list_(kind)), pa.list_(kind))


def _reverse(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (within.type_expression(each) for each in arguments)
    if st.is_list(value.kind):
        return Typed(call("list_reverse", value.node), value.kind)
    return Typed(call("spark_reverse", convert_value(value, st.TEXT)), st.TEXT)


def _of_map(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (_map_value(within.type_expression(each)) for each in arguments)
        entry = pa.struct([("key", value.kind.key_type), ("value", value.kind.item_type)])
        inner = {"map_keys": value.kind.key_type, "map_values": value.kind.item_type, "map_entries": entry}[name]
        return Typed(call(name, value.node), pa.list_(inner))

    return build


def _has_key(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, key = arguments
    value = _map_value(within.type_expression(first))
    return Typed(call("spark_has_key", value.node, within.as_kind(key, value.kind.key_type)), st.BOOL)


def _transform(arguments: Sequence[Any], within: Expressions) -> Typed:
    value, body, variables = _with_variables(arguments, within)
    return Typed(call("list_transform", value.node, _lambda(body.node, variables)), pa.list_(body.kind))


def _filter(arguments: Sequence[Any], within: Expressions) -> Typed:
    value, body, variables = _with_variables(arguments, within)
    return Typed(call("list_filter", value.node, _lambda(convert_value(body, st.BOOL), variables)), value.kind)


def _with_variables(arguments: Sequence[Any], within: Expressions) -> tuple[Typed, Typed, Sequence[Any]]:
    first, function = arguments
    if not isinstance(function, exp.Lambda) or len(function.expressions) != 1:
        raise unlike_spark("function with the place of the element")
    value = _list(within.type_expression(first))
    (variable,) = function.expressions
    body = within.inside({variable.name.lower(): value.kind.value_type}).type_expression(function.this)
    return value, body, function.expressions


def _lambda(body: Any, variables: Sequence[Any]) -> Any:
    return exp.Lambda(this=body, expressions=list(variables))


SPECIAL: Mapping[str, Special] = {
    "array": _array,
    "struct": _struct,
    "named_struct": _build_named_struct,
    "map": _map,
    "map_from_arrays": _map_from_arrays,
    **dict.fromkeys(("size", "cardinality", "array_size"), _size),
    "element_at": _element("spark_element_at"),
    "try_element_at": _element("spark_try_element_at"),
    "get": _element("spark_get"),
    "array_contains": _with_element("spark_list_contains", st.BOOL),
    "array_position": _with_element("spark_list_position", st.LONG),
    "array_remove": _with_element("spark_remove"),
    "array_append": _with_element("spark_append"),
    "array_prepend": _with_element("spark_prepend"),
    "array_compact": _of_list("spark_compact"),
    "array_distinct": _distinct,
    "array_sort": _of_list("list_sort", "ASC", "NULLS LAST"),
    "sort_array": _sort_array,
    "array_min": _of_element("list_min"),
    "array_max": _of_element("list_max"),
    "array_union": _of_two("spark_union"),
    "array_intersect": _of_two("spark_intersect"),
    "array_except": _of_two("spark_except"),
    "array_join": _array_join,
    "array_repeat": _array_repeat,
    "slice": _slice,
    "flatten": _flatten,
    "sequence": _sequence,
    "reverse": _reverse,
    **{name: _of_map(name) for name in ("map_keys", "map_values", "map_entries")},
    "map_contains_key": _has_key,
    "transform": _transform,
    "filter": _filter,
}
