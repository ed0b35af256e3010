"""Runs as a person looks at them: a line for each run, and of one run its steps with what they said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

RUN_COLUMNS = ("run", "status", "workflow", "started", "steps")
STEP_COLUMNS = ("step", "status", "operator", "started", "time", "rows", "bytes")


def run_rows(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each run."""
    return [
        [
            each["RunID"],
            each["Status"],
            each["Workflow"].partition("@")[0],
            _moment(each["StartedAt"])[:16],
            ", ".join(f"{count} {status}" for status, count in each.get("Steps", {}).items()),
        ]
        for each in runs
    ]


def run_lines(run: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of a run as a whole."""
    return [f"{key}: {value}" for key, value in run.items() if key != "Steps" and value]


def step_rows(run: Mapping[str, Any]) -> list[list[str]]:
    """Return a row for each step of a run; moments of the day on which the run began are without it."""
    day = _moment(run["StartedAt"])[:10]
    return [
        [
            each["Id"],
            each["Status"],
            each["Operator"].partition("@")[0],
            _moment(each.get("StartedAt", "")).removeprefix(f"{day} "),
            _seconds(each.get("StartedAt"), each.get("EndedAt")),
            " → ".join(filter(None, (_number(each, "RowsIn"), _number(each, "RowsOut")))),
            _number(each, "Bytes"),
        ]
        for each in run["Steps"]
    ]


def step_lines(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the steps of a run said, attempts that failed, and why those that did not run are what they are."""
    for each in run["Steps"]:
        response = each.get("Response", {})
        reason = each.get("Reason", "")
        if "ReusedFrom" in each:
            yield f"{each['Id']}: reused from {each['ReusedFrom']}"
        for number, attempt in enumerate(each["Attempts"][:-1], 1):
            yield f"{each['Id']}: attempt {number}: {attempt.get('Reason', 'it did not end')}"
        yield from (f"{each['Id']}: {line}" for line in response.get("Info", ()))
        yield from (f"{each['Id']}: warning: {line}" for line in response.get("Warnings", ()))
        yield from (f"{each['Id']}: error: {line}" for line in response.get("Errors", ()))
        if reason and reason not in response.get("Errors", ()):
            yield f"{each['Id']}: {each['Status']}: {reason}"


def _moment(written: str) -> str:
    """Return a moment to the second, as the record has it: in UTC."""
    return written[:19].replace("T", " ")


def _seconds(start: str | None, end: str | None) -> str:
    if not start or not end:
        return ""
    return f"{(datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds():.1f} s"


def _number(step: Mapping[str, Any], key: str) -> str:
    data = step.get("Response", {}).get("Data", ())
    found = next((each[key] for each in data if isinstance(each, Mapping) and isinstance(each.get(key), int)), None)
    return "" if found is None else f"{found:,}"
