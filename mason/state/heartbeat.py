"""Leases with heartbeats: how others see that a process works on something, wherever it runs.

A lease is a row of the state: a name, who holds it, and when it expires by the clock of the database, so that clocks of
machines need not agree. Whoever works on a record holds its lease for `LEASE_SECONDS` and renews it three times in that
while, from a thread (the heartbeat). A process that dies renews nothing, its lease expires, and somebody else may
acquire it. A holder that could not reach the state for too long finds its lease gone and acquires it anew, if nobody
else has. On one machine nobody waits for that: there the process is looked up.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mason.errors import StateFailed
from mason.state.models import Lease
from mason.state.store import StateStore
from mason.util.processes import ProcessId, this_host, this_process

LEASE_SECONDS = 30.0
_SOON = 1.0


class Heartbeat:
    """Holds a lease from now on, until it is stopped or the process is gone."""

    def __init__(self, store: StateStore, name: str, owner: str, lease: Lease | None = None) -> None:
        """Acquire the lease, unless it is held already and given."""
        self._store = store
        self._name = name
        self._owner = owner
        self._over = threading.Event()
        self._lease = lease or store.acquire_lease(name, owner, LEASE_SECONDS)
        threading.Thread(target=self._hold, name=f"heartbeat {name}", daemon=True).start()

    @property
    def process(self) -> dict[str, str | int]:
        """What a record keeps of the process that works on it."""
        return {**this_process(), "Lease": self._name}

    def stop(self) -> None:
        """Give the lease back."""
        self._over.set()
        with suppress(StateFailed):  # it expires by itself
            if self._lease:
                self._store.release_lease(self._lease)

    def _hold(self) -> None:
        wait = LEASE_SECONDS / 3
        while not self._over.wait(wait):
            wait = _SOON  # should the store be away: others may look as soon as it is back
            with suppress(StateFailed):
                self._lease = self._lease_if_held(self._lease)
                wait = LEASE_SECONDS / 3

    def _lease_if_held(self, lease: Lease | None) -> Lease | None:
        if lease is not None and self._store.renew_lease(lease, LEASE_SECONDS):
            return lease
        return self._store.acquire_lease(self._name, self._owner, LEASE_SECONDS)


def is_gone(store: StateStore, process: Mapping[str, Any]) -> bool:
    """Say whether a process that a record names is gone.

    On this machine it is there or not. Of one elsewhere its lease tells: it expires some time after the process.
    """
    if process["Host"] == this_host():
        return not ProcessId(process["Pid"], process["Started"]).alive
    return "Lease" in process and not store.is_held(process["Lease"])
