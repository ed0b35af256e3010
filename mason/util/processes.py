"""Tells a process from another one that was given the same id later, and ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessId:
    """A process: its id, and when it was started, since ids come round again."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        return cls(pid, start_time(pid))

    @property
    def alive(self) -> bool:
        return bool(self.started) and start_time(self.pid) == self.started

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if the process is still the one that is meant."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Return whether the process ended within some seconds."""
        end = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def stop(self, patience: float = 10.0) -> None:
        """End the process: kindly first, then for good."""
        self.send(signal.SIGTERM)
        if not self.wait(patience):
            self.send(signal.SIGKILL)
            self.wait(patience)


def start_time(pid: int) -> str:
    """Return when a process was started, in the words of this system, or nothing if there is no such process."""
    if _PROC.is_dir():
        try:
            # The name in brackets may hold spaces and brackets; what follows the last one is plain.
            fields = (
                (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
        except OSError:
            return ""
        state, started = fields[0], fields[19]
        return "" if state in "ZX" else started
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()


def describe_exit(name: str, code: int | None, last_lines: Sequence[str]) -> str:
    """Say how the process that ran something ended before its work was done, and what it printed last."""
    how = f"by the signal {-code}" if code is not None and code < 0 else f"with the exit code {code}"
    return f"The process that ran {name} ended {how}.{describe_last_lines(last_lines)}"


def describe_last_lines(lines: Sequence[str]) -> str:
    """Return the end of a message about a process that is gone: what it printed last, if anything."""
    return " It said last:" + "".join(f"\n  {each}" for each in lines) if lines else ""


def die_with_parent() -> None:
    """Let the kernel end this process when its parent dies, where it can (Linux): for `preexec_fn`."""
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGTERM)


def this_process() -> dict[str, str | int]:
    """Return what a record keeps of the process that works on it."""
    process = ProcessId.of(os.getpid())
    return {"Host": this_host(), "Pid": process.pid, "Started": process.started}


@cache
def this_host() -> str:
    """Return what tells this machine, or container, from others of the same name, and from itself before it restarted.

    Two processes that say the same can see each other.
    """
    name = socket.gethostname()
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{name} {boot} {os.readlink(_PROC / 'self/ns/pid')}"  # noqa: PTH115 (this is no path)
    except OSError:
        return name
