"""How others see that a process works on something, wherever it runs: it holds a lease as long as it lives."""

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
