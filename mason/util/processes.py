"""Processes: which one an id means, which belong together, how much memory they use, and how one is ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
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
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip()


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


_PARENT, _SESSION, _USER, _SYSTEM, _RESIDENT = 1, 3, 11, 12, 21
"""Where they stand in /proc/PID/stat, counted from what comes after the name."""

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Family:
    """The processes of one session."""

    count: int = 0
    resident_bytes: int = 0


def count_families() -> dict[int, Family]:
    """Return the processes of this machine by their sessions; nothing where the system does not show them."""
    found: dict[int, Family] = {}
    for stat in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):  # one that ends meanwhile
            words = stat.read_text(errors="replace").rpartition(")")[2].split()
            before = found.get(int(words[_SESSION]), Family())
            resident = before.resident_bytes + int(words[_RESIDENT]) * _PAGE
            found[int(words[_SESSION])] = Family(before.count + 1, resident)
    return found


def find_members(session: int) -> list[int]:
    """Return the processes of a session."""
    found = []
    for stat in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            if int(stat.read_text(errors="replace").rpartition(")")[2].split()[_SESSION]) == session:
                found.append(int(stat.parent.name))
    return found


def machine_memory() -> int:
    """Return how much memory there is for the processes of this machine, or of this container."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        with suppress(OSError, ValueError):  # "max" is not a limit
            return min(total, int(limit.read_text()))
    return total


@dataclass(frozen=True)
class ProcessUse:
    """What one process has taken so far, and what it has in use."""

    parent: int
    ticks: int
    resident_bytes: int


def read_processes() -> dict[int, ProcessUse]:
    """Return the processes of this machine by their ids; nothing where the system does not show them."""
    found: dict[int, ProcessUse] = {}
    for stat in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):  # one that ends meanwhile
            words = stat.read_text(errors="replace").rpartition(")")[2].split()
            ticks = int(words[_USER]) + int(words[_SYSTEM])
            found[int(stat.parent.name)] = ProcessUse(int(words[_PARENT]), ticks, int(words[_RESIDENT]) * _PAGE)
    return found


def descendants(pid: int, processes: Mapping[int, ProcessUse]) -> list[int]:
    """Return what a process has started, and what that has."""
    found = [pid]
    for each in found:
        found += [child for child, use in processes.items() if use.parent == each and child != pid]
    return found[1:]
