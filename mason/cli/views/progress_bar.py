"""A bar for one who waits at a terminal: one line, drawn over and over, and gone when something else is said."""

from __future__ import annotations

import os
import time
from typing import IO, TYPE_CHECKING

from mason.util.words import counted

if TYPE_CHECKING:
    from mason.pipeline.driving.job_progress import JobProgress

_LONGEST_BAR = 30
_SHORTEST_BAR = 10
_MOST_OF_A_START = 0.95  # it takes as long as it takes
_SECONDS_BETWEEN = 0.1
_USUAL_WIDTH = 80
_TO_THE_START_AND_CLEAR = "\r\x1b[K"


class ProgressBar:
    """The bar of a stream that is a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._visible = False
        self._drawn = 0.0

    def draw(self, progress: JobProgress) -> None:
        """Show how far the job is; what comes too soon after the last time is not drawn."""
        if time.monotonic() - self._drawn >= _SECONDS_BETWEEN:
            self._write(bar_line(progress, self._width() - 1))
            self._drawn, self._visible = time.monotonic(), True

    def clear(self) -> None:
        """Leave an empty line for what is to be said."""
        if self._visible:
            self._write("")
            self._visible = False

    def _write(self, line: str) -> None:
        self._stream.write(_TO_THE_START_AND_CLEAR + line)
        self._stream.flush()

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _USUAL_WIDTH
        except OSError:
            return _USUAL_WIDTH


def can_draw(stream: IO[str]) -> bool:
    """Say whether a bar can be drawn: on a terminal that can clear a line, for one who has not asked for plain text."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def bar_line(progress: JobProgress, width: int) -> str:
    """Return the bar with the figures that have room beside it, the more important ones first."""
    if progress.starting:
        usual = progress.starting.usual_seconds
        share = min(progress.seconds / usual, _MOST_OF_A_START) if usual else 0.0
        return _bar(share, f"{progress.starting} {_duration(progress.seconds)}", width)
    figures = [f"{progress.share:4.0%}", f"{progress.done:,} of {counted(progress.tasks, 'task')}", _time(progress)]
    figures += [f"{progress.records:,} records"] if progress.records else []
    figures += [_size(progress.bytes_done, progress.bytes)] if progress.bytes else []
    while len(figures) > 1 and len("  ".join(figures)) + _SHORTEST_BAR + 3 > width:
        figures.pop()
    return _bar(progress.share, "  ".join(figures), width)


def _bar(share: float, text: str, width: int) -> str:
    length = max(0, min(_LONGEST_BAR, width - len(text) - 3))
    full = int(length * share)
    return f"[{'#' * full}{'-' * (length - full)}] {text}"[:width]


def _time(progress: JobProgress) -> str:
    left = progress.seconds_left
    return f"{_duration(progress.seconds)} so far" if left is None else f"{_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _size(done: int, whole: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if whole >= size:
            return f"{done / size:,.1f} of {whole / size:,.1f} {unit}"
    return f"{done} of {whole} bytes"
