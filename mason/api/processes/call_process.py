"""A child of the server, seen from the server: it runs one call at a time."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any

from mason.api.operator_api import Answer
from mason.api.processes.child import serve_calls
from mason.api.processes.limits import CallLimits, OutOfMemory, OutOfTime, TooManyProcesses
from mason.api.processes.outcome import Outcome
from mason.api.server.calls.call import Call, answer_cancelled
from mason.api.server.replies import document
from mason.api.server.requests import REQUEST, RequestInfo
from mason.api.server.settings import ServerSettings
from mason.errors import ClientFailed, MasonError
from mason.pipeline.driving.handover import Handover
from mason.pipeline.driving.job_progress import TOTALS
from mason.util.processes import Family, describe_exit, describe_last_lines, find_members

LOG = logging.getLogger("mason.api")
_KIND_SECONDS = 2.0
"""So long a call that was cancelled may take to notice by itself, before it is interrupted."""

_LAST_SECONDS = 10.0
"""So long one that was interrupted may take to end, before its process is killed."""

_KILLED = "The job was cancelled. It did not end by itself, and its process was killed."
_DRAIN_SECONDS = 1.0
_LINES = 20
_LONGEST_LINE = 2000
_TAIL_BYTES = 8192


class CallProcess:
    """One child. Only the thread that runs a call in it talks to it; others may ask it to end, or kill it."""

    def __init__(self, context: ForkServerContext, settings: ServerSettings, limits: CallLimits) -> None:
        self._limits = limits
        self._connection, theirs = context.Pipe()
        output, written = context.Pipe(duplex=False)
        arguments = (theirs, written, settings.to_json(), limits.to_dict())
        self._process = context.Process(target=serve_calls, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        written.close()
        self._output = Output(output, limits.output)
        self._why: Answer | None = None
        self._call: Call | None = None
        self._began = self._cancelled_at = self._interrupted_at = 0.0
        self.idle_since = time.monotonic()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def call(self) -> Call | None:
        return self._call

    @property
    def is_usable(self) -> bool:
        """Whether it can run another call: nobody has asked it to end, and it is alive."""
        return not self._cancelled_at and self._why is None and self._process.is_alive()

    def wait_until_ready(self) -> None:
        """Wait until it can run calls.

        Raises:
            ClientFailed: it ended instead.
        """
        try:
            self._receive()
        except (EOFError, OSError) as error:
            said = describe_last_lines(self._output.last_lines())
            self.end()
            raise ClientFailed(f"The process that was to run the call ended at once.{said}") from error

    def run(self, call: Call, handover: Handover, redact: Callable[[str], str]) -> Outcome:
        """Run a call and return what came of it; also when the process does not live to tell."""
        self._output.begin(RequestInfo(id=call.request_id, redact=redact))
        self._began, self._call = time.monotonic(), call
        try:
            return self._talk(call, handover)
        except (EOFError, OSError):
            self._process.join()
            return Outcome(self._why or self._explain_end(call))
        except (ValueError, LookupError, TypeError, AttributeError):  # the call itself has got hold of the connection
            nonsense = ClientFailed(f"The process that ran {call.name} talked nonsense.")
            return Outcome(self._kill_because(_answer(nonsense)))
        finally:
            self._call = None
            self.idle_since = time.monotonic()
            self._output.end()

    def cancel(self) -> None:
        """Ask for the end of its call: it has a while to notice, is interrupted then, and killed at last."""
        now = time.monotonic()
        if not self._cancelled_at:
            self._cancelled_at = now
        elif not self._interrupted_at and now - self._cancelled_at >= _KIND_SECONDS:
            self._interrupted_at = now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)
        elif self._interrupted_at and now - self._interrupted_at >= _LAST_SECONDS:
            self._kill_because(answer_cancelled(_KILLED))

    def check(self, family: Family) -> None:
        """Kill it if its call takes more than it may."""
        call, limits = self._call, self._limits
        if call is None:
            return
        name = str(call.name)
        if limits.memory is not None and family.resident_bytes > limits.memory:
            self._kill_because(_answer(OutOfMemory(name, limits.memory)))
        elif limits.processes is not None and family.count > limits.processes:
            self._kill_because(_answer(TooManyProcesses(name, limits.processes)))
        elif limits.seconds is not None and time.monotonic() - self._began > limits.seconds:
            self._kill_because(_answer(OutOfTime(name, limits.seconds)))

    def kill(self) -> None:
        """Kill it with all that its calls have started."""
        for each in (self.pid, *find_members(self.pid)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)

    def end(self) -> None:
        """Kill it, and let go of it."""
        self.kill()
        self._process.join()
        self._connection.close()
        self._output.close()
        self._process.close()

    def _talk(self, call: Call, handover: Handover) -> Outcome:
        given = {
            "earlier": handover.earlier,
            "notes": dict(handover.notes),
            "token": handover.token,
            "is_cancelled": handover.is_cancelled,
        }
        self._send({**call.to_document(), "handover": given})
        while True:
            message = self._receive()
            if "said" in message:
                handover.keep_log(message["said"])
                continue
            if "keep" in message:
                handover.keep(*message["keep"])
            elif "announce" in message:
                handover.announce(*message["announce"])
            else:
                break
            self._send({})
        handover.is_forgotten = message["is_forgotten"]
        TOTALS.add_sums(message["sums"])
        answer, status = message["answer"]
        return Outcome((answer, status), message["log"])

    def _send(self, message: Mapping[str, Any]) -> None:
        self._connection.send_bytes(json.dumps(message).encode())

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._connection.recv_bytes())
        return message

    def _kill_because(self, why: Answer) -> Answer:
        self._why = self._why or why
        self.kill()
        return self._why

    def _explain_end(self, call: Call) -> Answer:
        """Say why a process is gone that nobody here has ended."""
        code = self._process.exitcode
        if self._cancelled_at:
            return answer_cancelled("The job was cancelled.")
        if code == -signal.SIGKILL:  # the kernel takes the largest when there is no memory left
            return _answer(OutOfMemory(str(call.name), self._limits.memory))
        return _answer(ClientFailed(describe_exit(str(call.name), code, self._output.last_lines())))


class Output:
    """What a child prints: the beginning of it is logged, call by call, and the last lines are kept."""

    def __init__(self, connection: Connection, most: int | None) -> None:
        self._connection = connection
        self._most = most
        self._left: int | None = most
        self._dropped = 0
        self._rest = b""
        self._last: deque[str] = deque(maxlen=_LINES)
        self._request = RequestInfo(id="")
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._drain, name="mason-call-output", daemon=True)
        self._thread.start()

    def begin(self, request: RequestInfo) -> None:
        """From now on it is the call of this request that prints."""
        with self._lock:
            self._request, self._left, self._dropped, self._rest = request, self._most, 0, b""
            self._last.clear()

    def end(self) -> None:
        """The call is over."""
        with self._lock:
            if self._dropped:
                LOG.warning("The call printed %s bytes more, which are left out here.", f"{self._dropped:,}")

    def last_lines(self) -> Sequence[str]:
        """Return the last lines of a child that has ended; none if nobody can tell what is secret in them."""
        self._thread.join(_DRAIN_SECONDS)  # what it started may live on, and print
        with self._lock, suppress(MasonError):
            return [self._request.redact(each) for each in (*self._last, _text(self._rest)) if _may_be_answered(each)]
        return []

    def close(self) -> None:
        self._connection.close()

    def _drain(self) -> None:
        with suppress(OSError, ValueError):  # it was closed
            while piece := os.read(self._connection.fileno(), 65536):
                with self._lock:
                    self._take(piece)

    def _take(self, piece: bytes) -> None:
        printed = self._rest + piece
        is_too_much = self._left is not None and self._left <= 0
        if is_too_much:
            self._dropped += len(piece)
            printed = printed[-_TAIL_BYTES:]  # the last lines may be asked for; to look at all of it would take long
        elif self._left is not None:
            self._left -= len(piece)
        *lines, self._rest = printed.split(b"\n")
        self._rest = self._rest[-_LONGEST_LINE:]
        REQUEST.set(self._request)  # it tells the log whose line this is, and what is secret in it
        for line in filter(None, lines):
            self._last.append(_text(line))
            if not is_too_much:
                LOG.info("%s", self._last[-1])


def _text(line: bytes) -> str:
    return line[:_LONGEST_LINE].decode(errors="replace")


def _may_be_answered(line: str) -> bool:
    """Say whether a line may stand in an answer: a traceback, which shows files and code, is for the log alone."""
    return bool(line.strip()) and not line.startswith(("Traceback (most recent call last)", "  "))


def _answer(error: MasonError) -> Answer:
    return document(errors=error.messages), error.status
