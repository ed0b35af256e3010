"""The process that starts a warm server, and stops it when nobody has used it for a while.

`python -m mason.clients.spark.server.keeper FOLDER` reads `launch.json` in the folder. The server is the keeper's
child, and dies with it where the system can arrange that; elsewhere the next command finds it and stops it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType

from mason.clients.spark.class_archive import ClassArchive, with_archive
from mason.clients.spark.server import launch, record, sessions
from mason.clients.spark.settings import private_variables
from mason.errors import BadInput
from mason.util.processes import ProcessId, die_with_parent

IDLE_VARIABLE = "MASON_SPARK_IDLE_MINUTES"
DEFAULT_IDLE_MINUTES = 15.0
START_SECONDS = 120.0

_PORTS_TRIED = 5
_KILLED_TASK = re.compile(rb"Killed task \d+ is still running after (\d+) ms")
_DEAF_AFTER = 5_000
"""Milliseconds: Spark gives a task in Python two seconds to end by itself, and a busy machine takes its time."""
_TICK = 1.0
_IDLE_SECONDS_BEFORE_ARCHIVE = 5.0
_SECONDS_TO_STOP = 10.0
_SECONDS_FOR_THE_DEAF = 1.0
"""Java would wait for the tasks, and the next command for Java."""


def tells_of_deaf_tasks(log: bytes) -> bool:
    """Say whether Spark tells of a task that goes on long after it was cancelled."""
    return any(int(elapsed) >= _DEAF_AFTER for elapsed in _KILLED_TASK.findall(log))


class Keeper:
    """Keeps one server."""

    def __init__(self, folder: Path, key: str, conf: Mapping[str, str], idle_minutes: float) -> None:
        self._folder, self._key, self._conf = folder, key, conf
        self._idle_seconds = idle_minutes * 60
        self._scratch = Path(tempfile.mkdtemp(prefix="mason-spark-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._must_stop = False
        self._log_read = 0
        self._archive = ClassArchive.of(Path(os.environ["JAVA_HOME"]))
        self._may_make_archive = True

    def run(self, ports: Callable[[], int] = launch.free_port) -> None:
        """Start the server, wait until it is not needed any more, and stop it."""
        # A signal ends the wait between two looks; without this Python would sleep on.
        self._wake, waking = socket.socketpair()
        waking.setblocking(False)
        signal.set_wakeup_fd(waking.fileno())
        signal.signal(signal.SIGTERM, self._on_signal)
        try:
            if self._start(ports):
                self._watch()
        finally:
            self._stop()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._must_stop = True

    def _start(self, ports: Callable[[], int]) -> bool:
        for _ in range(_PORTS_TRIED):
            port = ports()
            if _is_open(port):
                continue
            server = self._launch(port)
            if self._try_to_open(port):
                replace(server, ready=True).write(self._folder)
                return True
            if "BindException" not in self._log():
                break
        if not self._must_stop:
            record.write_private(self._folder / record.FAILURE, self._log()[-4000:] or "it did not start")
        return False

    def _launch(self, port: int) -> record.ServerRecord:
        token = secrets.token_urlsafe(32)
        record.write_private(self._folder / record.TOKEN, token)
        log = os.open(self._folder / record.LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            self._process = subprocess.Popen(
                launch.server_command(with_archive(self._conf, self._archive), port, self._scratch),
                cwd=self._scratch,
                env={**os.environ, **private_variables(self._scratch), launch.TOKEN_VARIABLE: token},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        finally:
            os.close(log)
        server = record.ServerRecord(
            key=self._key,
            port=port,
            server=ProcessId.of(self._process.pid),
            keeper=ProcessId.of(os.getpid()),
            token_digest=hashlib.sha256(token.encode()).hexdigest(),
            scratch=str(self._scratch),
            since=time.time(),
        )
        server.write(self._folder)
        return server

    def _try_to_open(self, port: int) -> bool:
        end = time.monotonic() + START_SECONDS
        while self._lives() and time.monotonic() < end:
            if _is_open(port):
                return True
            time.sleep(0.1)
        return False

    def _watch(self) -> None:
        last_busy = time.time()
        while self._lives():
            select.select([self._wake], [], [], _TICK)
            with record.hold_lock(self._folder, patience=0) as mine:
                if not mine:
                    # A command is just choosing its session.
                    last_busy = time.time()
                    continue
                _, in_use = sessions.count_sessions(self._folder)
                if in_use:
                    last_busy = time.time()
                idle = time.time() - max(last_busy, sessions.last_use(self._folder))
                retired = not in_use and ((self._folder / record.RETIRE).exists() or record.has_successor(self._folder))
                if idle > _IDLE_SECONDS_BEFORE_ARCHIVE:
                    self._make_archive()
                if self._has_deaf_tasks() and not in_use:
                    self._stop(_SECONDS_FOR_THE_DEAF)
                if retired or idle > self._idle_seconds or self._was_replaced():
                    self._stop()

    def _make_archive(self) -> None:
        """Have the archive of Spark's classes made, if there is none: nobody is waiting for this server now."""
        if self._archive and self._may_make_archive:
            self._may_make_archive = False
            self._archive.make_in_background()

    def _has_deaf_tasks(self) -> bool:
        """Whether Spark has just said that a task of a cancelled job goes on: it may hold a core for hours."""
        try:
            with (self._folder / record.LOG).open("rb") as log:
                log.seek(self._log_read)
                said = log.read()
                self._log_read = log.tell()
        except FileNotFoundError:
            return False
        return tells_of_deaf_tasks(said)

    def _was_replaced(self) -> bool:
        found = record.ServerRecord.read(self._folder)
        return found is None or found.keeper.pid != os.getpid()

    def _stop(self, patience: float = _SECONDS_TO_STOP) -> None:
        """Stop the server. A command that comes meanwhile waits for the lock, or finds the server dead."""
        process, self._process = self._process, None
        if process:
            process.terminate()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if not self._was_replaced():
            record.forget(self._folder)
            sessions.forget_sessions(self._folder)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _lives(self) -> bool:
        return not self._must_stop and self._process is not None and self._process.poll() is None

    def _log(self) -> str:
        try:
            return (self._folder / record.LOG).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""


def idle_minutes(variables: Mapping[str, str] = os.environ) -> float:
    """Return after how many minutes a server that nobody uses is stopped.

    Raises:
        BadInput: the variable says something else than a number of minutes.
    """
    given = variables.get(IDLE_VARIABLE) or str(DEFAULT_IDLE_MINUTES)
    try:
        minutes = float(given)
    except ValueError:
        minutes = math.nan
    if not (math.isfinite(minutes) and minutes >= 0):
        raise BadInput(f'{IDLE_VARIABLE} is "{given}": it must be a number of minutes.')
    return minutes


def _is_open(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def main(folder: Path) -> None:
    """Leave the command that asked for a server, and keep one."""
    if os.fork():
        # The command waits for this process, not for its child: no zombie stays with it.
        os._exit(0)
    launch = json.loads((folder / "launch.json").read_text(encoding="utf-8"))
    Keeper(folder, launch["key"], launch["conf"], idle_minutes()).run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
