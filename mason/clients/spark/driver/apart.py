"""Runs a query with an author's own code in a process of its own.

`SPARK_CONNECT_MODE_ENABLED`, stdout and `sys.modules` are a process's as a whole: what an author imports, prints or
leaves behind must not reach Mason, or another author's code. What the child prints becomes lines of the job's log; its
results come through a pipe of their own. It ends with this process, whose end of the pipe to it closes.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO

from mason.clients.spark.exchange import ENDED, FAILED, HEAD
from mason.clients.spark.settings import RunnerSettings
from mason.errors import ClientFailed
from mason.pipeline.sql.query import SqlQuery
from mason.pipeline.work.failures import decode_failure
from mason.pipeline.work.tasks import BEAT_SECONDS, Starting, TaskEvent

BEAT, STARTING = -3, -4
"""The numbers of what are no results: a beat, with how many tasks are done, and that Spark starts."""

_LOG = logging.getLogger("mason.operator")
_SECONDS_TO_END = 8.0
_SECONDS_TO_DRAIN = 2.0
_MOST_LINES = 1000
_LONGEST_LINE = 10_000
_LAST_LINES = 15


@dataclass(frozen=True, kw_only=True)
class Apart:
    """All that the process needs: how it reaches its Spark, and what is to be run there."""

    settings: RunnerSettings
    content: bytes
    port: int = 0
    """Of the warm server; 0 where a runner reaches its Spark by itself."""
    token: str = ""
    session: str = ""
    tag: str = ""
    scratch: str = ""
    """The folder for its temporary files, which goes when it has ended."""

    @property
    def is_connect(self) -> bool:
        return bool(self.port) or self.settings.type == "connect"


def has_own_code(content: bytes) -> bool:
    """Say whether a query runs an author's code."""
    return SqlQuery.of(content).code is not None


def run_apart(apart: Apart) -> Iterator[TaskEvent]:
    """Run a query in a process of its own, and yield what it yields; closing the iterator ends the process.

    Raises:
        ClientFailed: the process ended without a word.
    """
    with tempfile.TemporaryDirectory(prefix="mason-own-", ignore_cleanup_errors=True) as scratch:
        yield from _run_in(replace(apart, scratch=scratch))


def _run_in(apart: Apart) -> Iterator[TaskEvent]:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "mason.clients.spark.driver.run_apart", str(writing)],
        env=_environment(apart),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(writing,),
        start_new_session=True,
    )
    os.close(writing)
    assert process.stdin and process.stdout
    said = _Said(process.stdout)
    try:
        with os.fdopen(reading, "rb", buffering=0) as results, suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps(apart))
            process.stdin.flush()
            yield from _events(process, results, said)
    finally:
        _end(process)
        with suppress(BrokenPipeError):
            process.stdin.close()
        said.drain()
        process.stdout.close()


def _events(process: subprocess.Popen[bytes], results: IO[bytes], said: _Said) -> Iterator[TaskEvent]:
    buffer = b""
    while True:
        ready, _, _ = select.select([results, said.stream] if said.is_open else [results], [], [], BEAT_SECONDS)
        if said.stream in ready:
            said.read()
        if results not in ready:
            if process.poll() is not None and not select.select([results], [], [], 0)[0]:
                # What the code has started may hold the pipe open; nobody writes to it any more.
                raise _ended_without_a_word(process, said)
            yield None
            continue
        content = os.read(results.fileno(), 1 << 20)
        if not content:
            raise _ended_without_a_word(process, said)
        buffer += content
        while len(buffer) >= HEAD.size:
            number, length = HEAD.unpack_from(buffer)
            if len(buffer) < HEAD.size + length:
                break
            payload, buffer = buffer[HEAD.size : HEAD.size + length], buffer[HEAD.size + length :]
            if number == ENDED:
                return
            if number == FAILED:
                raise decode_failure(payload)
            yield _event(number, payload)


def _event(number: int, payload: bytes) -> TaskEvent:
    if number == STARTING:
        return Starting(*json.loads(payload))
    if number == BEAT:
        done: int | None = json.loads(payload)
        return done
    return number, payload


class _Said:
    """What the code prints, line by line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.is_open = stream, True
        self.last: list[str] = []
        self._rest, self._count = b"", 0

    def read(self) -> None:
        content = os.read(self.stream.fileno(), 1 << 16)
        self.is_open = bool(content)
        *lines, rest = (self._rest + content).split(b"\n")
        self._rest = rest[:_LONGEST_LINE]  # of one without an end, which would not fit into memory, that is all
        for each in lines:
            self._tell(each[:_LONGEST_LINE])

    def drain(self) -> None:
        """Read what is left; the process is gone."""
        until = time.monotonic() + _SECONDS_TO_DRAIN  # what the code has started may print on and on
        while self.is_open and time.monotonic() < until and select.select([self.stream], [], [], 0)[0]:
            self.read()
        if self._rest:
            self._tell(self._rest)
            self._rest = b""

    def _tell(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        self._count += 1
        self.last = [*self.last, text][-_LAST_LINES:]
        if text and self._count <= _MOST_LINES:
            _LOG.info("%s", text)
        elif self._count == _MOST_LINES + 1:
            _LOG.info("(what the code prints from here on is left out)")


def _ended_without_a_word(process: subprocess.Popen[bytes], said: _Said) -> ClientFailed:
    code = process.wait()
    said.drain()
    if code == -signal.SIGKILL:
        reason = "it was killed, as a system does whose memory is full"
    else:
        reason = f"it ended with {code}"
    lines = "\n".join(said.last)
    return ClientFailed(f"The process that ran the operator's code is gone: {reason}.\n{lines}".rstrip())


def _environment(apart: Apart) -> Mapping[str, str]:
    # The functions of pyspark are others for Connect; a process can have but one kind.
    mode = {"SPARK_CONNECT_MODE_ENABLED": "1"} if apart.is_connect else {}
    return {**os.environ, **mode, "PYTHONUNBUFFERED": "1", "TMPDIR": apart.scratch}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process: it has Spark end what it runs, and is killed if it does not get to that.

    What its code has started and left behind ends with it; no other process gets the number of a group that has some.
    """
    if process.poll() is None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_END)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
