"""Runs a query with an author's own code: the child of `driver.apart`, which reads an `Apart` from stdin.

What it yields goes to the pipe that its argument numbers; stdin stays open as long as its parent lives.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO

from mason.clients.spark.driver.apart import BEAT, STARTING, Apart
from mason.clients.spark.exchange import ENDED, FAILED, write_items
from mason.pipeline.work.failures import encode_failure
from mason.pipeline.work.tasks import Starting, TaskEvent


class _Stopped(BaseException):
    """Raised when the parent wants the end: nothing that an author catches."""


def main(results: BinaryIO) -> None:
    """Run the query that stdin has, and write what comes of it."""
    signal.signal(signal.SIGTERM, _stop)
    apart: Apart = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, args=[apart.scratch], daemon=True).start()
    try:
        with closing(_events(apart)) as events:
            write_items(results, map(_item, events))
        write_items(results, [(ENDED, b"")])
    except _Stopped:
        pass
    except Exception as error:  # noqa: BLE001 (whatever it is, it is raised where the results are awaited)
        write_items(results, [(FAILED, encode_failure(error))])


def _events(apart: Apart) -> Any:
    if apart.port:
        return _on_warm_server(apart)
    if apart.is_connect:
        from mason.clients.spark.runners.connect import ConnectRunner

        return _closed(ConnectRunner(apart.settings), apart.content)
    from mason.clients.spark.in_process import InProcessRunner

    return InProcessRunner(apart.settings).query(apart.content)


def _closed(runner: Any, content: bytes) -> Iterator[TaskEvent]:
    """Run a query and end the session: what is left of this process goes without a word to the server."""
    try:
        yield from runner.query_here(content)
    finally:
        runner.close()


def _on_warm_server(apart: Apart) -> Iterator[TaskEvent]:
    from mason.clients.spark.connection import LoopbackBuilder, close_session, open_session
    from mason.clients.spark.job import run_query
    from mason.clients.spark.results import Streamed

    spark = open_session(LoopbackBuilder(apart.port, apart.token, apart.session), retries=4)
    try:
        yield from run_query(spark, apart.content, Streamed, apart.tag)
    finally:
        close_session(spark)


def _item(event: TaskEvent) -> tuple[int, bytes]:
    if isinstance(event, tuple):
        return event
    if isinstance(event, Starting):
        return STARTING, json.dumps([event.engine, event.usual_seconds]).encode()
    return BEAT, json.dumps(event).encode()


def _stop(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Stopped


def _end_with_parent(scratch: str) -> None:
    while sys.stdin.buffer.read(1):
        pass
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)  # nobody is there any more to whom it could matter


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1]), "wb", buffering=0) as pipe:
        main(pipe)
    sys.stdout.flush()
    os._exit(0)  # pyspark and the author's threads have nothing to say any more
