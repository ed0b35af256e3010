"""The verbs for rows as Python has them: what a query gives, and what becomes a table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from mason.service.engine_verbs import EngineVerbs

if TYPE_CHECKING:
    import pyarrow as pa

    from mason.clients.response import Response
    from mason.engines.execution.models.job import JobRecord
    from mason.operators.operator_response import OperatorResponse
    from mason.service.frames import Question

QUERY = "table:query"
SAVE = "table:save"


class RowVerbs(EngineVerbs):
    """A part of `Service`."""

    def read_rows(self, question: Question, config_id: str, response: Response) -> JobRecord:
        """Run a query and return its record, which has all of its rows.

        Raises:
            Forbidden: the caller may not query.
            MasonError: the query cannot be understood, or failed.
        """
        from mason.service.frames import read_rows

        return read_rows(self._use(QUERY, config_id, response), question, response)

    def read_batches(
        self, question: Question, config_id: str, response: Response
    ) -> AbstractContextManager[pa.RecordBatchReader]:
        """Run a query and give its rows some at a time.

        Raises:
            Forbidden: the caller may not query.
            MasonError: the query cannot be understood, or failed.
        """
        from mason.service.frames import read_batches

        return read_batches(self._use(QUERY, config_id, response), question, response)

    def save_rows(
        self, rows: pa.RecordBatchReader, table: str, mode: str, keys: Sequence[str], config_id: str, response: Response
    ) -> OperatorResponse:
        """Make rows a table, in one commit.

        Raises:
            Forbidden: the caller may not write.
            MasonError: they cannot be the rows of that table.
        """
        from mason.operators.operator_response import OperatorResponse
        from mason.service.frames import save_options, save_rows

        config = self._use(SAVE, config_id, response)
        return OperatorResponse(response, save_rows(config, rows, table, save_options(mode, keys), response))
