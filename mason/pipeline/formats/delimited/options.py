"""What the user says of delimited files, checked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.errors import BadInput
from mason.pipeline.formats.delimited.dialect import Ragged, check_delimiter, check_mark
from mason.pipeline.formats.delimited.sniff import Asked


@dataclass(frozen=True, kw_only=True)
class CsvOptions:
    """What the user says of a file's dialect, and its name; what is empty or None is detected."""

    asked: Asked = field(default_factory=Asked)
    skip_footer: int = 0
    ragged: Ragged | None = None
    read_headers: bool | None = None
    nulls: Collection[str] = ()
    sheet: str = ""

    def for_format(self, delimiter: str, likely: str) -> CsvOptions:
        """Return the options for a file whose format has a delimiter, or whose name promises one."""
        asked = replace(self.asked, delimiter=self.asked.delimiter or delimiter, likely_delimiter=likely)
        return replace(self, asked=asked)


def check_csv_options(
    delimiter: str, options: DelimitedOptions, read_headers: bool | None, nulls: Collection[str]
) -> CsvOptions:
    """Return what the user says of delimited files.

    Raises:
        BadInput: some of it cannot be.
    """
    asked = Asked(
        delimiter=check_delimiter(delimiter),
        quote=check_mark(options.quote, "quote") if options.quote else None,
        escape=check_mark(options.escape, "escape") if options.escape else None,
        comment=_check_comment(options.comment),
        skip_rows=options.skip_rows,
        widths=tuple(options.widths),
    )
    _check_apart(asked)
    if any(width < 1 for width in asked.widths):
        raise BadInput("widths must be numbers from 1 on.")
    ragged = Ragged(options.ragged) if options.ragged else None
    return CsvOptions(
        asked=asked,
        skip_footer=options.skip_footer,
        ragged=ragged,
        read_headers=read_headers,
        nulls=nulls,
        sheet=options.sheet,
    )


def _check_comment(wanted: str) -> str:
    comment = "" if wanted.lower() == "none" else wanted
    if any(mark in comment for mark in "\r\n") or comment[:1].isalnum():
        raise BadInput(f'"{wanted}" cannot begin comments.', hint="It is a sign such as #, or none.")
    return comment


def _check_apart(asked: Asked) -> None:
    quote = '"' if asked.quote is None else asked.quote
    marks = [mark for mark in (asked.delimiter, quote, asked.escape, asked.comment) if mark]
    if len(set(marks)) < len(marks):
        message = "delimiter, quote, escape and comment must differ."
        raise BadInput(message, hint="A quote inside quotes is doubled by default: leave escape out.")
