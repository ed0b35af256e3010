"""How a plan's tasks get done: the pipeline says what, an engine says where.

A task is bytes (a plan's own JSON), a kernel is a function named by its module, and its result is bytes again. So the
same task runs in this process, on a warm Spark, or on a cluster, and nothing but this passes between them.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Kernel = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Starting:
    """The beat of an engine that is not there yet."""

    engine: str = "The engine"
    usual_seconds: float | None = None
    """How long it took the last time on this machine, if that is known."""

    def __str__(self) -> str:
        return f"Starting {self.engine} ({self._how_long}once) …"

    @property
    def _how_long(self) -> str:
        return f"about {max(1, round(self.usual_seconds))} s, " if self.usual_seconds else ""


TaskEvent = tuple[int, bytes] | int | Starting | None
"""The number of a task with its result; or a beat: how many tasks are done as far as the engine tells, if it does."""

QueryEvent = tuple[int, Any] | int | Starting | None
"""As of tasks; the rows of a query may come as the table that they are, from an engine in this process."""

BEAT_SECONDS = 0.5


class TaskRunner(Protocol):
    """Runs the tasks of a job; each at least once, as engines do, since they retry."""

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        """Run the kernel on every task and yield the number of each task with its result, as they are done.

        Every task yields once. While a runner waits it yields a beat about every half second, so that the caller can
        look up: None, or how many tasks are done where the engine knows that before it hands over their results, or
        `Starting` as long as there is no engine.
        Closing the iterator ends the job. A kernel that raises fails the job: the error is raised here.
        """

    def query(self, content: bytes) -> Iterator[QueryEvent]:
        """Run a query of `mason.pipeline.sql`, given as bytes, and yield beats and results as `run` does.

        With an output, each piece of the result that was written yields; without one there is one result: the rows.

        Raises:
            BadQuery: the engine cannot make sense of it.
            TableChanged: a file of a table is gone.
        """


@contextmanager
def running(runner: TaskRunner, kernel: str, tasks: Sequence[bytes]) -> Iterator[Iterator[TaskEvent]]:
    """Run tasks and give what the runner yields.

    Whatever the caller raises, ctrl-C too, the engine has been told to stop before it is passed on: nothing that is
    tidied up after it is written to any more.
    """
    with until_closed(runner.run(kernel, tasks)) as events:
        yield events


@contextmanager
def until_closed(events: Iterator[T]) -> Iterator[Iterator[T]]:
    """Give what a runner yields, and tell it to stop however the context is left."""
    try:
        yield events
    finally:
        close = getattr(events, "close", None)  # a generator has it, another iterator need not
        if close:
            close()


def starting(start: Callable[[], T], beat: Starting) -> Generator[Starting, None, T]:
    """Start an engine in a thread of its own, yield beats meanwhile, and return what it is then.

    Who gives up meanwhile does not wait for it: it goes on starting, for the next job.
    """
    started: Future[T] = Future()
    threading.Thread(target=_settle, args=(started, start), daemon=True).start()
    while not started.done():
        wait([started], BEAT_SECONDS)
        if not started.done():
            yield beat
    return started.result()


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (whatever it is, it is raised in the caller's thread)
        future.set_exception(error)


def without_beats(events: Iterator[QueryEvent]) -> Iterator[tuple[int, Any]]:
    """Yield the results alone."""
    return (event for event in events if isinstance(event, tuple))


def kernel_named(name: str) -> Kernel:
    """Return the kernel that a name such as `mason.pipeline.reading.tasks.kernel:merge_task` stands for."""
    kernel: Kernel = function_named(name)
    return kernel


def function_named(name: str) -> Any:
    """Return the function that a name stands for: its module, a colon, its own name."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
