"""The functions of Spark SQL that the local engine has: what they take, what they give, and who does it in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from mason.pipeline.sql.local import aggregates, arithmetic, list_functions, time_functions
from mason.pipeline.sql.local import spark_types as st
from mason.pipeline.sql.local.patterns import with_pattern
from mason.pipeline.sql.local.refusal import does_not_fit, unlike_spark
from mason.pipeline.sql.local.values import (
    Typed,
    build_stated_cast,
    call,
    convert_value,
    describe_type,
    number,
    plain_cast,
    text,
)

if TYPE_CHECKING:
    from mason.pipeline.sql.local.expressions import Expressions

Special = Callable[[Sequence[Any], "Expressions"], Typed]

over_rows = aggregates.over_rows
of_some_rows = aggregates.of_some_rows
within_group = aggregates.within_group


@dataclass(frozen=True)
class Plain:
    """A function whose arguments have fixed types, and what may stand for those that are left out."""

    name: str
    takes: Sequence[pa.DataType]
    gives: pa.DataType
    defaults: Sequence[Any] = ()

    def make(self, arguments: Sequence[Any], within: Expressions) -> Typed:
        missing = len(self.takes) - len(arguments)
        if missing < 0 or missing > len(self.defaults):
            raise does_not_fit(f"It takes {len(self.takes)} arguments, and has {len(arguments)}")
        nodes = [within.as_kind(node, kind) for node, kind in zip(arguments, self.takes, strict=False)]
        defaults = [each.copy() for each in self.defaults[len(self.defaults) - missing :]] if missing else []
        return Typed(plain_cast(call(self.name, *nodes, *defaults), self.gives), self.gives)


def call_function(name: str, arguments: Sequence[Any], within: Expressions) -> Typed:
    """Return the call of a function.

    Raises:
        BadQuery: the local engine does not have it as Spark has.
    """
    if name in _PLAIN:
        return _PLAIN[name].make(arguments, within)
    special = _SPECIAL.get(name)
    if special is not None:
        try:
            return special(arguments, within)
        except (ValueError, IndexError) as error:  # the arguments are others than it unpacks
            raise unlike_spark(f'"{name}" with {len(arguments)} arguments') from error
    return aggregates.call_aggregate(name, arguments, within)


def _length(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (within.type_expression(each) for each in arguments)
    name = "octet_length" if value.kind == st.BINARY else "length"
    node = value.node if value.kind == st.BINARY else convert_value(value, st.TEXT)
    return Typed(plain_cast(call(name, node), st.INT), st.INT)


def _concat(arguments: Sequence[Any], within: Expressions) -> Typed:
    values = [within.type_expression(each) for each in arguments]
    if any(st.is_list(each.kind) for each in values):
        nodes, kind = within.alike(arguments)
        return Typed(_fold_calls("spark_list_concat", nodes), kind)
    if any(each.kind == st.BINARY for each in values):
        raise unlike_spark('"concat" of binary values')
    nodes = [convert_value(each, st.TEXT) for each in values]
    joined = nodes[0]
    for each in nodes[1:]:
        joined = exp.DPipe(this=joined, expression=each)
    return Typed(exp.Paren(this=joined), st.TEXT)


def _concat_ws(arguments: Sequence[Any], within: Expressions) -> Typed:
    separator, *rest = arguments
    values = [within.type_expression(each) for each in rest]
    if len(values) == 1 and values[0].kind == pa.list_(st.TEXT):
        joined = call("array_to_string", values[0].node, within.as_kind(separator, st.TEXT))
        return Typed(exp.Coalesce(this=joined, expressions=[text("")]), st.TEXT)
    if not values or any(st.is_list(each.kind) for each in values):
        raise unlike_spark('"concat_ws" of a list beside others')
    nodes = [convert_value(each, st.TEXT) for each in values]
    return Typed(call("concat_ws", within.as_kind(separator, st.TEXT), *nodes), st.TEXT)


def _fold_calls(name: str, nodes: Sequence[Any]) -> Any:
    whole = nodes[0]
    for each in nodes[1:]:
        whole = call(name, whole, each)
    return whole


def _btrim(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, *rest = (within.as_kind(each, st.TEXT) for each in arguments)
    return Typed(call("trim", first, *(rest or [text(" ")])), st.TEXT)


def _trim_side(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        *characters, value = (within.as_kind(each, st.TEXT) for each in arguments)  # in Spark the text comes last
        (what,) = characters or [text(" ")]
        return Typed(call(name, value, what), st.TEXT)

    return build


def _by_pattern(name: str, gives: pa.DataType) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        first, pattern = (within.as_kind(each, st.TEXT) for each in arguments)
        return Typed(plain_cast(with_pattern(name, first, pattern), gives), gives)

    return build


def _split(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, pattern = (within.as_kind(each, st.TEXT) for each in arguments)
    return Typed(with_pattern("str_split_regex", first, pattern), pa.list_(st.TEXT))


def _regexp_replace(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, pattern, replacement = arguments
    if not isinstance(replacement, exp.Literal) or not replacement.is_string or "\\" in replacement.name:
        raise unlike_spark('"regexp_replace" with a replacement that is not plain text')
    into = _groups_of_duckdb(replacement.name)
    nodes = [within.as_kind(first, st.TEXT), within.as_kind(pattern, st.TEXT)]
    return Typed(with_pattern("regexp_replace", *nodes, text(into), text("g")), st.TEXT)


def _groups_of_duckdb(replacement: str) -> str:
    """A replacement with \\1 for $1."""
    parts = replacement.split("$")
    if any(not part[:1].isdigit() or part[1:2].isdigit() for part in parts[1:]):
        raise unlike_spark('"regexp_replace" with a dollar that names no group from 0 to 9')
    return "\\".join(parts)


def _regexp_extract(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        first, pattern, *group = arguments
        if group and not group[0].is_int:
            raise unlike_spark(f'"{name}" with a group that is not a number')
        nodes = [within.as_kind(first, st.TEXT), within.as_kind(pattern, st.TEXT), *(group or [number(1)])]
        return Typed(with_pattern(name, *nodes), pa.list_(st.TEXT) if name.endswith("all") else st.TEXT)

    return build


def _sha2(arguments: Sequence[Any], within: Expressions) -> Typed:
    value, bits = arguments
    if not bits.is_int or int(bits.name) not in (0, 256):
        raise unlike_spark('"sha2" of other than 256 bits')
    return Typed(call("sha256", within.as_kind(value, st.BINARY)), st.TEXT)


def _hex(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = (within.type_expression(each) for each in arguments)
    node = value.node if value.kind in (st.TEXT, st.BINARY) else convert_value(value, st.LONG)
    return Typed(call("hex", node), st.TEXT)


def _same(name: str) -> Special:
    """A function that gives what it takes: a number."""

    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (within.type_expression(each) for each in arguments)
        kind = value.kind if st.is_number(value.kind) else st.DOUBLE
        return Typed(plain_cast(call(name, convert_value(value, kind)), kind), kind)

    return build


def _to_whole(name: str) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = (within.type_expression(each) for each in arguments)
        kind = st.round_decimal_type(value.kind, 0) if st.is_decimal(value.kind) else st.LONG
        node = call(name, value.node if st.is_number(value.kind) else convert_value(value, st.DOUBLE))
        exact = st.is_decimal(value.kind) or st.is_integer(value.kind)
        return Typed(plain_cast(node if exact else call("spark_to_long", node), kind), kind)

    return build


def _round(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, *places = arguments
    value, scale = within.type_expression(first), _places(places)
    digits = number(scale) if scale >= 0 else exp.Neg(this=number(-scale))
    if st.is_decimal(value.kind):
        kind = st.round_decimal_type(value.kind, scale)
        return Typed(plain_cast(call("round", value.node, digits), kind), kind)
    if st.is_integer(value.kind):
        exact = plain_cast(value.node, pa.decimal128(38, 0))
        return Typed(plain_cast(call("round", exact, digits), value.kind), value.kind)
    kind = value.kind if value.kind == st.FLOAT else st.DOUBLE
    node = convert_value(value, kind)
    if kind == st.FLOAT:  # by its digits: 0.1 as a double is a little more
        node = plain_cast(plain_cast(node, st.TEXT), st.DOUBLE)
    return Typed(plain_cast(call("spark_round", node, digits), kind), kind)


def _places(places: Sequence[Any]) -> int:
    if not places:
        return 0
    plain = places[0].this if isinstance(places[0], exp.Neg) else places[0]
    if not plain.is_int:
        raise unlike_spark('"round" to a number of digits that is not a number in the statement')
    return -int(plain.name) if plain is not places[0] else int(plain.name)


def _pmod(arguments: Sequence[Any], within: Expressions) -> Typed:
    nodes, kind = within.alike(arguments)
    if not st.is_integer(kind):
        raise unlike_spark(f'"pmod" of {describe_type(kind)}')
    return Typed(plain_cast(call("spark_pmod", *nodes), kind), kind)


def _mod(arguments: Sequence[Any], within: Expressions) -> Typed:
    left, right = (within.type_expression(each) for each in arguments)
    return arithmetic.build_operation(exp.Mod, left, right)


def _alike(name: str) -> Special:
    """A function that gives one of what it takes."""

    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        nodes, kind = within.alike(arguments)
        if len(nodes) < (1 if name == "coalesce" else 2) or (pa.types.is_nested(kind) and name != "coalesce"):
            raise unlike_spark(f'"{name}" of {describe_type(kind)}')
        return Typed(call(name, *nodes), kind)

    return build


def _nullif(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, second = arguments
    value = within.type_expression(first.copy())
    same = within.condition(exp.EQ(this=first, expression=second))
    nothing = exp.If(this=same, true=plain_cast(exp.Null(), value.kind))
    return Typed(exp.Case(ifs=[nothing], default=value.node), value.kind)


def _nvl2(arguments: Sequence[Any], within: Expressions) -> Typed:
    first, yes, no = arguments
    return within.type_expression(
        exp.If(this=exp.Not(this=exp.Is(this=first, expression=exp.Null())), true=yes, false=no)
    )


def _is_null(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = arguments
    return within.type_expression(exp.Is(this=value, expression=exp.Null()))


def _is_not_null(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = arguments
    return within.type_expression(exp.Not(this=exp.Is(this=value, expression=exp.Null())))


def _log(arguments: Sequence[Any], within: Expressions) -> Typed:
    nodes = [within.as_kind(each, st.DOUBLE) for each in arguments]
    return Typed(call("spark_ln" if len(nodes) == 1 else "spark_log", *nodes), st.DOUBLE)


def _zero_if_null(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = arguments
    return call_function("coalesce", [value, number(0)], within)


def _null_if_zero(arguments: Sequence[Any], within: Expressions) -> Typed:
    (value,) = arguments
    return call_function("nullif", [value, number(0)], within)


def _try_divide(arguments: Sequence[Any], within: Expressions) -> Typed:
    over, under = arguments
    zero = exp.EQ(this=under.copy(), expression=number(0))
    return within.type_expression(exp.If(this=zero, true=exp.Null(), false=exp.Div(this=over, expression=under)))


def _cast_to(kind: pa.DataType) -> Special:
    def build(arguments: Sequence[Any], within: Expressions) -> Typed:
        (value,) = arguments
        return Typed(build_stated_cast(within.as_kind(value, kind), kind), kind)

    return build


_T, _I, _L, _D, _B = st.TEXT, st.INT, st.LONG, st.DOUBLE, st.BOOL
_ONE_DOUBLE = ("exp", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "degrees", "radians")

_PLAIN: Mapping[str, Plain] = {
    **dict.fromkeys(("upper", "ucase"), Plain("spark_upper", [_T], _T)),
    **dict.fromkeys(("lower", "lcase"), Plain("spark_lower", [_T], _T)),
    "initcap": Plain("spark_initcap", [_T], _T),
    **dict.fromkeys(("substr", "substring"), Plain("spark_substr", [_T, _L, _L], _T, [number(2**31 - 1)])),
    "left": Plain("spark_left", [_T, _L], _T),
    "right": Plain("spark_right", [_T, _L], _T),
    "instr": Plain("strpos", [_T, _T], _I),
    **dict.fromkeys(("locate", "position"), Plain("spark_locate", [_T, _T, _L], _I, [number(1)])),
    "replace": Plain("replace", [_T, _T, _T], _T, [text("")]),
    "translate": Plain("translate", [_T, _T, _T], _T),
    "lpad": Plain("spark_lpad", [_T, _L, _T], _T, [text(" ")]),
    "rpad": Plain("spark_rpad", [_T, _L, _T], _T, [text(" ")]),
    "repeat": Plain("repeat", [_T, _L], _T),
    "split_part": Plain("spark_split_part", [_T, _T, _L], _T),
    "substring_index": Plain("spark_substring_index", [_T, _T, _L], _T),
    "startswith": Plain("starts_with", [_T, _T], _B),
    "endswith": Plain("ends_with", [_T, _T], _B),
    "contains": Plain("contains", [_T, _T], _B),
    "ascii": Plain("ascii", [_T], _I),
    **dict.fromkeys(("chr", "char"), Plain("spark_chr", [_L], _T)),
    "md5": Plain("md5", [st.BINARY], _T),
    **dict.fromkeys(("sha", "sha1"), Plain("sha1", [st.BINARY], _T)),
    "base64": Plain("to_base64", [st.BINARY], _T),
    "unbase64": Plain("from_base64", [_T], st.BINARY),
    "levenshtein": Plain("levenshtein", [_T, _T], _I),
    **{name: Plain(name, [_D], _D) for name in _ONE_DOUBLE},
    **dict.fromkeys(("sign", "signum"), Plain("spark_sign", [_D], _D)),
    "sqrt": Plain("spark_sqrt", [_D], _D),
    "ln": Plain("spark_ln", [_D], _D),
    "log10": Plain("spark_log10", [_D], _D),
    "log2": Plain("spark_log2", [_D], _D),
    **dict.fromkeys(("power", "pow"), Plain("pow", [_D, _D], _D)),
    "atan2": Plain("atan2", [_D, _D], _D),
    "pi": Plain("pi", [], _D),
    "isnan": Plain("spark_isnan", [_D], _B),
    **time_functions.plain(Plain),
}

_SPECIAL: Mapping[str, Special] = {
    **dict.fromkeys(("length", "char_length", "character_length", "len"), _length),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "btrim": _btrim,
    "ltrim": _trim_side("ltrim"),
    "rtrim": _trim_side("rtrim"),
    **dict.fromkeys(("rlike", "regexp", "regexp_like"), _by_pattern("regexp_matches", _B)),
    "regexp_count": _by_pattern("spark_regexp_count", _I),
    "regexp_substr": _by_pattern("spark_regexp_substr", _T),
    "split": _split,
    "regexp_replace": _regexp_replace,
    "regexp_extract": _regexp_extract("regexp_extract"),
    "regexp_extract_all": _regexp_extract("regexp_extract_all"),
    "sha2": _sha2,
    "hex": _hex,
    "abs": _same("abs"),
    **dict.fromkeys(("ceil", "ceiling"), _to_whole("ceil")),
    "floor": _to_whole("floor"),
    "round": _round,
    "pmod": _pmod,
    "mod": _mod,
    "greatest": _alike("greatest"),
    "least": _alike("least"),
    **dict.fromkeys(("coalesce", "nvl", "ifnull"), _alike("coalesce")),
    "nullif": _nullif,
    "log": _log,
    "zeroifnull": _zero_if_null,
    "nullifzero": _null_if_zero,
    "try_divide": _try_divide,
    "nvl2": _nvl2,
    "isnull": _is_null,
    "isnotnull": _is_not_null,
    "boolean": _cast_to(st.BOOL),
    "tinyint": _cast_to(st.BYTE),
    "smallint": _cast_to(st.SHORT),
    "int": _cast_to(st.INT),
    "bigint": _cast_to(st.LONG),
    "float": _cast_to(st.FLOAT),
    "double": _cast_to(st.DOUBLE),
    "string": _cast_to(st.TEXT),
    "binary": _cast_to(st.BINARY),
    "date": _cast_to(st.DATE),
    "timestamp": _cast_to(st.INSTANT),
    **time_functions.SPECIAL,
    **list_functions.SPECIAL,
}
