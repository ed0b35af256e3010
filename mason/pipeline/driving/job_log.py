"""What was said while a job ran, kept with its record: few lines, each with its time."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

FIRST_LINES = 50
LAST_LINES = 150
LONGEST_LINE = 1000

_TRACEBACK = "Traceback (most recent call last)"
"""It is for who looks at the log of the process, and shows its code and its folders."""

_ROOT = logging.getLogger("mason")
_PIPELINE = "mason.pipeline"


class JobLog(logging.Handler):
    """Keeps what Mason logs in this thread, from now until it is closed, and what is added.

    Of a job that has very much to say, the beginning and the end are kept.
    """

    def __init__(self, redactor: Callable[[str], str]) -> None:
        super().__init__(logging.INFO)
        self._redactor = redactor
        self._thread = threading.get_ident()
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._count = 0
        self._lock = threading.Lock()  # of the lines: another thread may show them meanwhile
        self.warnings: list[str] = []
        """What the pipeline itself has warned of."""
        _ROOT.addHandler(self)

    def follow_this_thread(self) -> None:
        """Keep what is logged in this thread from now on, instead of in the one before."""
        self._thread = threading.get_ident()

    def add(self, message: str, level: int = logging.INFO) -> None:
        """Keep a line."""
        word = f"{logging.getLevelName(level).lower()}: " if level > logging.INFO else ""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {word}{self._redactor(message)}"[:LONGEST_LINE]
        with self._lock:
            self._count += 1
            if len(self._first) < FIRST_LINES:
                self._first.append(line)
            else:
                self._last.append(line)

    def emit(self, record: logging.LogRecord) -> None:
        # Asked of the thread itself: a server tells logging not to look, and a record says of none then.
        if threading.get_ident() != self._thread or hasattr(record, "progress"):
            return
        # A line of which nobody can tell what is secret in it is left out, and the job goes on. Logging's own
        # `handleError` would write it to stderr as it is.
        with suppress(Exception):
            message = record.getMessage()
            if not message.startswith(_TRACEBACK):
                self.add(message, record.levelno)
                if record.name == _PIPELINE and record.levelno == logging.WARNING:
                    self.warnings.append(message)

    def lines(self) -> list[str]:
        """Return the lines, the oldest first."""
        with self._lock:
            left_out = self._count - len(self._first) - len(self._last)
            return [*self._first, *([f"({left_out:,} lines are left out here)"] if left_out else []), *self._last]

    def close(self) -> None:
        _ROOT.removeHandler(self)
        super().close()
