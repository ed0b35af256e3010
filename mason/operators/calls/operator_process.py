"""An operator in a process of its own: it can be ended whatever it does, and all that it has started with it.

Steps of workflows run so that may take a limited time. Everything is checked before. The process is told by a pipe what
to run, so that no secret is an argument or a variable, and says by another what came of it. It ends with the one that
started it.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from mason.clients.response import LOG, Response
from mason.configurations.valid_config import ValidConfig
from mason.errors import ClientFailed, Interrupted
from mason.lineage.surroundings import Surroundings, surroundings, within
from mason.operators.calls.token_limits import current_limit, limit_to
from mason.operators.failed_code import describe_failure
from mason.operators.operator_response import OperatorResponse
from mason.operators.registration.loader import load_operator
from mason.operators.runner import PreparedOperator, respond, show_result
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.driving.job_progress import TOTALS
from mason.pipeline.work.memory_limits import MemoryLimits, limit_memory, memory_limits
from mason.state.home import read_state
from mason.state.models import Registration
from mason.state.tokens import Token
from mason.util.ending import Ending, current_ending
from mason.util.environment import MasonEnvironment
from mason.util.json_text import json_value
from mason.util.processes import describe_exit

LAST_SECONDS = 10.0
"""So long an operator that was interrupted may take to end, before its process is killed."""

_LOOK_SECONDS = 0.1
_JOIN_SECONDS = 1.0
_LINES = 20
_LONGEST_LINE = 2000


@dataclass(frozen=True, kw_only=True)
class _Launch:
    """What the process gets to know."""

    env: MasonEnvironment
    config: ValidConfig
    parameters: ValidatedParameters
    registration: Registration
    around: Surroundings
    limits: MemoryLimits
    token: Token | None
    log_level: int

    @classmethod
    def of(cls, prepared: PreparedOperator) -> _Launch:
        # Clients have connections, which no other process can use: it makes its own.
        engines = {role: replace(each, _built={}, _joined={}) for role, each in prepared.config.engines.items()}
        config = replace(prepared.config, engines=engines)
        return cls(
            env=prepared.env,
            config=config,
            parameters=prepared.parameters,
            registration=prepared.registration,
            around=surroundings(),
            limits=memory_limits(),
            token=current_limit(),
            log_level=LOG.getEffectiveLevel(),
        )


def run_apart(prepared: PreparedOperator) -> OperatorResponse:
    """Run an operator in a process of its own and return what came of it; what goes wrong is in the response.

    Raises:
        ClientFailed: the process could not be started, or ended without an answer.
        Interrupted: the work of this context was to end before the process was ready.
    """
    ending = current_ending()
    process = _OperatorProcess(prepared)
    try:
        return process.follow(ending)
    finally:
        process.end()


class _OperatorProcess:
    """The process, seen from the one that started it."""

    def __init__(self, prepared: PreparedOperator) -> None:
        self._name = str(prepared.registration.name)
        self._response = prepared.response
        self._last: deque[str] = deque(maxlen=_LINES)
        self._interrupted_at = 0.0
        self._is_ready = False
        self._unread = bytearray()
        reading, writing = os.pipe()
        self._answers = os.fdopen(reading, "rb", buffering=0)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(writing)],
                env={**os.environ, **prepared.env.variables},
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[writing],
                process_group=0,  # and not a session: who counts the processes of this one counts those of that one
            )
        except OSError as error:
            raise ClientFailed(f"The process of {self._name} could not be started: {error}") from error
        finally:
            os.close(writing)
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        assert self._process.stdin
        with suppress(BrokenPipeError):  # it ended at once, and says why
            self._process.stdin.write(pickle.dumps(_Launch.of(prepared)))
            self._process.stdin.flush()

    def follow(self, ending: Ending) -> OperatorResponse:
        """Wait for the answer."""
        while True:
            message = self._receive(ending)
            if "log" in message:
                self._response.log(*message["log"])
            elif "ready" in message:
                self._is_ready = True
                ending.begin()
            else:
                return self._take(message)

    def end(self) -> None:
        """Kill it with all that it has started, and let go of it."""
        self._kill()
        self._process.wait()
        self._listening.join(_JOIN_SECONDS)
        self._answers.close()
        with suppress(BrokenPipeError):
            assert self._process.stdin
            self._process.stdin.close()

    def _receive(self, ending: Ending) -> dict[str, Any]:
        while (end := self._unread.find(b"\n")) < 0:
            self._unread += self._read(ending)
        line = self._unread[:end]
        del self._unread[: end + 1]
        message: dict[str, Any] = json.loads(line)
        return message

    def _read(self, ending: Ending) -> bytes:
        """Read to the end of a line, or as much as there is."""
        pieces: list[bytes] = []
        while not pieces or b"\n" not in pieces[-1]:
            if ending.is_asked:
                self._hurry()
            if select.select([self._answers], [], [], _LOOK_SECONDS)[0]:
                pieces.append(self._answers.read(1024 * 1024))
                if not pieces[-1]:
                    raise self._explain_end()
        return b"".join(pieces)

    def _hurry(self) -> None:
        """Interrupt it, as ctrl-C would, and kill it at last."""
        if not self._is_ready:
            raise Interrupted("The run was stopped. Nothing was committed.")
        now = time.monotonic()
        if not self._interrupted_at:
            self._interrupted_at = now
            self._process.send_signal(signal.SIGINT)
        elif now - self._interrupted_at > LAST_SECONDS:
            self._kill()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # there is nobody left in its group
            os.killpg(self._process.pid, signal.SIGKILL)

    def _take(self, answer: Mapping[str, Any]) -> OperatorResponse:
        TOTALS.add_sums(answer["sums"])
        given = _unpickle_object(answer["object"])
        self._response.take({**answer["said"], **({} if given is None else {"Data": answer["data"]})}, answer["status"])
        return OperatorResponse(self._response, given)

    def _listen(self) -> None:
        """Pass on what it prints, and keep the last lines."""
        assert self._process.stderr
        with self._process.stderr as printed:
            while line := printed.readline(_LONGEST_LINE):
                text = self._response.redactor(line.decode(errors="replace"))
                if text.strip():
                    self._last.append(text.strip())
                sys.stderr.write(text)

    def _explain_end(self) -> ClientFailed:
        code = self._process.wait()
        self._listening.join(_JOIN_SECONDS)  # what it started may live on, and print
        if code == -signal.SIGKILL and not self._interrupted_at:
            return ClientFailed(f"{self._name} was killed by the system, as happens when there is no memory left.")
        return ClientFailed(describe_exit(self._name, code, self._last))


class _Answers(logging.Handler):
    """What the process says to the one that started it: what is logged, and at last what came of it."""

    def __init__(self, stream: int) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(BrokenPipeError):  # nobody listens any more: this process is about to end
            self.send({"log": [record.levelno, record.getMessage()]})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, as a line; an interrupt waits until it is whole."""
        content = memoryview(json.dumps(message).encode() + b"\n")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self.lock or nullcontext():
                while content:
                    content = content[os.write(self._stream, content) :]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(launch: _Launch, answers: _Answers) -> None:
    """Run the operator, and send what came of it."""
    limit_memory(launch.limits)
    if launch.token:
        limit_to(launch.token)

    def work(response: Response) -> OperatorResponse:
        operator = load_operator(launch.env, read_state(launch.env), launch.registration)
        prepared = PreparedOperator(
            env=launch.env,
            config=launch.config,
            parameters=launch.parameters,
            registration=launch.registration,
            operator=operator,
            response=response,
        )
        with within(launch.around):
            return prepared.run()

    def describe_bug(error: BaseException) -> str:
        return describe_failure(error, with_folder=launch.env.roots is None)

    redactor = launch.config.redactor
    redactor.learn(launch.parameters.secrets)
    result = respond(work, Response(redactor), describe_bug)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on all is done
    document = show_result(result, describe_bug)
    answers.send(
        {
            "said": document,
            "status": result.response.status,
            "object": _pickle_object(result),
            "data": redactor.redact_data(json_value(list(result.response.data))),
            "sums": TOTALS.to_dict(),
        }
    )


def _pickle_object(result: OperatorResponse) -> str:
    """Return the object of a result for the process that asked; nothing where only its JSON can be sent."""
    if result.object is None or result.response.errors:
        return ""
    try:
        return base64.b64encode(pickle.dumps(result.object)).decode()
    except Exception:  # noqa: BLE001 (an author's object, which may raise anything)
        return ""


def _unpickle_object(given: str) -> Any:
    """Return such an object; nothing where its class is not to be had here."""
    try:
        return pickle.loads(base64.b64decode(given)) if given else None
    except Exception:  # noqa: BLE001 (an author's object, which may raise anything)
        return None


def _end_with(stream: int) -> None:
    with suppress(OSError):
        os.read(stream, 1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the operator that stdin tells."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    answers = _Answers(number)
    os.dup2(2, 1)  # what is printed is no answer
    pipe = os.fdopen(os.dup(0), "rb", buffering=0)
    launch: _Launch = pickle.load(pipe)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    threading.Thread(target=_end_with, args=(pipe.fileno(),), daemon=True).start()
    LOG.addHandler(answers)
    LOG.setLevel(launch.log_level)
    LOG.propagate = False
    answers.send({"ready": True})
    _work(launch, answers)


if __name__ == "__main__":
    main()
