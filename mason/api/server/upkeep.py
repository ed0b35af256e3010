"""What the server does by itself for as long as it runs: it starts due schedules and removes old jobs and runs."""

from __future__ import annotations

import logging
import threading
import uuid
from queue import SimpleQueue

from mason.errors import StateFailed
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.workflows.retention import prune, retention_of
from mason.workflows.schedules.schedule_loop import ScheduleLoop
from mason.workflows.schedules.scheduled import RunProcess

LOG = logging.getLogger("mason.api")
HOUR = 3600.0
_LOOK_SECONDS = 60.0
_LEASE = "retention"


class Retention:
    """Looks in a thread, once an hour; of all servers that share a state one does so.

    Raises:
        InvalidConfiguration: what the settings say is not a time.
    """

    def __init__(self, env: MasonEnvironment) -> None:
        self._env = env
        self._keep = retention_of(env)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        if self._keep is not None:
            self._thread.start()

    def stop(self) -> None:
        self._over.set()

    def _run(self) -> None:
        assert self._keep is not None
        store = open_state(self._env)  # in this thread: a connection to the state is one thread's
        while True:
            try:
                # Nobody gives the lease back: it is the hour until the next look.
                if store.acquire_lease(_LEASE, uuid.uuid4().hex, HOUR):
                    removed = prune(store, self._keep)
                    if any(removed.values()):
                        LOG.info("Removed %(jobs)d jobs and %(runs)d runs that were kept long enough.", removed)
            except StateFailed as error:  # it may be a moment: the next look is soon
                LOG.warning("%s", error)
            if self._over.wait(_LOOK_SECONDS):
                return


class Schedules:
    """Looks at the schedules in a thread. Other servers and workers may do so too: a run is claimed by one of them."""

    def __init__(self, env: MasonEnvironment, log_level: str) -> None:
        self._env = env
        self._options = ["--json-log", "--log-level", log_level]
        self._stop: SimpleQueue[int] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="schedules", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the runs that go on; they can be resumed."""
        self._stop.put(0)
        self._thread.join()

    def _run(self) -> None:
        store = open_state(self._env)  # in this thread: a connection to the state is one thread's
        ScheduleLoop(store, lambda name, due: RunProcess(self._env, name, due, self._options)).run(self._stop)
