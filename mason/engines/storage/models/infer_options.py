"""How the files of a table are to be read when their schema is inferred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.engines.storage.models.delimited_options import DelimitedOptions


@dataclass(frozen=True)
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
