"""What a child of the server does: it runs the calls that come through its connection, one after the other.

It is made from a process that has Mason imported, and has a session of its own: whoever ends it ends all that its
calls have started. What it prints goes to the server, which logs it; what it logs goes where the server logs.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mason.api.processes.limits import CallLimits
from mason.api.server.calls.call import Call, answer_cancelled
from mason.api.server.calls.execution import Execution
from mason.api.server.json_log import start_logging
from mason.api.server.settings import ServerSettings
from mason.clients.discovery import find_client
from mason.errors import StateFailed
from mason.operators.registration.catalogue import LiveCatalogue
from mason.pipeline.driving.handover import Handover
from mason.pipeline.driving.job_log import JobLog
from mason.pipeline.driving.job_progress import TOTALS
from mason.state.home import open_state
from mason.state.models import Kind
from mason.state.tokens import TOKEN_VARIABLE
from mason.util.environment import SERVED_VARIABLE
from mason.util.json_text import compact_json

_SLACK = 2 * 1024**3
"""Of addresses that are asked for and never used: allocators and threads take them in advance."""

_PATIENCE_SECONDS = 300.0
_LOOK_SECONDS = 0.25
_LOG_SECONDS = 1.0
"""So often what a call says is told while it runs."""

_FIRST_TO_GO = "500"
"""Should the machine itself run out of memory, its kernel is to end a call and not the server."""


def serve_calls(connection: Connection, output: Connection, settings: str, limits: Mapping[str, Any]) -> None:
    """Run calls until the connection is closed."""
    multiprocessing.current_process().daemon = False  # what a call runs may start processes of its own
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _volunteer()
    server = ServerSettings.of_json(settings)
    start_logging(server.log_level, open(os.dup(2), "w", buffering=1, encoding="utf-8"))  # noqa: SIM115
    for each in (1, 2):
        os.dup2(output.fileno(), each)
    output.close()
    os.environ[SERVED_VARIABLE] = "1"
    os.environ.pop(TOKEN_VARIABLE, None)  # it opens everything, and is for who asks the server
    threading.Thread(target=_end_with_server, daemon=True).start()
    with suppress(EOFError, KeyboardInterrupt, ConnectionError):
        _Child(connection, server, CallLimits(**limits)).work()


def _volunteer() -> None:
    with suppress(OSError):  # there is no such thing elsewhere
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os.killpg(0, signal.SIGKILL)


class _Child:
    """The calls of one child."""

    def __init__(self, connection: Connection, settings: ServerSettings, limits: CallLimits) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._limits = limits
        self._env = settings.environment()
        self._live: LiveCatalogue
        self._execution: Execution
        self._is_open = False

    def work(self) -> None:
        with suppress(StateFailed):  # who asks for a call waits for it
            self._open()
        self._send({"ready": True})
        while True:
            self._serve(json.loads(self._connection.recv_bytes()))

    def _serve(self, asked: Mapping[str, Any]) -> None:
        """Run one call. What it was given goes with this frame: a child that waits holds nothing of its last call."""
        call = Call.of_document(asked)
        self._wait_for_state()
        ended = self._run(call, asked)
        try:
            self._send(ended)
        except (TypeError, ValueError, AttributeError) as error:  # an object of the author's cannot be shown
            self._send({**ended, "answer": self._execution.fail(call, error)})

    def _open(self) -> None:
        store = open_state(self._env)
        self._live = LiveCatalogue(self._env, store)
        self._execution = Execution(
            self._env, self._live, memory=self._limits.memory, patience=_PATIENCE_SECONDS if store.is_far else 0
        )
        self._is_open = True

    def _wait_for_state(self) -> None:
        """Wait until the state is there: a call that was accepted is run, whatever becomes of the state meanwhile."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_open:
            try:
                self._open()
            except StateFailed:
                if time.monotonic() > end:
                    raise
                time.sleep(_LOOK_SECONDS)

    def _run(self, call: Call, asked: Mapping[str, Any]) -> dict[str, Any]:
        handover = Handover(**asked["handover"], keep=self._keep, announce=self._announce)
        before = TOTALS.to_dict()
        log = JobLog(lambda text: self._execution.log_as_seen(call, text))
        try:
            with self._limit_memory(call), self._telling(log):
                answer = self._execution(call, handover)
        except KeyboardInterrupt:
            answer = answer_cancelled("The job was cancelled.")
        finally:
            log.close()
            _flush()
        sums = {name: number - before[name] for name, number in TOTALS.to_dict().items()}
        return {"answer": answer, "log": log.lines(), "is_forgotten": handover.is_forgotten, "sums": sums}

    @contextmanager
    def _telling(self, log: JobLog) -> Iterator[None]:
        """Send the server what the call says while it runs: its process may not live to its end."""
        is_over = threading.Event()
        thread = threading.Thread(target=self._tell, args=(log, is_over), name="mason-call-log", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _tell(self, log: JobLog, is_over: threading.Event) -> None:
        sent: list[str] = []
        while not is_over.wait(_LOG_SECONDS):
            lines = log.lines()
            if lines != sent:
                with suppress(OSError):  # the server is gone, and this process is about to be
                    self._send({"said": lines})
                sent = lines

    @contextmanager
    def _limit_memory(self, call: Call) -> Iterator[None]:
        """Limit the addresses that this process may have, unless a Java may be started in it, which takes many."""
        if self._limits.memory is None or self._may_start_java(call):
            yield
            return
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _addresses() + self._limits.memory + _SLACK
        resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    def _may_start_java(self, call: Call) -> bool:
        if call.kind is Kind.WORKFLOW:
            return True  # each of its steps may have a configuration of its own
        try:
            engines = self._live.latest().configuration(call.config_id).execution.client_names
            return any(client.schema.get("x-mason-starts-java") for each in engines if (client := find_client(each)))
        except Exception:  # noqa: BLE001 (the call itself says what is wrong with it)
            return False

    def _keep(self, engine_id: str, notes: Mapping[str, str]) -> None:
        self._ask({"keep": [engine_id, dict(notes)]})

    def _announce(self, token: str, notes: Mapping[str, str]) -> None:
        self._ask({"announce": [token, dict(notes)]})

    def _ask(self, message: Mapping[str, Any]) -> None:
        """Tell the server something, and go on when it has written that down."""
        self._send(message)
        self._connection.recv_bytes()

    def _send(self, message: Mapping[str, Any]) -> None:
        content = compact_json(message)
        with self._sending:
            self._connection.send_bytes(content)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def _addresses() -> int:
    """Return how many bytes of addresses this process has."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()
