"""Asking for many things that each take their time to come, as over a network, and that are wanted in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ask_ahead(ask: Callable[[T], R], items: Iterable[T], at_once: int) -> Generator[Callable[[], R]]:
    """Yield for each item what waits for its answer, and raises what asking raised; the next ones are asked meanwhile.

    At most `at_once` answers are under way, or there and not yet wanted.
    """
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="asking")
    coming: deque[Future[R]] = deque()
    try:
        for item in items:
            coming.append(pool.submit(ask, item))
            if len(coming) == at_once:
                yield coming.popleft().result
        while coming:
            yield coming.popleft().result
    finally:
        pool.shutdown(cancel_futures=True)  # nobody wants the others any more
