"""How delimited text is written: what stands between its fields and around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mason.errors import BadInput

_WORDS = {"\\t": "\t", "tab": "\t", "space": " "}
_LONGEST = 8


class Ragged(StrEnum):
    """What happens to a record with fewer or more fields than the others.

    `pad` fills up what a short one lacks with nulls; `cut` does that, too, and drops what a long one has too much;
    `refuse` ends the job; else it is set aside.
    """

    QUARANTINE = "quarantine"
    PAD = "pad"
    CUT = "cut"
    REFUSE = "refuse"
    LAST_IS_NULL = "last is null"
    """Found, never given: no record has the last field, which is null. Others are set aside."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How the records of a text are written.

    `quote` stands around a field that may hold delimiters and line ends; without one such a character is text like any
    other. `escape` stands before a character that is to be taken as it is; without one a quote inside quotes is
    doubled. Lines that begin with `comment` are no records. `pads`: spaces behind a delimiter are no part of a field.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    comment: str = ""
    pads: bool = False
    widths: Sequence[int] = ()
    """How many characters each field has, where nothing stands between the fields."""
    sure: bool = False
    """Somebody has looked at the records: lines inside quotes are text, however much they look like records."""

    @property
    def is_simple(self) -> bool:
        """Whether its records are found by looking at bytes alone, and Arrow reads its fields."""
        one_byte = len(self.delimiter) == 1 and self.delimiter.isascii()
        return one_byte and not (self.escape or self.comment or self.pads or self.widths)


def check_delimiter(wanted: str) -> str:
    """Return the delimiter that the user named; `\\t` is a tab.

    Raises:
        BadInput: it cannot be one.
    """
    delimiter = _WORDS.get(wanted, wanted)
    if len(delimiter) > _LONGEST or any(mark in delimiter for mark in ('"', "\n", "\r")):
        raise BadInput(
            f'"{wanted}" cannot be a delimiter.',
            hint=f"It has up to {_LONGEST} characters (a tab is \\t), and neither quotes nor line ends among them.",
        )
    return delimiter


def check_mark(wanted: str, what: str) -> str:
    """Return a character that the user named; `none` is none.

    Raises:
        BadInput: it is not one character.
    """
    if wanted.lower() == "none":
        return ""
    if len(wanted) != 1 or not wanted.isascii() or wanted.isalnum() or wanted in "\r\n":
        raise BadInput(f'"{wanted}" cannot be a {what}.', hint="It is one character, or none.")
    return wanted
