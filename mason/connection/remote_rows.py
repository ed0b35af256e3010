"""Rows that a server gives: those of `table query`, in the types of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from mason.connection.frames import Rows
from mason.errors import TooLarge

if TYPE_CHECKING:
    from mason.connection.connection import Connection

MOST_ROWS = 100_000


class RemoteRows(Rows):
    """The rows of a query that a server runs."""

    def __init__(self, connection: Connection, asked: Mapping[str, Any], config: str) -> None:
        super().__init__()
        self._connection = connection
        self._asked = asked
        self._config = config

    def _fetch(self) -> pa.Table:
        answer = self._connection.operator("table", "query", {**self._asked, "limit": MOST_ROWS}, config=self._config)
        if any(each.get("HasMore") for each in answer.data):
            raise TooLarge(
                f"A server gives {MOST_ROWS:,} rows at most, and there are more.",
                hint="Use a LIMIT, or make a table of them with output_path.",
            )
        return answer.to_arrow()

    @contextmanager
    def _open_batches(self) -> Iterator[pa.RecordBatchReader]:
        yield self.to_arrow().to_reader()
