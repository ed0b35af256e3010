"""The queries of a work group: starting them, waiting for them, and reading what they answered."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError

from mason.clients.athena.results import Cells
from mason.clients.aws.connection import AwsConnection
from mason.clients.aws.failures import code_of
from mason.clients.aws.service import AwsService
from mason.errors import BadInput, ClientFailed, Conflict, MasonError, NotFound
from mason.pipeline.driving.job_watch import JobCancelled
from mason.pipeline.sql.query import BadQuery
from mason.util.ending import pause

DEFAULT_WORK_GROUP = "primary"
MOST_LISTED = 500
_PAGE = 50
_FIRST_WAIT, _LONGEST_WAIT, _SLOWER = 0.1, 3.0, 1.5
_LONGEST_STATEMENT = 262_144
_FINAL = ("SUCCEEDED", "FAILED", "CANCELLED")
_OWN_FAULT = 1  # Athena's own category of errors: the service's
_NO_PLACE = "No output location provided"
_OTHER_REQUEST = "Idempotent parameters do not match"

Execution = Mapping[str, Any]
"""What Athena says of a query: `QueryExecution` of its API."""


class Queries:
    """The queries of one work group."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self.work_group = str(configuration.get("work_group") or DEFAULT_WORK_GROUP)
        self.output_location = str(configuration.get("output_location") or "")
        self._athena = AwsService("athena", "Athena", AwsConnection.of("athena", configuration))

    def describe_place(self) -> str:
        """Return where Athena is asked, where that is not AWS."""
        return self._athena.describe_place()

    def start(self, statement: str, database: str, token: str = "") -> str:
        """Hand a statement to Athena and return the id that it gave it: to the same token, the same id.

        Raises:
            BadQuery: Athena does not take it.
            Conflict: it was asked for something else with the same token.
            Forbidden, ClientFailed: it cannot be asked.
        """
        if len(statement.encode()) > _LONGEST_STATEMENT:
            raise BadQuery(f"The query is too long for Athena, which takes {_LONGEST_STATEMENT:,} bytes.")
        place = {"ResultConfiguration": {"OutputLocation": self.output_location}} if self.output_location else {}
        once = {"ClientRequestToken": token} if token else {}
        context = {"Database": database, "Catalog": "AwsDataCatalog"}
        try:
            answer = self._call(
                "start_query_execution",
                QueryString=statement,
                QueryExecutionContext=context,
                WorkGroup=self.work_group,
                **place,
                **once,
            )
        except InvalidRequest as error:
            raise self._not_started(error) from error
        return str(answer["QueryExecutionId"])

    def get(self, query_id: str) -> Execution:
        """Return what Athena knows of a query.

        Raises:
            NotFound: it knows no such query.
        """
        try:
            execution: Execution = self._call("get_query_execution", QueryExecutionId=query_id)["QueryExecution"]
        except InvalidRequest as error:
            raise NotFound(f'There is no job "{query_id}".') from error
        return execution

    def stop(self, query_id: str) -> None:
        """Ask Athena to stop a query; one that is over stays what it is."""
        with suppress(InvalidRequest):
            self._call("stop_query_execution", QueryExecutionId=query_id)

    def wait(self, query_id: str) -> Execution:
        """Return what Athena says of a query that has succeeded; it is asked less and less often.

        Whoever stops waiting, with ctrl-C too, has asked Athena to stop the query.

        Raises:
            BadQuery, ClientFailed: it failed.
            JobCancelled: somebody stopped it.
        """
        try:
            execution = self._wait_for_end(query_id)
        except BaseException:
            with suppress(MasonError):
                self.stop(query_id)
            raise
        state = execution["Status"]["State"]
        if state == "CANCELLED":
            raise JobCancelled("The query was cancelled by another process. Nothing was committed.")
        if state == "FAILED":
            raise failure_of(execution)
        return execution

    def rows(self, query_id: str, most: int) -> tuple[Sequence[Mapping[str, Any]], list[Cells]]:
        """Return what the columns of an answer are, and its first rows, page by page."""
        columns: Sequence[Mapping[str, Any]] = ()
        rows: list[Cells] = []
        token: Mapping[str, str] = {}
        while True:
            page = self._call("get_query_results", QueryExecutionId=query_id, MaxResults=1000, **token)
            columns = columns or page["ResultSet"]["ResultSetMetadata"]["ColumnInfo"]
            cells = [[each.get("VarCharValue") for each in row.get("Data", ())] for row in page["ResultSet"]["Rows"]]
            rows += cells if token else cells[1:]  # the first page begins with the names
            if len(rows) >= most or not page.get("NextToken"):
                return columns, rows[:most]
            token = {"NextToken": page["NextToken"]}

    def newest(self) -> Iterator[Execution]:
        """Yield what Athena knows of the newest queries of the work group, the newest first."""
        listed = self._athena.pages("list_query_executions", "QueryExecutionIds", WorkGroup=self.work_group)
        ids = iter(itertools.islice(listed, MOST_LISTED))
        while batch := list(itertools.islice(ids, _PAGE)):
            found = self._call("batch_get_query_execution", QueryExecutionIds=batch).get("QueryExecutions", ())
            by_id = {each["QueryExecutionId"]: each for each in found}
            yield from (by_id[each] for each in batch if each in by_id)

    def describe_work_group(self) -> Mapping[str, Any]:
        """Return Athena's answer to what the work group is.

        Raises:
            BadInput: there is no such work group.
        """
        try:
            return self._call("get_work_group", WorkGroup=self.work_group)
        except InvalidRequest as error:
            raise BadInput(f'Athena has no work group "{self.work_group}".', hint=f"It says: {error}") from error

    def _wait_for_end(self, query_id: str) -> Execution:
        wait = _FIRST_WAIT
        while True:
            execution = self.get(query_id)
            if execution["Status"]["State"] in _FINAL:
                return execution
            pause(wait * random.uniform(0.75, 1.25))  # so that many who wait do not ask all at once
            wait = min(wait * _SLOWER, _LONGEST_WAIT)

    def _not_started(self, error: InvalidRequest) -> MasonError:
        if _NO_PLACE in str(error):
            return BadInput(
                f'Athena has no place for results in the work group "{self.work_group}".',
                hint="Give output_location in the configuration, such as s3://bucket/results/.",
            )
        if _OTHER_REQUEST in str(error):
            return Conflict(
                "Athena was asked for this query before, by a process that is gone, and something has changed since: "
                "the tables, the work group or the place for results.",
                hint="Run it again.",
            )
        if "WorkGroup" in str(error):
            return BadInput(f'Athena does not take the work group "{self.work_group}": {error}', hint="Set work_group.")
        return BadQuery(f"Athena does not take the query: {error}")

    def _call(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        try:
            return self._athena.call(operation, **arguments)
        except ClientFailed as error:
            raise InvalidRequest(_reason(error.__cause__)) if _is_invalid(error.__cause__) else error from error


class InvalidRequest(ClientFailed):
    """Raised when what was asked makes no sense to Athena; who asked knows what it means. 502 · exit 1"""


def failure_of(execution: Execution) -> MasonError:
    """Return the error of a query that failed, with Athena's own reason."""
    reason = reason_of(execution)
    failure: Mapping[str, Any] = execution["Status"].get("AthenaError", {})
    hint = "Athena says that it may work when it is run again." if failure.get("Retryable") else ""
    if failure.get("ErrorCategory") == _OWN_FAULT:
        return ClientFailed(f"Athena failed: {reason}", hint=hint)
    return BadQuery(f"The query failed: {reason}", hint=hint)


def reason_of(execution: Execution) -> str:
    """Return why a query did not succeed, in Athena's words."""
    status = execution["Status"]
    reason = status.get("StateChangeReason") or status.get("AthenaError", {}).get("ErrorMessage")
    return str(reason or "Athena does not say.").strip()


def _is_invalid(cause: BaseException | None) -> bool:
    if isinstance(cause, ParamValidationError):
        return True
    return isinstance(cause, ClientError) and code_of(cause) in ("InvalidRequestException", "ResourceNotFoundException")


def _reason(cause: BaseException | None) -> str:
    if isinstance(cause, ClientError):
        return str(cause.response.get("Error", {}).get("Message", "")) or code_of(cause)
    return str(cause)
