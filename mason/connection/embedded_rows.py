"""Rows that this process asks for itself: they never become JSON, and there is no limit but its memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from mason.clients.response import Response
from mason.connection.frames import Rows
from mason.connection.tables import arrow_table
from mason.service.frames import Question
from mason.service.service import Service
from mason.util.environment import MasonEnvironment


class EmbeddedRows(Rows):
    """The rows of a query that runs in this process."""

    def __init__(self, question: Question, config: str) -> None:
        super().__init__()
        self._question = question
        self._config = config

    def _fetch(self) -> pa.Table:
        record = Service(MasonEnvironment.of()).read_rows(self._question, self._config, Response())
        if record.rows is not None:
            return record.rows
        return arrow_table({"Data": []}, [record.details])

    @contextmanager
    def _open_batches(self) -> Iterator[pa.RecordBatchReader]:
        with Service(MasonEnvironment.of()).read_batches(self._question, self._config, Response()) as reader:
            yield reader
