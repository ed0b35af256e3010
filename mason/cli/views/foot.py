"""The last lines of what a terminal shows: what a call took and gave, and after a failure what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from mason.cli.views.rows import Rows
from mason.util.words import counted

_SHOWN_ID = 4
_FAILED = ("failed", "lost", "cancelled")
_AMOUNTS = (("RowsIn", "in"), ("RowsOut", "out"), ("RowsQuarantined", "quarantined"))


def short_id(identifier: str) -> str:
    """Return how an id begins; commands take that for the whole, as long as no other begins so."""
    return identifier if len(identifier) <= _SHOWN_ID else f"{identifier[:_SHOWN_ID]}…"


def opening_line(envelope: Mapping[str, Any]) -> str:
    """Return where a job stands that said nothing by itself, since somebody else ran it."""
    data = envelope["Data"]
    only = data[0] if len(data) == 1 and isinstance(data[0], Mapping) else {}
    if "JobID" not in only or "Status" not in only or envelope["Info"] or envelope["Errors"]:
        return ""
    done = f", {only['TasksDone']:,} of {counted(only['Tasks'], 'task')} done" if _goes_on(only) else ""
    return f"Job {only['JobID']}: {only['Status']}{done}."


def _goes_on(document: Mapping[str, Any]) -> bool:
    amounts = (document.get("TasksDone"), document.get("Tasks"))
    return document["Status"] == "running" and all(isinstance(each, int) for each in amounts)


def foot_line(data: Sequence[Any], rows: Rows | None, seconds: float) -> str:
    """Return what is known of a result's making in one line; nothing where there is nothing to say."""
    only = data[0] if len(data) == 1 and isinstance(data[0], Mapping) else {}
    parts: list[str] = []
    if "RunID" in only:
        parts = [f"run {short_id(str(only['RunID']))}", *_time(only)]
    elif "JobID" in only:
        amounts = [f"{only[key]:,} {word}" for key, word in _AMOUNTS if _is_told(only, key)]
        parts = [f"job {short_id(str(only['JobID']))}", *_time(only), ", ".join(amounts)]
    elif rows is not None:
        parts = [counted(len(rows.values), "row"), f"{seconds:.1f} s"]
    return " · ".join(filter(None, parts))


def next_lines(data: Sequence[Any]) -> Iterator[str]:
    """Yield what can be done about a run or a job that did not end well."""
    for each in data:
        if not isinstance(each, Mapping) or str(each.get("Status")) not in _FAILED:
            continue
        if "RunID" in each:
            yield f"Resume: mason workflow --resume {str(each['RunID'])[:_SHOWN_ID]}"
        elif "JobID" in each and each.get("Log"):
            yield f"Log: mason job logs {str(each['JobID'])[:_SHOWN_ID]}"


def _time(document: Mapping[str, Any]) -> Iterator[str]:
    try:
        took = datetime.fromisoformat(document["EndedAt"]) - datetime.fromisoformat(document["StartedAt"])
    except (KeyError, TypeError, ValueError):  # it goes on, or its engine says no times
        return
    yield f"{took.total_seconds():.1f} s"


def _is_told(document: Mapping[str, Any], key: str) -> bool:
    """Say whether an amount is there to be told: nothing in the quarantine is not worth a word."""
    amount = document.get(key)
    return isinstance(amount, int) and (amount > 0 or key != "RowsQuarantined")
