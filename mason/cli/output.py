"""The only place that prints. stdout carries what a command was asked for, stderr everything else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

from mason.util.text_table import escape_controls, table_lines
from mason.util.view import View, Viewed

if TYPE_CHECKING:
    from mason.cli.views.progress_bar import ProgressBar
    from mason.cli.views.step_table import StepTable
    from mason.service.reply import Reply

LEVELS = ("trace", "debug", "info", "warning", "error", "fatal")
TRACE = 5

FORMS = ("table", "json", "csv", "ndjson")
ROWS_ONLY = ("csv", "ndjson")
USAGE_ERROR = 2
NO_ROWS = "The result is no rows, and nothing else can be {0}. Leave out -o {0}, or choose table or json."

_chosen_level = "info"
_chosen_form = ""
_began = time.monotonic()
_bar: ProgressBar | StepTable | None = None
_USUAL_WIDTH = 80
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


def show(text: str, *, is_drawn: bool = False) -> None:
    """Print what the command was asked for. On a terminal its text only shows: it moves and colours nothing.

    What is drawn has colours of its own, and was made harmless before.
    """
    _write(text if is_drawn or not sys.stdout.isatty() else escape_controls(text, "\n\t"), end="\n")


def _write(text: str, end: str = "") -> None:
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        # The reader of the pipe has had enough (`mason operator | head`): the rest goes nowhere, and nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def tell(text: str, level: str = "info", *, mark: str = "") -> None:
    """Print what a person should know besides, if they want to know that much; `mark` stands before it."""
    if _is_wanted(level):
        if _bar:
            _bar.clear()
        plain = escape_controls(text, "\n\t") if sys.stderr.isatty() else text
        print(f"{mark} {plain}" if mark else plain, file=sys.stderr)


def tell_error(text: str) -> None:
    """Print what went wrong."""
    tell(text, "error", mark=colour_text("error:", "red", sys.stderr))


def tell_warning(text: str) -> None:
    """Print what should be looked at although it goes on."""
    tell(text, "warning", mark=colour_text("warning:", "yellow", sys.stderr))


def choose_level(level: str) -> None:
    """Choose how much is told."""
    global _chosen_level  # one process tells one person: there is nothing to pass around
    _chosen_level = level


def read_log_level() -> str:
    """Return how much is told."""
    return _chosen_level


def _is_wanted(level: str) -> bool:
    return LEVELS.index(level) >= LEVELS.index(_chosen_level)


def choose_form(form: str) -> None:
    """Choose the form of what is shown: one of `FORMS`."""
    global _chosen_form, _began  # one process answers one command, which begins here
    _chosen_form, _began = form, time.monotonic()


def is_form_chosen() -> bool:
    """Say whether somebody chose the form of what is shown."""
    return bool(_chosen_form)


def form_shown() -> str:
    """Return the form of what is shown: what was chosen; else a table on a terminal, and JSON anywhere else."""
    return _chosen_form or ("table" if sys.stdout.isatty() else "json")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    from mason.util.json_text import json_text

    show(json_text(value))


def show_reply(reply: Reply, title: str = "", view: View | None = None) -> int:
    """Print what came of a call, in the form that is wanted, and return how the command ends.

    Args:
        view: what people see of it, where the result itself does not say that.
    """
    model = reply.result.object
    if form_shown() == "json":
        if title:
            tell_banner(title)
        show_json(reply.document)
        if not _chosen_form:
            tell_picture(model)
        return reply.exit_code
    return show_envelope(reply.document, view or _view_of(model), model) or reply.exit_code


def show_envelope(envelope: Mapping[str, Any], view: View | None = None, model: object = None) -> int:
    """Print an envelope with errors, information, warnings and data; return 2 where it has no such form, else 0."""
    form, data = form_shown(), envelope["Data"]
    if form == "json":
        show_json(envelope)
    elif form == "table":
        _draw_result(envelope, view, model)
    elif not envelope["Errors"]:
        from mason.cli.views.rows import find_rows
        from mason.cli.views.separated import csv_parts, json_lines

        rows = find_rows(data, view)
        if rows is None:
            tell_error(NO_ROWS.format(form))
            return USAGE_ERROR
        for part in (csv_parts if form == "csv" else json_lines)(rows):
            _write(part)
    return 0


def show_listing(rows: Sequence[Mapping[str, Any]], view: View, transcript: Callable[[], None], none: str = "") -> int:
    """Print a list of what there is, in the form that is wanted.

    Args:
        transcript: prints what goes into a pipe where no form was chosen: the text that such lists always were.
        none: what a terminal shows where there is nothing.
    """
    if not _chosen_form and form_shown() == "json":
        transcript()
        return 0
    if form_shown() == "table":
        from mason.cli.views.blocks import rows_grid
        from mason.cli.views.drawing import draw_blocks
        from mason.cli.views.rows import Rows

        width, coloured = terminal_width(sys.stdout), has_colours(sys.stdout)
        if rows:
            grid = rows_grid(Rows(view.columns, rows), width, folds=True, most=len(rows))
            show(draw_blocks([grid], width, coloured=coloured), is_drawn=True)
        elif none:
            show(none)
        return 0
    return show_envelope({"Errors": [], "Info": [], "Warnings": [], "Data": list(rows)}, view)


def _draw_result(envelope: Mapping[str, Any], view: View | None, model: object) -> None:
    """Draw a result: its own picture, or what follows from its shape, and how it came about in one line."""
    from mason.cli.views.blocks import Block, Lines, result_blocks
    from mason.cli.views.drawing import draw_blocks, draw_grey
    from mason.cli.views.foot import foot_line, next_lines, opening_line
    from mason.cli.views.rows import find_rows

    data, width, coloured = envelope["Data"], terminal_width(sys.stdout), has_colours(sys.stdout)
    rows = find_rows(data, view)
    picture = _picture_of(model, width or _USUAL_WIDTH) if rows is None or not rows.types else []
    blocks: list[Block] = [Lines(picture)] if picture else []
    if not picture or (view and view.beside_picture):
        blocks = [*result_blocks(data, view, width, [*envelope["Info"], *envelope["Errors"]]), *blocks]
    opening = opening_line(envelope)
    if opening:
        show(opening)
    if blocks:
        show(draw_blocks(blocks, width, coloured=coloured), is_drawn=True)
    foot = foot_line(data, rows, time.monotonic() - _began)
    if foot and (data or not envelope["Info"] + envelope["Errors"]):
        show(draw_grey(foot, coloured=coloured), is_drawn=True)
    for line in next_lines(data):
        show(line)


def _view_of(model: object) -> View | None:
    """Return the view that a model declares, or those that it is a list of; only a list has columns."""
    if isinstance(model, Sequence) and not isinstance(model, str | bytes):
        return model[0].view if len(model) and isinstance(model[0], Viewed) else None
    return replace(model.view, columns=()) if isinstance(model, Viewed) else None


def _picture_of(model: object, width: int) -> Sequence[str]:
    picture = model.picture if isinstance(model, _Pictured) else None
    return picture(width) if picture is not None else []


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
    lines = _picture_of(model, width) if width is not None else []
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
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if has_colours(stream) else text


def has_colours(stream: IO[str]) -> bool:
    """Say whether a stream is a terminal with colours, of somebody who wants them."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def start_logging(table: type[StepTable] | None = None) -> None:
    """Tell what the program logs, too; how far a job is, as a bar where one can be drawn, or steps as a table."""
    import logging

    from mason.cli.views.progress_bar import ProgressBar, can_draw

    global _bar  # one process has one stderr
    _bar = (table or ProgressBar)(sys.stderr) if can_draw(sys.stderr) and _is_wanted("info") else None

    warned: set[str] = set()

    class Teller(logging.Handler):
        """Tells each message, with a word for what is not plain information; the same warning only once."""

        def emit(self, record: logging.LogRecord) -> None:
            message = record.getMessage()
            if _bar and hasattr(record, "progress"):
                _bar.draw(record.progress)
            elif table and isinstance(_bar, table) and hasattr(record, "step_event"):
                _bar.note(record.step_event)
            elif record.levelno >= logging.ERROR:
                tell_error(message)
            elif record.levelno >= logging.WARNING:
                if message not in warned:
                    tell_warning(message)
                warned.add(message)
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
