"""What a function or an operator makes of the sizes of its arguments: the rules of `value_sizes`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlglot import exp

_LONGEST_TEXT = 1000
"""Constant texts up to this length are kept: a count or a format may be put together of several."""

_MOST_ROUNDS = 10_000
_ELEMENT = 8
NUMBER = 16
_SPLIT = 16
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2419200, "year": 31536000}
_WIDTH = re.compile(r"%(?:\d+\$)?[-#+ 0,(<]*(\d*)(?:\.(\d+))?")


@dataclass(frozen=True, kw_only=True)
class Size:
    """What constants say of a value. Without numbers, it may be any."""

    bytes: float = 1
    elements: float = 1
    low: float | None = None
    high: float | None = None
    text: str | None = None
    widths: float = 0
    """How many bytes it asks for where it is the text of a format, as `%9d` does."""
    is_known: bool = True
    """Whether the bytes are all that there may be; of a column they are the least."""

    @property
    def count(self) -> float:
        """How often something is done that this says the number of; once where it is not known."""
        return 1 if self.high is None else max(self.high, 0)


UNKNOWN = Size(is_known=False)
Columns = Mapping[str, Size]
Sizes = Sequence[Size]


def function_name(node: Any) -> str:
    """Return what Spark calls a function, whether sqlglot has a class for it or keeps it as it is written."""
    if isinstance(node, exp.Anonymous):
        name = str(node.name)
    else:
        name = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__
    return _SPARK_NAMES.get(name.casefold(), name.casefold())


def name_in_statement(node: Any) -> str:
    if isinstance(node, exp.Pad):
        return "lpad" if node.args.get("is_left") else "rpad"
    return "||" if isinstance(node, exp.DPipe) else function_name(node)


def arguments_of(node: Any) -> list[Any]:
    found = []
    for key in node.arg_types:
        value = node.args.get(key)
        found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, exp.Expression)]
    return [each for each in found if not isinstance(each, exp.DataType | exp.Var)]


def constant_size(text: str) -> Size:
    try:
        number = float(text)
        number = number if math.isfinite(number) else math.nan
    except ValueError:
        number = math.nan
    low = None if math.isnan(number) else number
    constant = text if len(text) <= _LONGEST_TEXT else None
    size = len(text.encode("utf-8", "surrogatepass"))
    return Size(bytes=size, low=low, high=low, text=constant, widths=_widths_of(text))


def _widths_of(text: str) -> float:
    return sum(max(float(wide or 0), float(digits or 0)) for wide, digits in _WIDTH.findall(text))


def parameter_size(value: Any) -> Size:
    if isinstance(value, list | tuple):
        return _sum([parameter_size(each) for each in value])
    return UNKNOWN if value is None else constant_size(str(value))


def either_size(sizes: Sizes) -> Size:
    """One of several values, nobody knows which."""
    low, high = _ends_of(sizes)
    return Size(
        bytes=max(each.bytes for each in sizes),
        elements=max(each.elements for each in sizes),
        low=low,
        high=high,
        widths=max(each.widths for each in sizes),
        is_known=all(each.is_known for each in sizes),
    )


def _ends_of(sizes: Sizes) -> tuple[float | None, float | None]:
    lows = [each.low for each in sizes if each.low is not None and each.high is not None]
    highs = [each.high for each in sizes if each.low is not None and each.high is not None]
    return min(lows, default=None), max(highs, default=None)


def _sum(sizes: Sizes) -> Size:
    """A list, a map or a struct; its numbers are those of its elements, which may be taken out of it again."""
    low, high = _ends_of(sizes)
    known = all(each.is_known for each in sizes)
    return Size(bytes=sum(each.bytes for each in sizes), elements=len(sizes), low=low, high=high, is_known=known)


def _size_of_concat(sizes: Sizes) -> Size:
    texts = [each.text for each in sizes if each.text is not None]
    low, high = (None, None) if texts else _ends_of(sizes)
    elements, widths = sum(each.elements for each in sizes), sum(each.widths for each in sizes)
    whole = replace(_sum(sizes), elements=elements, low=low, high=high, widths=widths)
    if len(texts) == len(sizes) and sum(map(len, texts)) <= _LONGEST_TEXT:
        return replace(constant_size("".join(texts)), elements=whole.elements)
    return whole


def _size_of_concat_ws(sizes: Sizes) -> Size:
    separator, *others = sizes
    elements = sum(each.elements for each in others)
    return Size(bytes=sum(each.bytes for each in others) + elements * separator.bytes)


def _numbers(compute: Callable[..., float]) -> Callable[[Sizes], Size]:
    """A number that is computed of numbers: it lies between what their ends give."""

    def rule(sizes: Sizes) -> Size:
        ends = [(each.low, each.high) for each in sizes]
        if any(low is None or high is None for low, high in ends):
            return Size(bytes=NUMBER)
        one, other = ends[0], ends[1] if len(ends) > 1 else (0.0, 0.0)
        try:
            found = [float(compute(first, second)) for first in one for second in other]
        except (ArithmeticError, TypeError, ValueError):  # a complex number is none, too
            return Size(bytes=NUMBER)
        if any(map(math.isnan, found)):
            return Size(bytes=NUMBER)
        return Size(bytes=NUMBER, low=min(found), high=max(found))

    return rule


def _length(sizes: Sizes) -> Size:
    value = sizes[0]
    return Size(bytes=NUMBER, low=0, high=max(value.bytes, value.elements)) if value.is_known else Size(bytes=NUMBER)


def _size_of_pad(sizes: Sizes) -> Size:
    return Size(bytes=sizes[1].count) if len(sizes) > 1 and sizes[1].high is not None else sizes[0]


def _size_of_repeat(sizes: Sizes) -> Size:
    value, times = sizes[0], sizes[-1].count
    return Size(bytes=max(value.bytes, 1) * times, elements=times, is_known=value.is_known)


def _series(sizes: Sizes) -> Size:
    """`sequence`, of numbers or of days and times."""
    start, stop, *steps = sizes
    step = steps[0] if steps else Size(low=1, high=1)
    ends = [_moment(each) for each in (start, stop)]
    if ends[0] is not None and ends[1] is not None:
        span, wide = abs(ends[1] - ends[0]), step.high or _SECONDS["day"]
        low = high = None
    elif None in (start.low, start.high, stop.low, stop.high):
        return Size(bytes=_ELEMENT, is_known=False)
    else:
        assert start.low is not None and start.high is not None and stop.low is not None and stop.high is not None
        span = max(abs(stop.high - start.low), abs(stop.low - start.high))
        low, high = _ends_of([start, stop])
        wide = step.high if step.high is not None else 1
    count = span / abs(wide) + 1 if wide else 1
    return Size(bytes=count * _ELEMENT, elements=count, low=low, high=high)


def _moment(size: Size) -> float | None:
    """Return the seconds of a constant day or time."""
    try:
        found = datetime.fromisoformat(size.text or "").replace(tzinfo=None)
    except ValueError:
        return None
    return (found - datetime.min).total_seconds() if size.low is None else None


def _interval(node: Any) -> Callable[[Sizes], Size]:
    seconds = _SECONDS.get(str(node.args.get("unit") or "").casefold().rstrip("s"), 1)

    def rule(sizes: Sizes) -> Size:
        number = sizes[0].high
        return Size(bytes=NUMBER) if number is None else Size(bytes=NUMBER, low=number * seconds, high=number * seconds)

    return rule


def _size_of_replace(sizes: Sizes) -> Size:
    value, replacement = sizes[0], sizes[2] if len(sizes) > 2 else Size(bytes=0)
    return Size(bytes=value.bytes + (value.bytes + 1) * replacement.bytes if replacement.bytes > 1 else value.bytes)


def _size_of_format(sizes: Sizes) -> Size:
    return Size(bytes=sizes[0].widths + sum(each.bytes for each in sizes))


def _with_decimals(sizes: Sizes) -> Size:
    return Size(bytes=NUMBER + sum(each.count for each in sizes[1:]) + sum(each.bytes for each in sizes))


def _size_of_insert(sizes: Sizes) -> Size:
    whole, place = _sum(sizes), abs(sizes[1].high or 0) if len(sizes) > 1 else 0
    return replace(whole, bytes=whole.bytes + place * _ELEMENT, elements=sizes[0].elements + place)


def _times(factor: int) -> Callable[[Sizes], Size]:
    return lambda sizes: Size(bytes=sizes[0].bytes * factor, elements=sizes[0].elements, is_known=sizes[0].is_known)


def _split(sizes: Sizes) -> Size:
    value = sizes[0]
    return Size(bytes=value.bytes * _SPLIT, elements=value.bytes) if value.is_known else value


def _array_joined(sizes: Sizes) -> Size:
    value, between = sizes[0], sizes[1] if len(sizes) > 1 else Size(bytes=0)
    return Size(bytes=value.bytes + value.elements * between.bytes)


def _size_of_sketch(sizes: Sizes) -> Size:
    """`count_min_sketch` has 2 / eps counters in a row, and a row for each halving of what confidence leaves."""
    eps, confidence = (each.low for each in sizes[1:3]) if len(sizes) > 2 else (None, None)
    doubt = 1 - confidence if confidence is not None else 1
    rows = math.ceil(-math.log2(doubt)) if 0 < doubt < 1 else 1
    return Size(bytes=_ELEMENT * 2 / eps * rows if eps is not None and eps > 0 else NUMBER)


Apply = Callable[..., Size]


def _element_of(values: Size) -> Size:
    return Size(bytes=values.bytes / max(values.elements, 1), low=values.low, high=values.high, is_known=False)


def _size_of_transform(sizes: Sizes, apply: Apply, limit: int) -> Size:
    values = sizes[0]
    one = apply(_element_of(values), Size(bytes=NUMBER, low=0, high=values.elements))
    return Size(bytes=values.elements * one.bytes, elements=values.elements, is_known=values.is_known)


def _size_of_aggregate(sizes: Sizes, apply: Apply, limit: int) -> Size:
    """What a fold may become: it is done as often as there are elements, until it grows no more."""
    values, found = sizes[0], sizes[1]
    for _ in range(int(min(values.elements, _MOST_ROUNDS))):
        grown = apply(found, _element_of(values))
        if grown.bytes <= found.bytes or grown.bytes > limit:
            return grown
        found = grown
    return found


LAMBDAS: Mapping[str, Callable[[Sizes, Apply, int], Size]] = {
    "transform": _size_of_transform,
    "zip_with": lambda sizes, apply, limit: _size_of_transform([either_size(sizes[:2])], apply, limit),
    "aggregate": _size_of_aggregate,
    "reduce": _size_of_aggregate,
}

_SPARK_NAMES = {
    "generate_series": "sequence",
    "format": "format_string",
    "array_to_string": "array_join",
    "regexp_split": "split",
    "to_base64": "base64",
    "bitwiseleftshift": "shiftleft",
    "json_format": "to_json",
    "pow": "power",
    "arraysize": "size",
    "array_size": "size",
}


def _size_of_reverse(sizes: Sizes) -> Size:
    value = sizes[0]
    return replace(value, low=None, high=None, text=None) if value.text is not None else value


def _small(sizes: Sizes) -> Size:
    return Size(bytes=NUMBER)


_same_number = _numbers(lambda one, _: one)
_RULES: Mapping[str, Callable[[Sizes], Size]] = {
    "repeat": _size_of_repeat,
    "array_repeat": _size_of_repeat,
    "space": lambda sizes: Size(bytes=sizes[0].count),
    "randstr": lambda sizes: Size(bytes=sizes[0].count),
    "pad": _size_of_pad,
    "rpad": _size_of_pad,
    "lpad": _size_of_pad,
    "sequence": _series,
    "concat": _size_of_concat,
    "dpipe": _size_of_concat,
    "concat_ws": _size_of_concat_ws,
    "array_join": _array_joined,
    "replace": _size_of_replace,
    "regexp_replace": _size_of_replace,
    "format_string": _size_of_format,
    "printf": _size_of_format,
    "format_number": _with_decimals,
    "array_insert": _size_of_insert,
    **dict.fromkeys(("split", "regexp_extract_all", "sentences", "str_to_map", "json_object_keys"), _split),
    "count_min_sketch": _size_of_sketch,
    "hex": _times(2),
    "base64": _times(2),
    "encode": _times(4),
    "url_encode": _times(3),
    "to_json": _times(6),
    **dict.fromkeys(("array", "struct", "named_struct", "map", "varmap", "arrays_zip", "map_concat", "tuple"), _sum),
    **dict.fromkeys(("array_append", "array_prepend", "array_union", "map_from_arrays", "overlay"), _size_of_concat),
    **dict.fromkeys(
        ("length", "char_length", "character_length", "len", "octet_length", "size", "cardinality"), _length
    ),
    **dict.fromkeys(("md5", "sha", "sha1", "sha2", "crc32", "hash", "xxhash64", "instr", "locate", "position"), _small),
    **dict.fromkeys(
        ("count", "sum", "avg", "levenshtein", "ascii", "stddev", "variance", "approx_count_distinct"), _small
    ),
    **dict.fromkeys(("add", "try_add", "safe_add"), _numbers(lambda one, other: one + other)),
    **dict.fromkeys(("sub", "try_subtract", "safe_subtract"), _numbers(lambda one, other: one - other)),
    **dict.fromkeys(("mul", "try_multiply", "safe_multiply"), _numbers(lambda one, other: one * other)),
    **dict.fromkeys(("div", "try_divide", "safe_divide", "intdiv"), _numbers(lambda one, other: one / other)),
    **dict.fromkeys(("mod", "pmod"), _numbers(lambda one, other: abs(other))),
    "power": _numbers(lambda one, other: one**other),
    "shiftleft": _numbers(lambda one, other: one * 2**other),
    "exp": _numbers(lambda one, _: math.exp(one)),
    "factorial": _numbers(lambda one, _: float(math.factorial(min(int(one), 20)))),
    "abs": _numbers(lambda one, _: abs(one)),
    **dict.fromkeys(("neg", "negative"), _numbers(lambda one, _: -one)),
    **dict.fromkeys(("ceil", "ceiling", "floor", "round", "bround", "rint", "positive"), _same_number),
    "reverse": _size_of_reverse,
    **dict.fromkeys(("greatest", "least", "coalesce", "nvl", "ifnull", "nvl2", "if", "case"), either_size),
}


def rule_of(node: Any) -> Callable[[Sizes], Size]:
    """Return how the size of a node follows from its parts; by default it is one of them.

    The number that a function makes of others is not known by default: `reverse('0000000002')` is large.
    """
    name = function_name(node)
    if isinstance(node, exp.Interval):
        return _interval(node)
    if isinstance(node, exp.Paren | exp.Alias | exp.Cast | exp.Kwarg) or name in _CASTS:
        return lambda sizes: sizes[0]
    if name in _RULES or name in _KEEP_NUMBERS or not isinstance(node, exp.Func):
        return _RULES.get(name, either_size)
    return lambda sizes: replace(either_size(sizes), low=None, high=None)


_KEEP_NUMBERS = {
    *("any", "any_value", "array_agg", "array_compact", "array_distinct", "array_except", "array_intersect"),
    *("array_max", "array_min", "array_remove", "array_sort", "collect_list", "collect_set", "element_at", "explode"),
    *("explode_outer", "filter", "first", "first_value", "flatten", "get", "inline", "inline_outer", "lag", "last"),
    *("last_value", "lead", "map_entries", "map_filter", "map_from_entries", "map_keys", "map_values", "max", "max_by"),
    *("min", "min_by", "mode", "nanvl", "nth_value", "posexplode", "posexplode_outer", "shuffle", "slice"),
    *("sort_array", "stack", "try_element_at"),
}
"""Functions that return one of the numbers that they are given, or all of them."""

_CASTS = ("int", "bigint", "smallint", "tinyint", "float", "double", "decimal", "string", "binary", "date", "timestamp")
