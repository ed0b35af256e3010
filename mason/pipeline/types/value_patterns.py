"""How text stands for dates, times and numbers where it is not written as Mason expects: `31.01.2026`, `1.200,50 €`.

A pattern is applied exactly: a text that one would not write for its value by that pattern does not fit. Text is turned
into the usual spelling (`2026-01-31`, `1200.50`), column by column, and goes the way of every other text from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from mason.errors import BadInput
from mason.pipeline.types.given_types import Fitted, describe_type, fit_given_text
from mason.util.words import counted

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SHORT_MONTHS = tuple(month[:3] for month in _MONTHS)
_CENTURY = 69  # as POSIX has it: 69 is 1969, and 68 is 2068
_LETTERS: Mapping[str, tuple[str, str]] = {
    # What letters stand for: the part of a time, and how it is written.
    "yyyy": ("year", "[0-9]{4}"),
    "yy": ("short_year", "[0-9]{2}"),
    "MMMM": ("month_name", f"(?i:{'|'.join(_MONTHS)})"),
    "MMM": ("short_month", f"(?i:{'|'.join(_SHORT_MONTHS)})"),
    "MM": ("month", "[0-9]{2}"),
    "M": ("month", "[1-9]|1[0-2]"),
    "dd": ("day", "[0-9]{2}"),
    "d": ("day", "[1-9]|[12][0-9]|3[01]"),
    "HH": ("hour", "[0-9]{2}"),
    "H": ("hour", "[0-9]|1[0-9]|2[0-3]"),
    "hh": ("hour_of_twelve", "0[1-9]|1[0-2]"),
    "h": ("hour_of_twelve", "[1-9]|1[0-2]"),
    "a": ("half", "(?i:[ap]m)"),
    "mm": ("minute", "[0-9]{2}"),
    "ss": ("second", "[0-9]{2}"),
}
_NUMBERS: Mapping[str, tuple[str, str]] = {
    # What stands for a number: between which thousands it is written, and before its fraction.
    "de": (".", ","),
    "en": (",", "."),
    "fr": (" \u00a0\u202f", ","),
    "ch": ("'’", "."),
    "1.234,56": (".", ","),
    "1,234.56": (",", "."),
    "1 234,56": (" \u00a0\u202f", ","),
    "1'234.56": ("'’", "."),
    "1234,56": ("", ","),
    "1234.56": ("", "."),
}
_EXAMPLES: Mapping[str, str] = {"de": "1.234,56", "en": "1,234.56", "fr": "1 234,56", "ch": "1'234.56"}
_NUMBER = re.compile("|".join([r"(?<![A-Za-z])(?:de|en|fr|ch)(?![A-Za-z])", *map(re.escape, list(_NUMBERS)[4:])]))
_SURE_DIGITS = {16: 3, 32: 6, 64: 15}  # of so many a float gives every one back
_OF_ANY_LENGTH = ("day", "month", "hour", "hour_of_twelve")  # these have one digit or two, where one letter stands
_DIGITS_ONLY = re.compile(r"(?:yyyy|yy|MM(?!M)|dd|HH|hh|mm|ss|S+)*").fullmatch
_RUN = re.compile(r"([A-Za-z])\1*")
_HINT_OF_TIMES = (
    "It is made of yyyy, yy, MM, M, MMM, MMMM, dd, d, HH, H, mm, ss and S, with signs between them, "
    "or of hh or h and a (AM, PM) instead of HH."
)
_HINT_OF_NUMBERS = (
    "It is de (1.234,56), en, fr, ch, or such a number itself, with its signs: '1234,56 €', '$en', 'de%', "
    "'de-' where a minus stands behind, '(de)' where brackets stand for it."
)


class BadPattern(BadInput):
    """Raised when a text is not a pattern for its type. 400 · exit 1"""


def fit_pattern(values: pa.Array, pattern: str, target: pa.DataType, timezone: str = "") -> Fitted:
    """Return text as values of the type; what is not written by the pattern does not fit."""
    fitted = fit_given_text(compile_pattern(pattern, target).apply(values), target, timezone).values
    bad = pc.and_(pc.is_valid(values), pc.is_null(fitted))
    return Fitted(fitted, bad if pc.any(bad).as_py() else None)


def describe_misfit(text: str, pattern: str, target: pa.DataType) -> str:
    """Return what is wrong with a text that is not a value of the type by the pattern: the end of a sentence on it."""
    parts = pc.extract_regex(pa.array([text]), f"^{compile_pattern(pattern, target).regex}$")[0].as_py()
    number = None if pa.types.is_temporal(target) else _NUMBER.search(pattern)
    if parts is None or parts.get("opens", "") + parts.get("closes", "") in ("(", ")"):
        return (
            f"is not {describe_type(target)} written as {pattern}"
            if number is None
            else _describe_spelling(pattern, target)
        )
    if number is None:
        return f"is not {describe_type(target)}"
    if pa.types.is_decimal(target) and len(parts["fraction"]) > target.scale:
        return f"has more than {counted(target.scale, 'decimal')}"
    is_zero = not set(parts["whole"] + parts.get("fraction", "")) & set("123456789")
    return f"is not {describe_type(target)}" if is_zero else f"has more digits than {describe_type(target)} holds"


def _describe_spelling(pattern: str, target: pa.DataType) -> str:
    """Say how a pattern writes numbers, where a word stands for it."""
    found = _NUMBER.search(pattern)
    example = _EXAMPLES.get(found[0], "") if found else ""
    if found is None or not example:
        return f"is not written like '{pattern}'"
    whole = example[: -len(",56")] if pa.types.is_integer(target) else example
    return f"is not written as '{pattern}' writes numbers ({pattern[: found.start()]}{whole}{pattern[found.end() :]})"


@dataclass(frozen=True)
class Pattern:
    """How text is recognised, and turned into the usual spelling; null where it is not written so."""

    regex: str
    spell: Callable[[Mapping[str, pa.Array]], pa.Array]

    def apply(self, values: pa.Array) -> pa.Array:
        parts = pc.extract_regex(values, f"^{self.regex}$")
        names = [field.name for field in parts.type]
        spelled = self.spell({name: pc.struct_field(parts, name) for name in names})
        return pc.if_else(pc.is_valid(parts), spelled, pa.scalar(None, pa.string()))


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, target: pa.DataType) -> Pattern:
    """Return what a pattern means for a type.

    Raises:
        BadPattern: it means nothing.
    """
    if pa.types.is_date(target) or pa.types.is_timestamp(target) or pa.types.is_time(target):
        return _compile_time(pattern, target)
    if pa.types.is_integer(target) or pa.types.is_floating(target) or pa.types.is_decimal(target):
        return _compile_number(pattern, target)
    raise BadPattern(f"A {target} has no pattern: only numbers, dates and times have one.")


def _compile_time(pattern: str, target: pa.DataType) -> Pattern:
    regex, found, place = "", [], 0
    uncertain: list[tuple[int, int]] = []
    for run in _RUN.finditer(pattern):
        letters = run[0]
        regex += re.escape(pattern[place : run.start()])
        place = run.end()
        name, written = _LETTERS.get(letters, ("fraction" if letters[0] == "S" else "", f"[0-9]{{{len(letters)}}}"))
        if not name or name in found or len(letters) > 6:
            raise BadPattern(f'"{letters}" in the pattern "{pattern}" stands for nothing.', hint=_HINT_OF_TIMES)
        if len(letters) == 1 and name in _OF_ANY_LENGTH:
            uncertain.append(run.span())
        found.append(name)
        regex += f"(?P<{name}>{written})"
    regex += re.escape(pattern[place:])
    _check_borders(pattern, uncertain)
    _check_parts(pattern, target, found)
    return Pattern(regex, lambda parts: _spell_time(parts, target))


def _check_borders(pattern: str, uncertain: Sequence[tuple[int, int]]) -> None:
    """See that no two numbers of one or two digits stand in one row of digits: 1112024 may be two days by dMyyyy."""
    for (_, end), (start, last) in pairwise(uncertain):
        if _DIGITS_ONLY(pattern, end, start):
            one, other = pattern[end - 1], pattern[start:last]
            hint = f"Write {one * 2} or {other * 2} for two digits each, where the text has them."
            raise BadPattern(
                f'In the pattern "{pattern}" nothing tells how many digits {one} and {other} have.', hint=hint
            )


def _check_parts(pattern: str, target: pa.DataType, found: Sequence[str]) -> None:
    """See that a pattern says all of a day, and no more than its type holds."""
    years, months = {"year", "short_year"}, {"month", "short_month", "month_name"}
    halves = {"hour_of_twelve", "half"} & set(found)
    if len(halves) == 1 or (halves and "hour" in found):
        raise BadPattern(f'The pattern "{pattern}" does not say which half of the day.', hint=_HINT_OF_TIMES)
    found = ["hour" if name == "hour_of_twelve" else name for name in found if name != "half"]
    clock = [name for name in ("hour", "minute", "second", "fraction") if name in found]
    has_day = len(years & set(found)) == 1 and len(months & set(found)) == 1 and "day" in found
    steady = clock == ["hour", "minute", "second", "fraction"][: len(clock)] and len(clock) != 1
    days = not pa.types.is_time(target)
    if days != has_day or not steady or (pa.types.is_date(target) and clock) or (not days and not clock):
        kind = "a date" if pa.types.is_date(target) else "a timestamp" if days else "a time"
        raise BadPattern(f'The pattern "{pattern}" does not say {kind}.', hint=_HINT_OF_TIMES)
    if not days and len(found) > len(clock):
        raise BadPattern(f'The pattern "{pattern}" says more than a time.', hint=_HINT_OF_TIMES)


def _spell_time(parts: Mapping[str, pa.Array], target: pa.DataType) -> pa.Array:
    if "half" in parts:
        parts = {**parts, "hour": _hour_of_day(parts["hour_of_twelve"], parts["half"])}
    clock = [pc.utf8_lpad(parts[name], 2, "0") for name in ("hour", "minute", "second") if name in parts]
    spelled = pc.binary_join_element_wise(*clock, ":") if clock else None
    if "fraction" in parts:
        spelled = pc.binary_join_element_wise(spelled, parts["fraction"], ".")
    if pa.types.is_time(target):
        return spelled
    day = pc.binary_join_element_wise(_year(parts), _month(parts), pc.utf8_lpad(parts["day"], 2, "0"), "-")
    return day if spelled is None else pc.binary_join_element_wise(day, spelled, " ")


def _hour_of_day(hours: pa.Array, halves: pa.Array) -> pa.Array:
    """Hours of a clock that goes round twice a day: its 12 is the beginning of either half."""
    numbers = pc.if_else(pc.equal(hours, ""), "0", hours).cast(pa.int8())
    of_half = pc.if_else(pc.equal(numbers, 12), pa.scalar(0, pa.int8()), numbers)
    is_late = pc.equal(pc.utf8_lower(halves), "pm")
    return pc.if_else(is_late, pc.add(of_half, pa.scalar(12, pa.int8())), of_half).cast(pa.string())


def _year(parts: Mapping[str, pa.Array]) -> pa.Array:
    if "year" in parts:
        return parts["year"]
    short = parts["short_year"]
    is_old = pc.greater_equal(pc.if_else(pc.equal(short, ""), "0", short).cast(pa.int8()), _CENTURY)
    return pc.binary_join_element_wise(pc.if_else(is_old, "19", "20"), short, "")


def _month(parts: Mapping[str, pa.Array]) -> pa.Array:
    if "month" in parts:
        return pc.utf8_lpad(parts["month"], 2, "0")
    names = [name.lower() for name in (_MONTHS if "month_name" in parts else _SHORT_MONTHS)]
    found = pc.utf8_lower(parts.get("month_name", parts.get("short_month")))
    index = pc.index_in(found, value_set=pa.array(names))
    return pc.utf8_lpad(pc.add(index, 1).cast(pa.string()), 2, "0")


def _compile_number(pattern: str, target: pa.DataType) -> Pattern:
    found = _NUMBER.search(pattern)
    if found is None or any(char.isdigit() for char in pattern[: found.start()] + pattern[found.end() :]):
        raise BadPattern(f'The pattern "{pattern}" does not say how a number is written.', hint=_HINT_OF_NUMBERS)
    thousands, mark = _NUMBERS[found[0]]
    opens, before, behind, closes = _signs(pattern[: found.start()], pattern[found.end() :])
    group = f"(?:[{re.escape(thousands)}][0-9]{{3}})*" if thousands else ""
    whole = f"0|[1-9][0-9]{{0,2}}{group}" if thousands else "0|[1-9][0-9]*"
    fraction = "" if pa.types.is_integer(target) else f"(?:{re.escape(mark)}(?P<fraction>[0-9]+))?"
    regex = f"(?P<opens>{opens}){before}(?P<whole>{whole}){fraction}{behind}(?P<closes>{closes})"

    def spell(parts: Mapping[str, pa.Array]) -> pa.Array:
        digits = pc.replace_substring_regex(parts["whole"], "[^0-9]", "")
        number = pc.binary_join_element_wise(_sign(parts), digits, "")
        if "fraction" not in parts:
            return _without_minus_zero(number)
        decimals = pc.if_else(pc.equal(parts["fraction"], ""), "0", parts["fraction"])
        spelled = pc.binary_join_element_wise(number, decimals, ".")
        if not pa.types.is_floating(target):
            return _without_minus_zero(spelled)
        count = pc.add(pc.utf8_length(digits), pc.utf8_length(parts["fraction"]))
        return pc.if_else(pc.less_equal(count, _SURE_DIGITS[target.bit_width]), spelled, pa.scalar(None, pa.string()))

    return Pattern(regex, spell)


def _signs(before: str, behind: str) -> tuple[str, str, str, str]:
    """Where a number may be negative, as regular expressions: its first sign, what stands around it, its last sign."""
    if before.startswith("(") and behind.endswith(")"):
        return r"\(?", re.escape(before[1:]), re.escape(behind[:-1]), r"\)?"
    if behind.endswith("-"):
        return "", re.escape(before), re.escape(behind[:-1]), "-?"
    return "-?", re.escape(before), re.escape(behind), ""


def _sign(parts: Mapping[str, pa.Array]) -> pa.Array:
    """A minus, or nothing; null where a bracket lacks the other."""
    signs = pc.binary_join_element_wise(parts["opens"], parts["closes"], "")
    is_negative = pc.is_in(signs, value_set=pa.array(["-", "()"]))
    minus, nothing, unknown = (pa.scalar(each, pa.string()) for each in ("-", "", None))
    return pc.if_else(is_negative, minus, pc.if_else(pc.equal(signs, ""), nothing, unknown))


def _without_minus_zero(spelled: pa.Array) -> pa.Array:
    """Integers and decimals have one zero only: the text would not come back."""
    is_zero = pc.fill_null(pc.match_substring_regex(spelled, "^-[0.]+$"), False)
    return pc.if_else(is_zero, pa.scalar(None, pa.string()), spelled)
