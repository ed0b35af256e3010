"""How the files of a table are to be read when their schema is inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class InferOptions:
    """What is not told is detected, file by file.

    Attributes:
        input_format: `csv`, `json`, `jsonl`, `parquet`, `orc`, `avro` or `msgpack`.
        read_headers: whether the first record of a delimited file holds the names of its columns.
        nulls: words that mean null besides an unquoted empty field.
        read_all: read every row of every file rather than a sample.
    """

    input_format: str = ""
    read_headers: bool | None = None
    delimiter: str = ""
    encoding: str = ""
    nulls: Sequence[str] = ()
    read_all: bool = False
