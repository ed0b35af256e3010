"""Removes what is over and older than anybody wants to look at: jobs, runs and what belongs to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from mason.engines.execution.models.job import JobStatus
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.errors import InvalidConfiguration
from mason.operators.calls.records import call_status, find_record
from mason.state.models import RecordKind, RecordMark
from mason.state.schedules import run_ids_of_schedules
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment, read_settings
from mason.util.words import DURATION_HOW, read_duration
from mason.workflows.runs.recorded_runs import is_alive

VARIABLE = "MASON_RETENTION"
OFF = "off"
_PAGE = 200
"""So many are removed at a time: whoever else writes does not wait for all of them."""


def retention_of(env: MasonEnvironment, variables: Mapping[str, str] = os.environ) -> timedelta | None:
    """Return how long jobs and runs that are over are kept; None for as long as the state itself.

    Raises:
        InvalidConfiguration: what is written there is not a time.
    """
    chosen = variables.get(VARIABLE, "")
    source = VARIABLE if chosen else f"{env.shorten_home(env.settings_file)}: retention"
    given = chosen or read_settings(env).get("retention")
    if given in (None, "", OFF, False):
        return None
    duration = read_duration(given) if isinstance(given, str) else None
    if duration is None:
        raise InvalidConfiguration([f'{source}: "{given}" is not a time that something can be kept. {DURATION_HOW}'])
    return duration


def prune(store: StateStore, keep: timedelta) -> dict[str, int]:
    """Remove the jobs and runs that are over, and were not changed for so long, and say how many of each.

    The last run of a schedule stays, however old: it tells the scheduler that the run has begun.
    """
    before = (datetime.now(UTC) - keep).isoformat(timespec="microseconds")
    scheduled_runs = run_ids_of_schedules(store)
    removed = {kind: _prune_kind(store, kind, before, scheduled_runs) for kind in (RecordKind.CALL, RecordKind.JOB)}
    runs = _prune_kind(store, RecordKind.RUN, before, scheduled_runs)
    _prune_kind(store, RecordKind.CANCELLATION, before, scheduled_runs)  # last: it stays as long as its job
    return {"jobs": sum(removed.values()), "runs": runs}


def _prune_kind(store: StateStore, kind: RecordKind, before: str, exempt: set[str]) -> int:
    removed, last = 0, None
    while True:
        found = store.list_old_records(kind, before, after=last, limit=_PAGE)
        over = [
            each.id for each in found if not (kind is RecordKind.RUN and each.id in exempt) and _is_over(store, each)
        ]
        removed += store.remove_old_records(kind, over, before)
        if len(found) < _PAGE:
            return removed
        last = found[-1]


def _is_over(store: StateStore, mark: RecordMark) -> bool:
    if mark.kind is RecordKind.CANCELLATION:
        return find_record(store, mark.id) is None
    if mark.kind is RecordKind.RUN:
        run = None if StepStatus(mark.status).is_final else store.get_record(RecordKind.RUN, mark.id)
        return run is None or not is_alive(store, run)
    if JobStatus(mark.status).is_final:
        return True
    if mark.kind is RecordKind.JOB:
        return not store.is_held(mark.kind.lease(mark.id))
    call = store.get_record(RecordKind.CALL, mark.id)
    return call is None or call_status(store, call).is_final
