"""How the files of a table are read when their schema is inferred, and how delimited text and sheets are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class InferOptions:
    """What is not told is detected, file by file.

    Attributes:
        input_format: `csv`, `json`, `jsonl`, `parquet`, `orc`, `avro` or `msgpack`.
        read_headers: whether the first record of a delimited file holds the names of its columns.
        nulls: words that mean null besides an unquoted empty field.
        read_all: read every row of every file rather than a sample.
        csv: how delimited files are written.
    """

    input_format: str = ""
    read_headers: bool | None = None
    delimiter: str = ""
    encoding: str = ""
    nulls: Sequence[str] = ()
    read_all: bool = False
    csv: DelimitedOptions = field(default_factory=DelimitedOptions)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> InferOptions:
        """Return the options that JSON has; those that an older Mason wrote say less of delimited files."""
        csv = DelimitedOptions.of(value["csv"]) if "csv" in value else DelimitedOptions()
        return cls(**{**value, "nulls": tuple(value["nulls"]), "csv": csv})
