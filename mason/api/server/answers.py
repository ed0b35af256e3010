"""Answers to calls, as they are told from the records of those that are over."""

from __future__ import annotations

from mason.api.operator_api import Answer
from mason.api.server.replies import document
from mason.engines.execution.models.job import JobStatus
from mason.errors import Interrupted, StateFailed
from mason.state.models import Record


def answer_of(record: Record | None) -> Answer:
    """Return the answer that the record of a call keeps; of one that gave none, what is known of its end."""
    if record and "Response" in record.document:
        return record.document["Response"], record.document["HttpStatus"]
    if record and record.status == JobStatus.CANCELLED:
        return answer_cancelled("The job was cancelled.")
    if record and record.status == JobStatus.SUCCEEDED:
        return document(warnings=["The job succeeded. The server that ran it is gone, and its answer with it."]), 200
    if record and record.status == JobStatus.FAILED:
        said = record.document.get("Error", "")
        return document(errors=[f"The job failed, and its answer is gone with its server. {said}".rstrip()]), 500
    return document(errors=["The server that ran the job is gone, and its answer with it."]), StateFailed.status


def answer_cancelled(message: str) -> Answer:
    """Return the answer to a call that somebody ended."""
    return document(errors=[message]), Interrupted.status
