"""Answers to calls, as their records keep them."""

from __future__ import annotations

import json
from typing import Any

from mason.engines.execution.models.job import JobStatus
from mason.errors import Interrupted
from mason.util.json_text import json_value

Answer = tuple[Any, int]
"""The JSON of a response, and its HTTP status."""

MOST_DATA = 1024 * 1024
"""So many characters of a call's data are kept with its record; of more, none."""


def status_of(answer: Answer) -> JobStatus:
    """Return how a call has ended that gave this answer."""
    if answer[1] == Interrupted.status:
        return JobStatus.CANCELLED
    return JobStatus.SUCCEEDED if answer[1] < 400 else JobStatus.FAILED


def answer_for_record(answer: Answer) -> dict[str, Any]:
    """Return what the record of a call keeps of its answer."""
    response = json_value(answer[0])
    if response.get("Data") and len(json.dumps(response["Data"])) > MOST_DATA:
        response = {**response, "Data": [], "DataLeftOut": True}
    errors = response.get("Errors")
    told = {"Error": errors[0]} if errors else {}
    return {**told, "HttpStatus": answer[1], "Response": response}
