"""Runs a DAG in this process: steps in parallel, retries, timeouts, and branches that go on when another has failed.

It is Kahn's algorithm with a queue. Every step counts the steps that it waits for; one whose count is zero is ready.
One thread takes ready steps, starts each in a thread of its own up to the limit, and waits for whatever comes first: a
step that is done, a deadline, or the time to try one again (a heap). When a step is done, the workflow's code says for
each step behind it what becomes of the way there (run, end, fail, stop); each such word lowers that step's count.
Nothing but this one thread changes the state of the run, so no lock is needed, and what is decided is written down
before anything follows from it.
"""

from __future__ import annotations

import heapq
import random
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any

from mason.clients.local.step_threads import Begun, StepThreads
from mason.clients.response import LOG
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import (
    DagWork,
    Ended,
    Follow,
    FollowDecision,
    StepEvent,
    StepStatus,
    end_without_running,
    judge_step,
)
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.errors import Interrupted, MasonError

GRACE_SECONDS = 15.0
"""So long steps may take to end that look whether they should; a process of its own is killed before."""

_DEAF_SECONDS = 2.0
"""So long those may that do not look."""

_START_SECONDS = 60.0
"""So long the start of a process for a step is no part of its time."""

_JITTER = 0.1
_LONGEST_WAIT = 24 * 3600.0  # a queue cannot be asked to wait for centuries
_INTERRUPT = object()


@dataclass(slots=True)
class _Running:
    step: ValidDagStep
    attempt: int
    deadline: float
    late: ExecutedDagStep | None = None
    """What is said of it when it is over its time."""


class DagLoop:
    """One run of a DAG. One thread decides; others run the steps."""

    def __init__(
        self, dag: Dag, work: DagWork, limit: int, *, jitter: Callable[[], float] = lambda: random.uniform(0, _JITTER)
    ) -> None:
        self._dag = dag
        self._work = work
        self._limit = limit
        self._jitter = jitter
        self._waits = {step.key: len(step.dependencies) for step in dag.steps}
        self._said: dict[str, list[FollowDecision]] = {}
        self._ready: deque[tuple[ValidDagStep, int]] = deque()
        self._later: list[tuple[float, int, ValidDagStep, int]] = []
        self._numbers = count()  # of steps that are due at the same moment, the first to fail comes first
        self._running: dict[int, _Running] = {}
        self._finished: SimpleQueue[Any] = SimpleQueue()
        self._threads = StepThreads(self._finished)
        self.statuses: dict[str, StepStatus] = {}

    def run(self, done: Mapping[str, Mapping[str, FollowDecision]]) -> Mapping[str, StepStatus]:
        """Run what is to be run and return where each step stands in the end.

        Args:
            done: steps that need not be run again, each with what it says to those that follow it.

        Raises:
            Interrupted: ctrl-C.
        """
        with self._interrupts():
            try:
                self._begin(done)
                while self._ready or self._running or self._later:
                    self._start_ready()
                    self._wait()
            except KeyboardInterrupt:
                self._cancel()
                raise Interrupted("Interrupted: the run was stopped.") from None
            except BaseException:
                self._stop_running()  # what cannot be written down must not go on
                raise
            finally:
                self._threads.close()
        return self.statuses

    def _begin(self, done: Mapping[str, Mapping[str, FollowDecision]]) -> None:
        for step in self._dag.steps:
            if step.key in done:
                self.statuses[step.key] = StepStatus.SUCCEEDED
        for step in self._dag.steps:
            if step.key in done:
                says = done[step.key]
                self._tell(
                    [(each, says.get(each.key, FollowDecision(Follow.RUN))) for each in self._dag.followers[step.key]]
                )
            elif not step.dependencies:
                self._ready.append((step, 1))

    def _start_ready(self) -> None:
        starting: list[tuple[ValidDagStep, int]] = []
        while self._ready and len(self._running) + len(starting) < self._limit:
            step, attempt = self._ready.popleft()
            try:
                reason = self._work.skips(step)
            except MasonError as error:
                self._end(step, attempt, self._work.make_failed_step(step, str(error)), may_retry=False)
                continue
            if reason:
                self._settle(step, StepStatus.SKIPPED, reason, FollowDecision(Follow.END, f'"{step.key}" was skipped'))
                continue
            self._work.note(StepEvent(step, StepStatus.RUNNING, attempt))
            starting.append((step, attempt))
        # What ended and what begins, in one go: a step is written down before anything follows it.
        self._work.keep()
        for step, attempt in starting:
            number = self._threads.start(partial(self._work.run_step, step))
            deadline = time.monotonic() + _START_SECONDS + step.timeout if step.timeout else float("inf")
            self._running[number] = _Running(step, attempt, deadline)

    def _wait(self) -> None:
        """Wait until a step is done, or over its time, or to be tried again."""
        next_time = min((each.deadline for each in self._running.values() if each.step.timeout), default=float("inf"))
        if self._later and len(self._running) < self._limit:
            next_time = min(next_time, self._later[0][0])
        if not self._running and not self._later:
            return
        try:
            left = None if next_time == float("inf") else min(max(0.0, next_time - time.monotonic()), _LONGEST_WAIT)
            found = self._finished.get(timeout=left)
        except Empty:
            found = None
        while found is not None:
            self._take(found)
            found = None if self._finished.empty() else self._finished.get()
        self._look_at_the_clock()

    def _take(self, found: Any) -> None:
        if found is _INTERRUPT:
            raise KeyboardInterrupt
        if found.number not in self._running:
            return  # it was given up
        running = self._running[found.number]
        if isinstance(found, Begun):
            running.deadline = time.monotonic() + (running.step.timeout or float("inf"))
            return
        del self._running[found.number]
        self._end(running.step, running.attempt, running.late or self._finish_step(running.step, found.value))

    def _finish_step(self, step: ValidDagStep, value: ExecutedDagStep | BaseException) -> ExecutedDagStep:
        if isinstance(value, ExecutedDagStep):
            return value
        return self._work.make_failed_step(step, f"This should not have happened: {type(value).__name__}: {value}")

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            _, _, step, attempt = heapq.heappop(self._later)
            self._ready.append((step, attempt))
        for number, running in list(self._running.items()) if self._running else ():
            if running.deadline > now:
                continue
            if running.late is None:  # it is over when its process is: another attempt begins after its end
                running.late = self._work.make_failed_step(
                    running.step, f"It took longer than {running.step.timeout:g} seconds."
                )
                running.deadline = now + GRACE_SECONDS
                self._threads.stop(number)
            else:
                del self._running[number]
                self._end(running.step, running.attempt, running.late)

    def _end(self, step: ValidDagStep, attempt: int, executed: ExecutedDagStep, *, may_retry: bool = True) -> None:
        following = self._dag.followers[step.key]
        verdicts = [self._work.follow(executed, each) for each in following]
        reason, asks_again = judge_step(executed.errors, verdicts)
        if asks_again and may_retry and attempt <= step.retry.most:
            wait = step.retry.wait(attempt) * (1 + self._jitter())
            self._work.note(StepEvent(step, StepStatus.RETRYING, attempt, reason, executed, wait=wait))
            heapq.heappush(self._later, (time.monotonic() + wait, next(self._numbers), step, attempt + 1))
            return
        status = StepStatus.FAILED if reason else StepStatus.SUCCEEDED
        self.statuses[step.key] = status
        by_key = {each.key: verdict for each, verdict in zip(following, verdicts, strict=True)}
        self._work.note(StepEvent(step, status, attempt, reason, executed, by_key))
        self._tell(list(zip(following, verdicts, strict=True)))

    def _settle(self, step: ValidDagStep, status: StepStatus, reason: str, verdict: FollowDecision) -> None:
        """Say of a step that it does not run, and tell those behind it."""
        self.statuses[step.key] = status
        self._work.note(StepEvent(step, status, 0, reason))
        self._tell([(each, verdict) for each in self._dag.followers[step.key]])

    def _tell(self, news: Sequence[tuple[ValidDagStep, FollowDecision]]) -> None:
        """Tell steps what one before them says. One that has heard from all runs, or does not, which others hear of."""
        open_news = deque(news)
        while open_news:
            step, verdict = open_news.popleft()
            if step.key in self.statuses:
                continue  # it was done before this run
            self._said.setdefault(step.key, []).append(verdict)
            self._waits[step.key] -= 1
            if self._waits[step.key]:
                continue
            ended = end_without_running(self._said.pop(step.key))
            if ended is None:
                self._ready.append((step, 1))
                continue
            self.statuses[step.key] = ended.status
            self._work.note(StepEvent(step, *ended))
            open_news += [(each, self._after(step, each, ended)) for each in self._dag.followers[step.key]]

    def _after(self, step: ValidDagStep, following: ValidDagStep, ended: Ended) -> FollowDecision:
        if ended.status is StepStatus.BLOCKED:
            return self._work.follow_blocked(step, following, ended.reason)
        return FollowDecision(Follow.END, f'"{step.key}" did not run')

    def _cancel(self) -> None:
        """End the steps that run, and say what was cancelled."""
        if self._running:
            LOG.info("Stopping %s …", ", ".join(each.step.key for each in self._running.values()))
        self._stop_running()
        begun = [(each.step, each.attempt) for each in self._running.values()]
        begun += [(step, attempt - 1) for _, _, step, attempt in self._later]
        begun += [(step, attempt - 1) for step, attempt in self._ready if attempt > 1]
        for step, attempt in begun:
            self.statuses[step.key] = StepStatus.CANCELLED
            self._work.note(StepEvent(step, StepStatus.CANCELLED, attempt, "The run was stopped."))
        for step in self._dag.steps:
            self.statuses.setdefault(step.key, StepStatus.CANCELLED)

    def _stop_running(self) -> None:
        """Ask the steps that run to end, and give them some time."""
        for number in self._running:
            self._threads.stop(number)
        began = time.monotonic()
        while self._threads.busy:
            waited = time.monotonic() - began
            if waited > (GRACE_SECONDS if self._threads.listening else _DEAF_SECONDS):
                return
            time.sleep(0.02)

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """Let ctrl-C come as a message: it cannot hit this loop in the middle of a decision or of a record of it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # SIGTERM is as good as ctrl-C where somebody has made it so, as the command has; else it is not ours.
        others = [signal.SIGTERM] if signal.getsignal(signal.SIGTERM) is signal.default_int_handler else []
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, *others)}

        def handle(number: int, frame: object) -> None:
            for each, handler in before.items():  # whoever sends another one, of either kind, means it
                signal.signal(each, handler)
            self._finished.put(_INTERRUPT)

        for number in before:
            signal.signal(number, handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
