"""Schedules as the state keeps them: what was deployed, for which scheduler, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mason.errors import AlreadyExists, Conflict, NotFound
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.nearest import did_you_mean

DEPLOYED = "deployed"
_MOST = 100_000
Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def change_schedule(store: StateStore, scheduler: str, name: str, change: Change) -> Record:
    """Keep what `change` makes of what is known of a schedule, which is nothing for a new one.

    `change` is called again when another process was faster.
    """
    while True:
        seen = store.get_record(RecordKind.SCHEDULE, _record_id(scheduler, name))
        try:
            if seen is None:
                return store.add_record(RecordKind.SCHEDULE, _record_id(scheduler, name), DEPLOYED, change({}))
            return store.update_record(seen, DEPLOYED, change(seen.document))
        except (AlreadyExists, Conflict):
            continue


def list_schedules(store: StateStore, scheduler: str) -> list[Record]:
    """Return the schedules of a scheduler, sorted by name."""
    found = store.list_records(RecordKind.SCHEDULE, limit=_MOST)
    return sorted((each for each in found if _is_of(each, scheduler)), key=lambda each: str(each.document["Name"]))


def find_schedule(store: StateStore, scheduler: str, name: str) -> Record:
    """Return a schedule.

    Raises:
        NotFound: there is no such schedule.
    """
    found = store.get_record(RecordKind.SCHEDULE, _record_id(scheduler, name))
    if found is None:
        raise unknown_schedule(name, [str(each.document["Name"]) for each in list_schedules(store, scheduler)])
    return found


def forget_schedule(store: StateStore, scheduler: str, name: str) -> bool:
    """Forget a schedule, and say whether it was there."""
    return store.delete_record(RecordKind.SCHEDULE, _record_id(scheduler, name))


def unknown_schedule(name: str, known: list[str]) -> NotFound:
    """Return the error that says which schedules there are instead."""
    listed = f"There are: {', '.join(known)}." if known else "There is none: `mason workflow … -d` deploys one."
    return NotFound(f'There is no schedule "{name}".', hint=did_you_mean(name, known) or listed)


def _record_id(scheduler: str, name: str) -> str:
    return f"{scheduler}:{name}"


def _is_of(record: Record, scheduler: str) -> bool:
    return record.id == _record_id(scheduler, str(record.document["Name"]))
