"""The threads that read for the API: few where few will do, and never fewer than it takes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from mason.api.server.calls.daemon_pool import DaemonPool


def test_short_work_is_done_by_one_thread() -> None:
    pool = DaemonPool[int, str](lambda _: threading.current_thread().name, 8, "short", patience_seconds=60)

    names = {future.result(10) for future in [pool.submit(number) for number in range(1000)]}

    assert names == {"short-1"}


def test_work_that_waits_keeps_nobody_waiting() -> None:
    together = threading.Barrier(8)  # nobody gets past it before all have come
    pool = DaemonPool[int, int](lambda _: together.wait(10), 8, "waiting")

    arrived = {future.result(10) for future in [pool.submit(number) for number in range(8)]}

    assert arrived == set(range(8))


def test_one_that_takes_long_keeps_no_short_one_waiting() -> None:
    go = threading.Event()
    pool = DaemonPool[bool, bool](lambda is_long: is_long and go.wait(10), 8, "mixed")

    long = pool.submit(True)
    for _ in range(100):
        assert pool.submit(False).result(10) is False

    assert not long.done()
    go.set()
    assert long.result(10) is True


def test_there_are_never_more_threads_than_allowed() -> None:
    busy, most = threading.Semaphore(2), list[bool]()

    def work(_: int) -> None:
        most.append(busy.acquire(blocking=False))
        time.sleep(0.02)
        busy.release()

    pool = DaemonPool[int, None](work, 2, "two")
    for future in [pool.submit(number) for number in range(12)]:
        future.result(10)

    assert most == [True] * 12


def test_what_fails_is_told_and_the_thread_goes_on() -> None:
    pool = DaemonPool[int, float](lambda number: 1 / number, 1, "failing")

    failed, good = pool.submit(0), pool.submit(2)

    assert isinstance(failed.exception(10), ZeroDivisionError)
    assert good.result(10) == 0.5


def test_a_thread_that_has_rested_works_again() -> None:
    pool = DaemonPool[int, int](lambda number: number, 4, "resting")

    for number in range(50):
        assert pool.submit(number).result(10) == number


def test_what_is_done_is_told_though_what_comes_next_takes_long() -> None:
    go = threading.Event()
    pool = DaemonPool[bool, bool](lambda is_long: is_long and go.wait(10), 1, "one")
    short, long = Future[bool](), Future[bool]()

    pool.submit_all([(False, short), (True, long)])

    assert short.result(5) is False
    assert not long.done()
    go.set()
    assert long.result(10) is True


def test_of_several_at_once_none_waits_for_one_that_takes_long() -> None:
    together = threading.Barrier(8)
    pool = DaemonPool[int, int](lambda _: together.wait(10), 8, "several")
    work = [(number, Future[int]()) for number in range(8)]

    pool.submit_all(work)

    assert {future.result(10) for _, future in work} == set(range(8))
