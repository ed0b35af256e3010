"""Spark on this machine: a warm server where one may be kept, else a session in this process."""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mason.clients.spark.driver.apart import Apart, has_own_code, run_apart
from mason.clients.spark.failures import out_of_memory
from mason.clients.spark.in_process import InProcessRunner
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.server.record import ran_out_of_memory
from mason.clients.spark.server.warm import ServerUnavailable, WarmSession, give_up, has_server, warm_session
from mason.clients.spark.settings import RunnerSettings
from mason.clients.spark.start_times import SERVER, start_in_background, start_spark
from mason.errors import ClientFailed, Forbidden
from mason.pipeline.work.tasks import Starting, TaskEvent
from mason.util.environment import SERVED_VARIABLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_logger = logging.getLogger("mason")

# The server is on this machine: what does not answer within four seconds is not there.
_RETRIES = 4
_SECONDS_TO_GO_WITHOUT = 300.0
_EDITORS = ("VSCODE_IPC_HOOK_CLI", "REMOTE_CONTAINERS", "CODESPACES", "JPY_SESSION_NAME", "JPY_PARENT_PID")
_CONTAINER_MARKS = ("docker", "kubepods", "containerd", "libpod", "lxc")


class LocalRunner:
    """Runs tasks on the warm server; on a Spark in this process when there is none and none may be kept."""

    uses = frozenset({"driver_memory", "packages", "warm"})
    starts_spark = True

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._held: WarmConnection | None = None
        self._go_without_until = 0.0

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        if not tasks:
            return
        held = yield from self._server()
        if held is None:
            yield from InProcessRunner(self._settings).run(kernel, tasks)
            return
        from mason.clients.spark.job import run_job
        from mason.clients.spark.results import Streamed

        yield from _while_alive(held, self._settings.local_memory, run_job(held.spark, kernel, tasks, Streamed))

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        held = yield from self._server()
        if has_own_code(content):
            yield from self._apart(held, content)
            return
        if held is None:
            yield from InProcessRunner(self._settings).query(content)
            return
        from mason.clients.spark.job import run_query
        from mason.clients.spark.results import Streamed

        yield from _while_alive(held, self._settings.local_memory, run_query(held.spark, content, Streamed))

    def _apart(self, held: WarmConnection | None, content: bytes) -> Iterator[TaskEvent]:
        """Run an author's code in a process of its own, in this runner's session, which nobody else has meanwhile."""
        if held is None:
            yield from run_apart(Apart(settings=self._settings, content=content))
            return
        session, tag = held.session, f"mason-{uuid.uuid4()}"
        apart = Apart(
            settings=self._settings,
            content=content,
            port=session.server.port,
            token=session.token,
            session=session.lease.id,
            tag=tag,
        )
        try:
            yield from _while_alive(held, self._settings.local_memory, run_apart(apart))
        finally:
            with suppress(Exception):  # the child has done it, unless it had to be killed
                held.spark.interruptTag(tag)

    def start_early(self) -> None:
        """Begin to reach a server that runs, or to start the Spark of this process.

        A server is started by the job alone: it outlives the command, and the job may turn out not to be one.
        """
        if not keeps_warm(self._settings.warm):
            InProcessRunner(self._settings).start_early()
        elif self._held is None and has_server(Launch.of(self._settings, java_home())):
            start_in_background(self._connection)

    def describe(self) -> str:
        if self._held:
            server = self._held.session.server
            return f"the warm Spark server {server.key} (process {server.server.pid})"
        return "a warm Spark server" if keeps_warm(self._settings.warm) else "Spark in this process"

    def close(self) -> None:
        with self._lock:
            if self._held:
                self._held.release()
                self._held = None

    def _server(self) -> Generator[Starting, None, WarmConnection | None]:
        """Wait for the warm server and return it; nothing if none may be kept, or none can be had."""
        if not keeps_warm(self._settings.warm) or time.monotonic() < self._go_without_until:
            return None
        try:
            return (yield from start_spark(SERVER, self._connection))
        except (ServerUnavailable, Forbidden, OSError) as error:
            # A job runs tasks more than once: it does not wait again for what has just failed, and warns once.
            self._go_without_until = time.monotonic() + _SECONDS_TO_GO_WITHOUT
            _logger.warning("Spark runs in this process, which takes longer to start: %s", error)
            return None

    def _connection(self) -> WarmConnection:
        with self._lock:
            if self._held and not self._held.alive:
                self._held.release()
                self._held = None
            self._held = self._held or self._connect()
            return self._held

    def _connect(self) -> WarmConnection:
        from mason.clients.spark.connection import when_forgotten

        held = connect(Launch.of(self._settings, java_home()))
        # A runner that nobody closes gives its session back when it is forgotten, or when the process ends.
        when_forgotten(self, held.release)
        return held


def _while_alive(held: WarmConnection, memory: str, events: Iterator[TaskEvent]) -> Iterator[TaskEvent]:
    try:
        yield from events
    except ClientFailed as error:
        if held.alive:
            raise
        if ran_out_of_memory(held.session.folder):
            raise out_of_memory(memory) from error
        raise ClientFailed("The warm Spark server was stopped while the job ran.", hint="Run it again.") from error


@dataclass(frozen=True)
class WarmConnection:
    """A leased session of the warm server, and the connection to it."""

    session: WarmSession
    spark: SparkSession

    @property
    def alive(self) -> bool:
        return self.session.server.server.alive

    def release(self) -> None:
        """Close the connection and let the next command have the session; doing so twice does no harm."""
        from mason.clients.spark.connection import close_session

        close_session(self.spark)
        self.session.lease.give_back()


def connect(launch: Launch) -> WarmConnection:
    """Return a session of the warm server that fits; one that is closed, or a server that hangs, is replaced once."""
    from mason.clients.spark.connection import LoopbackBuilder, NoAnswer, SessionClosed, open_session, ping

    for last_try in (False, True):
        session = warm_session(launch)
        builder = LoopbackBuilder(session.server.port, session.token, session.lease.id)
        try:
            ping(builder)
        except SessionClosed:
            session.lease.discard()
        except NoAnswer as error:
            give_up(session)
            if last_try:
                raise ServerUnavailable(f"The warm Spark server does not answer ({error}).") from error
        else:
            spark = open_session(builder, retries=_RETRIES)
            if session.lease.left_behind:
                spark.interruptAll()
            return WarmConnection(session, spark)
    raise ServerUnavailable("The warm Spark server closes its sessions.")


def keeps_warm(wanted: str, variables: Mapping[str, str] = os.environ, root: Path = Path("/")) -> bool:
    """Return whether a server may stay behind: where a person works, and wherever the configuration says so."""
    return wanted == "always" if wanted != "auto" else not why_none_is_kept(variables, root)


def why_none_is_kept(
    variables: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    pid: int | None = None,
    terminal: bool | None = None,
) -> str:
    """Return what keeps a server from staying behind when the configuration says nothing; "" for nothing.

    In a container one stays only where a person works: in a terminal, or in the remote session of an editor.
    """
    if variables.get(SERVED_VARIABLE):
        return ""
    if variables.get("CI"):
        return "CI is set"
    if variables.get("MASON_SCHEDULED"):
        return "this is a scheduled task"
    if not _in_container(root):
        return ""
    if (os.getpid() if pid is None else pid) == 1:
        return "this command is all that its container runs"
    if any(variables.get(name) for name in _EDITORS) or (_has_terminal() if terminal is None else terminal):
        return ""
    return "this is a container"


def _has_terminal() -> bool:
    return any(os.isatty(each) for each in (0, 2))


def _in_container(root: Path) -> bool:
    if (root / ".dockerenv").exists() or (root / "run" / ".containerenv").exists():
        return True
    try:
        groups = (root / "proc" / "1" / "cgroup").read_text(encoding="utf-8")
    except OSError:
        return False
    return any(mark in groups for mark in _CONTAINER_MARKS)
