"""A query of Athena as the record of a job: Athena keeps it, so that any process can ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mason.clients.athena.queries import Execution, reason_of
from mason.engines.execution.models.job import JobRecord, JobStatus

_STATUS = {
    "QUEUED": JobStatus.QUEUED,
    "RUNNING": JobStatus.RUNNING,
    "SUCCEEDED": JobStatus.SUCCEEDED,
    "FAILED": JobStatus.FAILED,
    "CANCELLED": JobStatus.CANCELLED,
}
_TIMES = {
    "EngineMilliseconds": "EngineExecutionTimeInMillis",
    "QueuedMilliseconds": "QueryQueueTimeInMillis",
    "TotalMilliseconds": "TotalExecutionTimeInMillis",
}


def job_record(execution: Execution, more: Mapping[str, Any] | None = None) -> JobRecord:
    """Return what Athena says of a query, and what else is known of it."""
    status = _STATUS[execution["Status"]["State"]]
    return JobRecord(execution["QueryExecutionId"], status, {**_details(execution, status), **(more or {})})


def _details(execution: Execution, status: JobStatus) -> dict[str, Any]:
    times, statistics = execution["Status"], execution.get("Statistics", {})
    details = {
        "JobType": "query",
        "Database": execution.get("QueryExecutionContext", {}).get("Database", ""),
        "Statement": execution.get("Query", ""),
        "WorkGroup": execution.get("WorkGroup", ""),
        "Result": execution.get("ResultConfiguration", {}).get("OutputLocation", ""),
        "StartedAt": _moment(times.get("SubmissionDateTime")),
        "EndedAt": _moment(times.get("CompletionDateTime")) if status.is_final else "",
        "BytesScanned": statistics.get("DataScannedInBytes", 0),
        **{ours: statistics[theirs] for ours, theirs in _TIMES.items() if theirs in statistics},
        "Error": reason_of(execution) if status in (JobStatus.FAILED, JobStatus.CANCELLED) else "",
    }
    return {name: value for name, value in details.items() if value != ""}


def _moment(moment: datetime | None) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds") if moment else ""
