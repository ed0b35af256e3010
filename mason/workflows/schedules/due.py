"""What is to be done about a schedule at a moment: decided from what the state says of it, and nothing else.

The policy: of the moments that were missed (nobody looked, or the last run went on) only the newest is made up for. A
schedule has one run at a time. A clock that is set back repeats nothing; only one that was wrong by more than a day is
not believed any more.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from mason.engines.scheduler.models.timing import Timing
from mason.util.processes import ProcessId, this_host

WRONG_CLOCK = timedelta(days=1)
_STARTS_WITHIN = timedelta(minutes=10)


class Firing(NamedTuple):
    """A run of a schedule that was begun, or is about to be."""

    run_id: str
    due_at: str
    claimed_at: str
    host: str
    pid: int
    started: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Firing | None:
        """Return the last one of a schedule, if there was one."""
        said = document.get("Firing")
        if not said:
            return None
        process = said["Process"]
        return cls(said["RunID"], said["DueAt"], said["ClaimedAt"], process["Host"], process["Pid"], process["Started"])

    @classmethod
    def now(cls, due_at: str, now: datetime, run_id: str = "") -> Firing:
        """Return one that this process is going to start."""
        process = ProcessId.of(os.getpid())
        claimed = now.isoformat(timespec="seconds")
        run_id = run_id or uuid.uuid4().hex[:16]
        return cls(run_id, due_at, claimed, this_host(), process.pid, process.started)

    def is_being_started(self, now: datetime) -> bool:
        """Say whether the process that claimed it may still start it; of another machine's we know only the time."""
        if self.host == this_host():
            return ProcessId(self.pid, self.started).alive
        return abs(now - datetime.fromisoformat(self.claimed_at)) < _STARTS_WITHIN

    def to_dict(self) -> dict[str, Any]:
        process = {"Host": self.host, "Pid": self.pid, "Started": self.started}
        return {"RunID": self.run_id, "DueAt": self.due_at, "ClaimedAt": self.claimed_at, "Process": process}


class Claim(NamedTuple):
    """A run to start, and what the state has to say from now on for nobody else to start it."""

    firing: Firing
    document: Mapping[str, Any]


def claim(document: Mapping[str, Any], now: datetime) -> Claim | None:
    """Return what is due of a schedule that has no run going on, if something is."""
    triggered = document.get("Triggered")
    if triggered:
        firing = Firing.now(triggered["At"], now, triggered["RunID"])
        rest = {key: value for key, value in document.items() if key != "Triggered"}
        return Claim(firing, _claim_firing(rest, firing))
    if not document["Schedule"]:
        return None
    done_up_to = datetime.fromisoformat(document["DoneUpTo"])
    due = Timing.of(document["Schedule"]).newest(done_up_to, now)
    if due is None:
        return None
    firing = Firing.now(due.isoformat(), now)
    return Claim(firing, {**_claim_firing(document, firing), "DoneUpTo": due.isoformat()})


def claim_again(document: Mapping[str, Any], lost: Firing, now: datetime) -> Claim:
    """Return a run that was claimed and never began, since its process died, as one of this process.

    It keeps its id: should what that process started begin after all, only one of them can record the run.
    """
    firing = Firing.now(lost.due_at, now, lost.run_id)
    return Claim(firing, _claim_firing(document, firing))


def without_wrong_clock(document: Mapping[str, Any], now: datetime) -> Mapping[str, Any] | None:
    """Return the schedule as it goes on from now, if it was done up to a moment that is far in the future."""
    if datetime.fromisoformat(document["DoneUpTo"]) <= now + WRONG_CLOCK:
        return None
    return {**document, "DoneUpTo": now.isoformat(timespec="seconds")}


def _claim_firing(document: Mapping[str, Any], firing: Firing) -> dict[str, Any]:
    rest = {key: value for key, value in document.items() if key != "LastError"}
    return {**rest, "Firing": firing.to_dict()}
