"""The steps of a run for one who watches it at a terminal: a table that is drawn anew when something changes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

from mason.util.text_table import clip_lines, escape_controls

if TYPE_CHECKING:
    from mason.engines.scheduler.models.dags.dag_run import StepEvent
    from mason.pipeline.driving.job_progress import JobProgress

_SECONDS_BETWEEN = 0.1
_USUAL_SIZE = os.terminal_size((80, 24))
_LINES_AROUND = 4


class StepTable:
    """The table of a stream that is a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._steps: dict[str, tuple[StepEvent, float, float | None]] = {}
        self._height = 0
        self._drawn = 0.0

    def note(self, event: StepEvent) -> None:
        """Show where a step stands now."""
        now = time.monotonic()
        _, began, _ = self._steps.get(event.step.key, (None, now, None))
        self._steps[event.step.key] = (event, began, now if event.status.is_final else None)
        self._draw(now)

    def draw(self, progress: JobProgress) -> None:
        """Let the time of the steps that run go on; how far the job of one is would not fit."""
        self._draw(time.monotonic())

    def clear(self) -> None:
        """Leave room for what is to be said; the next change draws the table below it."""
        if self._height:
            self._stream.write(f"\x1b[{self._height}A\r\x1b[J")
            self._stream.flush()
        self._height, self._drawn = 0, 0.0

    def leave(self) -> None:
        """Draw the table a last time and leave it where it is."""
        self._drawn = 0.0
        if self._steps:
            self._draw(time.monotonic())
        self._height = 0

    def _draw(self, now: float) -> None:
        if now - self._drawn < _SECONDS_BETWEEN:
            return
        self.clear()
        lines = self._lines(now)
        self._stream.write("".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._height, self._drawn = len(lines), now

    def _lines(self, now: float) -> list[str]:
        size = self._size()
        steps = list(self._steps.values())
        room = max(1, size.lines - _LINES_AROUND)
        counts: list[str] = []
        if len(steps) > room:  # those that are done and well are the least of interest
            steps = sorted(steps, key=lambda each: (each[0].status.is_well, -each[1]))[:room]
            counted = Counter(str(event.status) for event, _, _ in self._steps.values())
            counts = [", ".join(f"{count:,} {status}" for status, count in counted.items())]
        rows = [[event.step.key, event.status, f"{(ended or now) - began:.1f} s"] for event, began, ended in steps]
        remarks = ["", "", *(escape_controls(event.reason or event.step.operator) for event, _, _ in steps)]
        lines, _ = clip_lines(["step", "status", "time"], rows, size.columns - 1)
        return [*_with_remarks(lines, remarks, size.columns - 1), *counts]

    def _size(self) -> os.terminal_size:
        try:
            return os.get_terminal_size(self._stream.fileno())
        except OSError:
            return _USUAL_SIZE


def _with_remarks(lines: Sequence[str], remarks: Sequence[str], width: int) -> list[str]:
    """Return lines with a remark behind each, for which the rest of the terminal is there."""
    start = max(map(len, lines)) + 2
    room = max(width - start, 0)
    clipped = [each if len(each) <= room else f"{each[: room - 1]}…" if room > 1 else "" for each in remarks]
    return [f"{line.ljust(start)}{remark}".rstrip() for line, remark in zip(lines, clipped, strict=True)]
