"""Keeps secrets out of what code prints, logs and warns of while it runs, whoever wrote that code.

As long as somebody runs with secrets, `sys.stdout` and `sys.stderr` hide them, and so does every record of logging. It
holds for the whole process, not for one thread: an operator may print from threads of its own. What writes to a file of
its own, or past Python (a child process, a library in C), is not heard here.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

Redact = Callable[[str], str]

_lock = threading.Lock()
_active: list[Redact] = []
_undo: list[Callable[[], None]] = []


@contextmanager
def hide_secrets(redact: Redact) -> Iterator[None]:
    """Have nothing printed, logged or warned of meanwhile that `redact` would take out of it."""
    with _lock:
        _active.append(redact)
        if len(_active) == 1:
            _undo.extend(_listen())
    try:
        yield
    finally:
        with _lock:
            _active.remove(redact)
            while not _active and _undo:
                _undo.pop()()


def _listen() -> Iterator[Callable[[], None]]:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            heard = _RedactedStream(stream)
            setattr(sys, name, heard)
            yield lambda name=name, heard=heard, stream=stream: _put_back(name, heard, stream)  # type: ignore[misc]
    make = logging.getLogRecordFactory()

    def make_redacted(*arguments: Any, **options: Any) -> logging.LogRecord:
        return _redact_record(make(*arguments, **options))

    logging.setLogRecordFactory(make_redacted)
    yield lambda: logging.setLogRecordFactory(make)


def _put_back(name: str, heard: object, stream: object) -> None:
    if getattr(sys, name) is heard:  # else somebody has put another one there, and will see to it
        setattr(sys, name, stream)


def _redact_text(text: str) -> str:
    for redact in list(_active):
        text = redact(text)
    return text


def _redact_record(record: logging.LogRecord) -> logging.LogRecord:
    with suppress(Exception):  # a message that cannot be put together: logging says so when it is told, to stderr
        message = record.getMessage()
        redacted = _redact_text(message)
        if redacted != message:
            record.msg, record.args = redacted, None
    if record.exc_info and record.exc_info[0]:
        record.exc_text = _redact_text(
            logging.Formatter().formatException(record.exc_info)
        )  # which formatters take then
    return record


class _RedactedStream:
    """A stream that hides secrets in what is written to it, and is else the stream that it stands for."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_redact_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
