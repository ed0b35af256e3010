"""Patterns of LIKE, and regular expressions of Java in the words of RE2, which takes some for something else."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from mason.pipeline.sql.local.refusal import unlike_spark, wrong
from mason.pipeline.sql.local.values import call, text

_PART = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?|[].$]|&&", re.DOTALL)
_FLAGS = re.compile(r"\(\?([a-zA-Z]+)")
_FLAGS_OF_ALL = re.compile(r"\(\?[is]+\)")
_FLAGS_OFF = re.compile(r"\(\?[a-zA-Z]*-")
_OTHERWISE = (r"\v", r"\0")
"""What RE2 knows, too, and means something else by."""
_NOT_A_LINE_END = r"[^\n\r\x{85}\x{2028}\x{2029}]"


def with_pattern(name: str, subject: Any, pattern: Any, *more: Any) -> Any:
    """Return the call of a function of DuckDB that looks for a pattern in a text.

    Raises:
        BadQuery: the pattern is one that RE2 would take otherwise, or is not known before it is asked for.
    """
    if not isinstance(pattern, exp.Literal):
        raise unlike_spark("pattern that is not written out", ": a column may hold any")
    own, ends = _pattern_of_re2(pattern.name)
    return call(name, call("spark_unended", subject) if ends else subject, text(own), *more)


def like_pattern(pattern: Any, escape: str) -> Any:
    """Return a pattern of LIKE that is an error where the escape stands before something else than Spark lets it.

    Raises:
        BadQuery: it is written out, and is such an error, or the escape is none.
    """
    if len(escape) != 1:
        raise wrong("The escape of LIKE is one character")
    if not isinstance(pattern, exp.Literal):
        return call("spark_like_pattern", pattern, text(_shape_of_like(rf"\x{{{ord(escape):x}}}")))
    if not re.fullmatch(_shape_of_like(re.escape(escape)), pattern.name):
        raise wrong(f'In the pattern "{pattern.name}" the escape "{escape}" stands before none of %, _ and itself')
    return pattern


def _shape_of_like(escape: str) -> str:
    return rf"(?s)([^{escape}]|{escape}[%_{escape}])*"


def _pattern_of_re2(pattern: str) -> tuple[str, bool]:
    """The pattern as RE2 has it, and whether it asks for an end, which Java finds before a last line end, too."""
    flags = set("".join(_FLAGS.findall(pattern)))
    at_start = _FLAGS_OF_ALL.match(pattern)
    of_parts = "".join(_FLAGS.findall(pattern[at_start.end() if at_start else 0 :]))
    if flags - {"i", "s"} or "s" in of_parts or _FLAGS_OFF.search(pattern):
        raise unlike_spark("pattern with such flags")
    if "i" in flags and not pattern.isascii():
        raise unlike_spark("pattern that minds no case of letters beyond ASCII")
    parts, ends, in_class, done = [], False, False, 0
    for found in _PART.finditer(pattern):
        part = found[0]
        parts.append(pattern[done : found.start()])
        done = found.end()
        if in_class and (part.startswith("[") or part in ("&&", r"\S")):
            raise unlike_spark("class of characters that is made of classes")
        if part in _OTHERWISE:
            raise unlike_spark(f'"{part}" in a pattern')
        ends = ends or (part == "$" and not in_class)
        parts.append(part if part == "." and "s" in flags else _part_of_re2(part, in_class=in_class))
        in_class = part.startswith("[") or (in_class and part != "]")
    return "".join([*parts, pattern[done:]]), ends


def _part_of_re2(part: str, *, in_class: bool) -> str:
    if part == "." and not in_class:
        return _NOT_A_LINE_END
    if part == r"\s":
        return r"\s\x0B" if in_class else r"[\s\x0B]"
    if part == r"\S" and not in_class:
        return r"[^\s\x0B]"
    return part
