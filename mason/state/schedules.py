"""Schedules as the state keeps them: what was deployed, for which scheduler, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from mason.errors import AlreadyExists, Conflict, Forbidden, NotFound
from mason.state.models import Record, RecordKind
from mason.state.store import StateStore
from mason.util.names import did_you_mean

LOCAL = "local"
"""The scheduler whose schedules are kept in the state alone: Mason's own processes start what is due."""

DEPLOYED = "deployed"
PAUSED = "Paused"
"""Under this word a schedule says why it waits until it is deployed again."""

_MOST = 100_000
Change = Callable[[Mapping[str, Any]], Mapping[str, Any]]

MAY_USE: ContextVar[Callable[[Mapping[str, Any]], bool]] = ContextVar("mason_may_use", default=lambda _: True)
"""Says of a schedule whether whoever asks may see, replace, trigger or delete it: a server knows callers who may not.

It is told what the state has of the schedule: who deployed it, and which operators and configurations it uses.
"""


def change_schedule(store: StateStore, scheduler: str, name: str, change: Change) -> Record:
    """Keep what `change` makes of what is known of a schedule, which is nothing for a new one.

    `change` is called again when another process was faster.

    Raises:
        Forbidden: whoever asks may not change it.
    """
    while True:
        seen = store.get_record(RecordKind.SCHEDULE, _record_id(scheduler, name))
        try:
            if seen is None:
                return store.add_record(RecordKind.SCHEDULE, _record_id(scheduler, name), DEPLOYED, change({}))
            check_may_use(name, seen.document)
            return store.update_record(seen, DEPLOYED, change(seen.document))
        except (AlreadyExists, Conflict):
            continue


def list_schedules(store: StateStore, scheduler: str) -> list[Record]:
    """Return the schedules of a scheduler that whoever asks may see, sorted by name."""
    may_use = MAY_USE.get()
    found = [each for each in _all(store, scheduler) if may_use(each.document)]
    return sorted(found, key=lambda each: str(each.document["Name"]))


def list_hidden_names(store: StateStore, scheduler: str) -> set[str]:
    """Return the names of the schedules that whoever asks may not see, for a scheduler with a list of its own."""
    may_use = MAY_USE.get()
    return {str(each.document["Name"]) for each in _all(store, scheduler) if not may_use(each.document)}


def find_schedule(store: StateStore, scheduler: str, name: str) -> Record:
    """Return a schedule.

    Raises:
        NotFound: there is no such schedule.
    """
    found = store.get_record(RecordKind.SCHEDULE, _record_id(scheduler, name))
    if found is None:
        raise unknown_schedule(name, [str(each.document["Name"]) for each in list_schedules(store, scheduler)])
    return found


def list_deployed_by(store: StateStore, token: str) -> list[Record]:
    """Return what was deployed with a token, for whichever scheduler, sorted by name."""
    found = store.list_records(RecordKind.SCHEDULE, limit=_MOST)
    return sorted((each for each in found if each.document.get("DeployedBy") == token), key=lambda each: each.id)


def scheduler_of(record: Record) -> str:
    """Return the scheduler that a schedule is for."""
    return record.id.removesuffix(f":{record.document['Name']}")


def note_deployer(store: StateStore, scheduler: str, name: str, token: str) -> str:
    """Keep with which token a schedule was deployed that only its scheduler keeps; "" forgets it.

    Whoever revokes the token is told of it. Returns what was noted before.
    """
    record_id, wanted = _record_id(scheduler, name), {"Name": name, "DeployedBy": token}
    while True:
        seen = store.get_record(RecordKind.SCHEDULE, record_id)
        try:
            if not token:
                store.delete_record(RecordKind.SCHEDULE, record_id)
            elif seen is None:
                store.add_record(RecordKind.SCHEDULE, record_id, DEPLOYED, wanted)
            else:
                store.update_record(seen, DEPLOYED, wanted)
        except (AlreadyExists, Conflict):
            continue
        return str(seen.document.get("DeployedBy", "")) if seen else ""


def pause_schedule(store: StateStore, seen: Record, reason: str) -> bool:
    """Have a schedule wait until it is deployed again, and say whether it does: not if somebody has by now.

    What it was triggered for is forgotten.
    """
    while True:
        rest = {key: value for key, value in seen.document.items() if key != "Triggered"}
        try:
            store.update_record(seen, DEPLOYED, {**rest, PAUSED: reason})
            return True
        except Conflict:
            now = store.get_record(RecordKind.SCHEDULE, seen.id)
            if now is None or now.document.get("DeployedBy") != seen.document.get("DeployedBy"):
                return False
            seen = now


def run_ids_of_schedules(store: StateStore) -> set[str]:
    """Return the last run of each schedule, and the one that it was asked for."""
    found = store.list_records(RecordKind.SCHEDULE, limit=_MOST)
    said = [each.document.get(key) or {} for each in found for key in ("Firing", "Triggered")]
    return {str(each["RunID"]) for each in said if "RunID" in each}


def check_may_change(store: StateStore, scheduler: str, name: str) -> None:
    """Check that whoever asks may change a schedule; one that the state does not know, anybody may.

    Raises:
        Forbidden: it uses what is not theirs.
    """
    found = store.get_record(RecordKind.SCHEDULE, _record_id(scheduler, name))
    if found:
        check_may_use(name, found.document)


def check_may_use(name: str, uses: Mapping[str, Any]) -> None:
    """Check that whoever asks may use a schedule, by what is known of it.

    Raises:
        Forbidden: it uses what is not theirs.
    """
    if not MAY_USE.get()(uses):
        raise Forbidden(
            f'The schedule "{name}" uses operators or configurations that you may not use.',
            hint="Take another name for one of your own.",
        )


def forget_schedule(store: StateStore, scheduler: str, name: str) -> bool:
    """Forget a schedule, and say whether it was there.

    Raises:
        Forbidden: whoever asks may not change it.
    """
    check_may_change(store, scheduler, name)
    return store.delete_record(RecordKind.SCHEDULE, _record_id(scheduler, name))


def unknown_schedule(name: str, known: list[str]) -> NotFound:
    """Return the error that says which schedules there are instead."""
    listed = f"There are: {', '.join(known)}." if known else "None is deployed: `mason workflow … -d` deploys one."
    return NotFound(f'There is no schedule "{name}".', hint=did_you_mean(name, known) or listed)


def _all(store: StateStore, scheduler: str) -> list[Record]:
    return [each for each in store.list_records(RecordKind.SCHEDULE, limit=_MOST) if _is_of(each, scheduler)]


def _record_id(scheduler: str, name: str) -> str:
    return f"{scheduler}:{name}"


def _is_of(record: Record, scheduler: str) -> bool:
    return record.id == _record_id(scheduler, str(record.document["Name"]))
