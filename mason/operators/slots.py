"""Slots: so many detached calls work at the same time on one state, and the others wait.

A slot is a lease in the state. Whoever holds one works; one whose process is gone expires and is free again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from mason.errors import BadInput
from mason.state.heartbeat import LEASE_SECONDS, Heartbeat
from mason.state.store import StateStore

VARIABLE = "MASON_DETACHED_JOBS"
_LOOK_SECONDS = 0.25


def slot_count(variables: Mapping[str, str] = os.environ) -> int:
    """Return how many detached calls work at the same time: as many as there are cores, unless a variable says so.

    Raises:
        BadInput: the variable is no number above 0.
    """
    told = variables.get(VARIABLE, "")
    if not told:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not told.isdecimal() or not int(told):
        raise BadInput(f'{VARIABLE} is "{told}".', hint="It says how many jobs run at the same time: 4.")
    return int(told)


def wait_for_slot(store: StateStore, owner: str, count: int, look_up: Callable[[], None]) -> Heartbeat:
    """Wait until one of the slots is free, and hold it until the heartbeat is stopped.

    Args:
        look_up: called between two looks; what it raises ends the wait.
    """
    while True:
        for number in range(count):
            name = f"slot:{number}"
            lease = store.acquire_lease(name, owner, LEASE_SECONDS)
            if lease:
                return Heartbeat(store, name, owner, lease)
        look_up()
        time.sleep(_LOOK_SECONDS)
