"""The schedules of this machine, run by the server for as long as it runs."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.workflows.schedule_loop import ScheduleLoop
from mason.workflows.scheduled import RunProcess


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
        ScheduleLoop(store, lambda name, told: RunProcess(self._env, name, told, self._options)).run(self._stop)
