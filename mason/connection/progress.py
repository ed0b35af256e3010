"""How far a call is, for who waits for it in a notebook or at a terminal: one line that changes."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

from mason.util.words import counted

_TRACE = 5  # how far a job is, is told at this level between the lines that a log keeps
_LOGGERS = {"mason.pipeline": _TRACE, "mason": logging.INFO}
"""Who tells of jobs and of workflows, and at which level. The one below comes first: its level is that of the other."""

_BAR = 20
_SECONDS_BETWEEN = 0.1
_TO_THE_START_AND_CLEAR = "\r\x1b[K"


class ProgressLine:
    """A line that nobody sees: what plain scripts get."""

    is_seen = False

    def show(self, text: str) -> None:
        """Show what there is to say now instead of what was said before."""

    def end(self) -> None:
        """Say no more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()


class NotebookLine(ProgressLine):
    """A line of its own below the cell, which goes when the call is over."""

    is_seen = True

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, text: str) -> None:
        forms = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(forms, raw=True, display_id=True)
        else:
            self._handle.update(forms, raw=True)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class StreamLine(ProgressLine):
    """A line of a terminal, drawn over and over; of a file, a new line for each new text."""

    is_seen = True

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._last = ""

    def show(self, text: str) -> None:
        if text != self._last:
            self._stream.write(f"{_TO_THE_START_AND_CLEAR}{text}" if self._is_terminal else f"{text}\n")
            self._stream.flush()
            self._last = text

    def end(self) -> None:
        if self._is_terminal and self._last:
            self._stream.write(_TO_THE_START_AND_CLEAR)
            self._stream.flush()


def progress_line(wanted: bool | None) -> ProgressLine:
    """Return the line for this process: none if it is not wanted, one in a notebook by default, else on stderr."""
    display = _notebook_display() if wanted is not False else None
    if display is not None:
        return NotebookLine(display)
    return StreamLine(sys.stderr) if wanted else ProgressLine()


def progress_text(record: Mapping[str, Any]) -> str:
    """Return how far a job is by what its record, or its progress, says."""
    tasks, done = int(record.get("Tasks") or 0), int(record.get("TasksDone") or 0)
    if not tasks:
        return str(record.get("Status", ""))
    whole, read = int(record.get("InputBytes") or 0), int(record.get("InputBytesDone") or 0)
    share = min(1.0, read / whole if whole else done / tasks)
    full = int(_BAR * share)
    rows = f", {counted(int(record['RowsIn']), 'record')}" if record.get("RowsIn") else ""
    left = f", {record['SecondsLeft']} s left" if record.get("SecondsLeft") else ""
    return f"[{'#' * full}{'-' * (_BAR - full)}] {share:4.0%}  {done:,} of {counted(tasks, 'task')}{rows}{left}"


@contextmanager
def show_log_of_jobs(line: ProgressLine) -> Iterator[None]:
    """Show on a line what this process logs of the progress of jobs and of the steps of workflows."""
    with ExitStack() as stack:
        for name, level in _LOGGERS.items() if line.is_seen else ():
            stack.enter_context(_listen_to(logging.getLogger(name), level, line))
        yield


@contextmanager
def _listen_to(logger: logging.Logger, level: int, line: ProgressLine) -> Iterator[None]:
    listener = _Listener(line, _open(logger, level))
    logger.addFilter(listener)
    try:
        yield
    finally:
        logger.removeFilter(listener)
        _close(logger)


@dataclass
class _Opened:
    """A logger that says more than it did, as long as somebody listens: several threads may at once."""

    level: int
    least: int
    """What it says to those who read the log."""
    listeners: int = 0


_OPENED: dict[str, _Opened] = {}
_OPENING = threading.Lock()


def _open(logger: logging.Logger, level: int) -> int:
    """Let a logger say more, and return from which level on it did before."""
    with _OPENING:
        opened = _OPENED.setdefault(logger.name, _Opened(logger.level, logger.getEffectiveLevel()))
        opened.listeners += 1
        logger.setLevel(min(level, opened.least))
        return opened.least


def _close(logger: logging.Logger) -> None:
    """Let a logger say what it did before, if nobody else listens."""
    with _OPENING:
        opened = _OPENED[logger.name]
        opened.listeners -= 1
        if not opened.listeners:
            logger.setLevel(_OPENED.pop(logger.name).level)


class _Listener(logging.Filter):
    """Puts progress on a line. Whoever reads the log sees of it what they would have seen without."""

    def __init__(self, line: ProgressLine, least: int) -> None:
        super().__init__()
        self._line = line
        self._least = least
        self._shown_at = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if hasattr(record, "step_event"):
            self._line.show(record.getMessage())
        elif hasattr(record, "progress") and self._is_due(record.progress.share):
            self._shown_at = time.monotonic()
            self._line.show(progress_text(record.progress.to_dict()))
        return record.levelno >= self._least

    def _is_due(self, share: float) -> bool:
        return share >= 1 or time.monotonic() - self._shown_at >= _SECONDS_BETWEEN


def _notebook_display() -> Any:
    """Return what displays something in the notebook that this process is the kernel of; None where it is none."""
    ipython = sys.modules.get("IPython")  # a notebook has imported it already; nobody else need pay for it
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display
