"""The only place that prints. stdout carries what a command was asked for, stderr everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

from mason.util.text_table import table_lines

if TYPE_CHECKING:
    from mason.cli.views.progress_bar import ProgressBar
    from mason.cli.views.step_table import StepTable
    from mason.service.reply import Reply

LEVELS = ("trace", "debug", "info", "warning", "error", "fatal")
TRACE = 5

_chosen_level = "info"
_bar: ProgressBar | StepTable | None = None
_USUAL_WIDTH = 80
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def show(text: str) -> None:
    """Print what the command was asked for."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader of the pipe has had enough (`mason operator | head`): the rest goes nowhere, and nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def tell(text: str, level: str = "info") -> None:
    """Print what a person should know besides, if they want to know that much."""
    if _is_wanted(level):
        if _bar:
            _bar.clear()
        print(text, file=sys.stderr)


def tell_error(text: str) -> None:
    """Print what went wrong."""
    tell(f"{colour_text('error:', 'red', sys.stderr)} {text}", "error")


def tell_warning(text: str) -> None:
    """Print what should be looked at although it goes on."""
    tell(f"{colour_text('warning:', 'yellow', sys.stderr)} {text}", "warning")


def choose_level(level: str) -> None:
    """Choose how much is told."""
    global _chosen_level  # one process tells one person: there is nothing to pass around
    _chosen_level = level


def read_log_level() -> str:
    """Return how much is told."""
    return _chosen_level


def _is_wanted(level: str) -> bool:
    return LEVELS.index(level) >= LEVELS.index(_chosen_level)


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    from mason.util.json_text import json_text

    show(json_text(value))


def show_reply(reply: Reply, title: str = "") -> int:
    """Print what came of a call, and return how the command ends."""
    if title:
        tell_banner(title)
    show_json(reply.document)
    tell_picture(reply.result.object)
    return reply.exit_code


@contextmanager
def stdout_kept_clean() -> Iterator[None]:
    """Send to stderr whatever other code prints meanwhile, a child process or a library in C included."""
    sys.stdout.flush()
    original = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(original, 1)
        os.close(original)


def tell_banner(text: str) -> None:
    """Print a line in a box."""
    rule = "+" + "-" * (len(text) + 3) + "+"
    tell(f"{rule}\n| {text}  |\n{rule}")


@runtime_checkable
class _Pictured(Protocol):
    """What may have a picture of itself."""

    @property
    def picture(self) -> Callable[[int], Sequence[str]] | None: ...


def tell_picture(model: object) -> None:
    """On a terminal, draw what has a picture of itself below its JSON: `picture(width)` returns the lines."""
    width = terminal_width(sys.stderr)
    picture = model.picture if isinstance(model, _Pictured) else None
    lines = picture(width) if width is not None and picture is not None else []
    if lines:
        tell("\n".join(["", *lines]))


def show_banner(text: str) -> None:
    """Print a line in a box, as a part of what the command was asked for."""
    rule = "+" + "-" * (len(text) + 3) + "+"
    show(f"{rule}\n| {text}  |\n{rule}")


def show_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below their headers. On a terminal long cells are folded to its width, in a pipe they are whole."""
    for line in table_lines(headers, rows, terminal_width(sys.stdout)):
        show(line)


def terminal_width(stream: IO[str]) -> int | None:
    """Return the width of the terminal that a stream writes to, or None when it is not one."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    # Not shutil's: it asks stdout, which may go to a file while this stream does not.
    return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH


def colour_text(text: str, colour: str, stream: IO[str]) -> str:
    """Return the text in a colour where the stream is a terminal and NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def start_logging(table: type[StepTable] | None = None) -> None:
    """Tell what the program logs, too; how far a job is, as a bar where one can be drawn, or steps as a table."""
    import logging

    from mason.cli.views.progress_bar import ProgressBar, can_draw

    global _bar  # one process has one stderr
    _bar = (table or ProgressBar)(sys.stderr) if can_draw(sys.stderr) and _is_wanted("info") else None

    class Teller(logging.Handler):
        """Tells each message, with a word for what is not plain information."""

        def emit(self, record: logging.LogRecord) -> None:
            message = record.getMessage()
            if _bar and hasattr(record, "progress"):
                _bar.draw(record.progress)
            elif table and isinstance(_bar, table) and hasattr(record, "step_event"):
                _bar.note(record.step_event)
            elif record.levelno >= logging.ERROR:
                tell_error(message)
            elif record.levelno >= logging.WARNING:
                tell_warning(message)
            elif record.levelno >= logging.INFO:
                tell(f"{_step()}{message}" if hasattr(record, "progress") else message)
            else:
                level = "debug" if record.levelno >= logging.DEBUG else "trace"
                tell(f"{level}: {message}", level)

    logger = logging.getLogger("mason")
    logger.propagate = False
    logger.setLevel(TRACE)
    logger.handlers[:] = [Teller()]


def _step() -> str:
    """Return how a line begins that a step of a workflow tells: several may tell theirs at the same time."""
    from mason.lineage.surroundings import surroundings  # a leaf, which whoever shows progress has imported already

    step = surroundings().step
    return f"{step}: " if step else ""


def leave_table(table: type[StepTable]) -> None:
    """Let a table of steps stand as it is: what is told from now on comes below it."""
    if isinstance(_bar, table):
        _bar.leave()


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
