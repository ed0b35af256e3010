"""Regular expressions in the words of RE2: what they cost grows with the text alone, whatever the expression."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.check.checks import BadCheck


def whole_match(pattern: str) -> str:
    """Return the expression for texts that match from their first to their last character.

    Raises:
        BadCheck: it is none; the message says where.
    """
    try:
        pc.match_substring_regex(pa.array([""]), pattern=pattern)
    except pa.ArrowInvalid as error:
        place, reason = _place(pattern, str(error))
        told = f'the regular expression "{pattern}" cannot be understood at character {place}: {reason}.'
        raise BadCheck(told) from error
    return rf"\A(?:{pattern})\z"


def _place(pattern: str, said: str) -> tuple[int, str]:
    """Where an expression goes wrong, from 1, and how. RE2 names the piece, and Python, where it agrees, its place."""
    try:
        re.compile(pattern)
    except re.error as error:
        return (error.pos or 0) + 1, error.msg
    reason, _, piece = said.removeprefix("Invalid regular expression: ").partition(": ")
    return max(pattern.find(piece), 0) + 1, f"{reason}: {piece}"
