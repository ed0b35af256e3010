"""The server's log: one JSON line per event, on stderr, each with the request that it belongs to."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TextIO

from mason.api.server.requests import REQUEST
from mason.util.redaction import redact_url

LEVELS = {"trace": 5, "debug": 10, "info": 20, "warning": 30, "error": 40, "fatal": 50}


class JsonLines(logging.Handler):
    """Writes each record as a line of JSON; nothing that a client sends can begin a line of its own."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, "progress") or hasattr(record, "step_event"):
            return
        with suppress(OSError, ValueError):  # nobody reads the log any more; requests are answered all the same
            (self._stream or sys.stderr).write(json.dumps(_describe_record(record), default=str) + "\n")


def _describe_record(record: logging.LogRecord) -> dict[str, Any]:
    asked = REQUEST.get()
    line: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "event": getattr(record, "event", "message"),
    }
    fields = getattr(record, "fields", None)
    if fields is not None:
        return {**line, **fields}
    about = {"request": asked.id} if asked else {}
    try:
        return {**line, **about, **_describe_message(record, asked.redact if asked else str)}
    except Exception as error:  # noqa: BLE001 (whatever it is: who logs is not to fail, and logging would show the line)
        left_out = f"A line is left out: it may hold a secret ({type(error).__name__})."
        return {**line, **about, "message": left_out}


def _describe_message(record: logging.LogRecord, redact: Callable[[str], str]) -> dict[str, str]:
    said = {"message": redact(redact_url(record.getMessage()))}
    if record.exc_info and record.exc_info[0]:
        said["traceback"] = redact(redact_url(logging.Formatter().formatException(record.exc_info)))
    return said


def start_logging(level: str, stream: TextIO | None = None) -> None:
    """Write what Mason and the server log as JSON lines, to stderr by default."""
    handler = JsonLines(stream)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line says it
    setattr(logging, "_srcfile", None)  # noqa: B010 (nor where in the code it was logged: so is logging told not to look)
    for name in ("mason", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(LEVELS[level] if name == "mason" else max(logging.WARNING, LEVELS[level]))
