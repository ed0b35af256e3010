"""How the text of delimited files is written, and which sheets of workbooks are read, where somebody says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DelimitedOptions:
    """What is empty or None is detected, file by file.

    Attributes:
        quote: the character around fields that hold delimiters; `none` if quotes are plain characters.
        escape: the character before a quote that is text; `none` if such quotes are doubled.
        comment: what lines begin with that are no records.
        skip_rows: how many lines stand before the header, or before the first record.
        skip_footer: how many lines stand behind the last record.
        widths: how many characters each field has, where no delimiter stands between them.
        sheet: the sheet of a workbook to be read, or `*` for all that are visible.
        ragged: what becomes of records with fewer or more fields: `pad`, `cut` or `refuse`; set aside by default.
    """

    quote: str = ""
    escape: str = ""
    comment: str = ""
    skip_rows: int | None = None
    skip_footer: int = 0
    widths: Sequence[int] = ()
    ragged: str = ""
    sheet: str = ""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> DelimitedOptions:
        return cls(**{**value, "widths": tuple(value["widths"])})
