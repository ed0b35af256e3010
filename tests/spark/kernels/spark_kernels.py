"""Kernels that Spark's workers import by name."""

from __future__ import annotations

import importlib
import json
import os
import signal
import time
from pathlib import Path

import mason
from mason.errors import InvalidParameters, UnreadableFile

_LONGEST_WAIT = 100


def echo(task: bytes) -> bytes:
    return b"done " + task


def whereabouts(task: bytes) -> bytes:
    told = {"task": task.decode(), "pid": os.getpid(), "parent": os.getppid(), "mason": mason.__file__}
    time.sleep(0.3)  # long enough for every worker to get a share
    return json.dumps({**told, "variables": sorted(os.environ)}).encode()


def java_environments(_task: bytes) -> bytes:
    """Give the variables of every Java above this process, and its own."""
    told, process = [], os.getpid()
    while process > 1:
        folder = Path(f"/proc/{process}")
        if process == os.getpid() or (folder / "comm").read_text() == "java\n":
            told.append((folder / "environ").read_text())
        process = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return "\0".join(told).encode()


def packages(_task: bytes) -> bytes:
    """Say where the packages come from that kernels need."""
    names = ("pyarrow.parquet", "numpy", "pandas", "fastavro", "msgpack", "duckdb", "sqlglot", "yaml")
    return json.dumps({name: importlib.import_module(name).__file__ for name in names}).encode()


def unreadable(task: bytes) -> bytes:
    raise UnreadableFile(task.decode(), "it is torn", hint="Mend it.")


def two_problems(_task: bytes) -> bytes:
    raise InvalidParameters(["no input", "no output"])


def bug(_task: bytes) -> bytes:
    raise ZeroDivisionError("a bug")


def flaky(task: bytes) -> bytes:
    """Fail the first time: the task is the path of a file that remembers."""
    _first_time(task, lambda: (_ for _ in ()).throw(OSError("the disk was full")))
    return b"well"


def killed_once(task: bytes) -> bytes:
    """Die as a worker does that runs out of memory, the first time."""
    _first_time(task, lambda: os.kill(os.getpid(), signal.SIGKILL))
    return b"alive"


def note_and_sleep(task: bytes) -> bytes:
    """Write that it was begun, sleep, write that it was done: the task is the path of the note."""
    note = Path(task.decode())
    note.write_text("begun")
    time.sleep(4)
    note.write_text("done")
    return b""


def wait_for(task: bytes) -> bytes:
    """Wait for a file, if there is one to wait for: the task is its path."""
    end = time.monotonic() + _LONGEST_WAIT
    while task and not Path(task.decode()).exists() and time.monotonic() < end:
        time.sleep(0.05)
    return b""


def _first_time(task: bytes, action: object) -> None:
    note = Path(task.decode())
    if not note.exists():
        note.touch()
        assert callable(action)
        action()
