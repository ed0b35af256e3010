"""How long Spark took to start on this machine the last time, for whoever waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from mason.clients.spark.server.runtime import private_folder, runtime_folder
from mason.errors import Forbidden
from mason.pipeline.work.tasks import Starting, starting

T = TypeVar("T")

SERVER = "server"
IN_PROCESS = "process"
_LEAST_SECONDS = 1.0


def start_spark(kind: str, start: Callable[[], T]) -> Generator[Starting, None, T]:
    """Start a Spark, yield beats that say how long that usually takes here, and return what was started."""
    file = _file(kind)
    began = time.monotonic()
    started = yield from starting(start, Starting("Spark", _read(file)))
    took = time.monotonic() - began
    if took > _LEAST_SECONDS:  # below that nothing was started: it was there
        _write(file, took)
    return started


def start_in_background(start: Callable[[], object]) -> None:
    """Have a thread start something that a job is going to start again, which then waits for this or finds it."""

    def begin() -> None:
        with suppress(Exception):  # the job does the same, and says why it cannot be done
            start()

    threading.Thread(target=begin, name="mason-early-start", daemon=True).start()


def _file(kind: str) -> Path | None:
    with suppress(OSError, Forbidden):
        return private_folder(runtime_folder()) / f"seconds-to-start-a-{kind}"
    return None


def _read(file: Path | None) -> float | None:
    try:
        return float(file.read_text(encoding="ascii")) if file else None
    except (OSError, ValueError):
        return None


def _write(file: Path | None, seconds: float) -> None:
    if file:
        with suppress(OSError):
            file.write_text(f"{seconds:.1f}", encoding="ascii")
