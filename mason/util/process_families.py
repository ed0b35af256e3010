"""Which processes belong together, how many they are, and how much memory they have in use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PARENT, _SESSION, _USER, _SYSTEM, _RESIDENT = 1, 3, 11, 12, 21
"""Where they stand in /proc/PID/stat, counted from what comes after the name."""

_PROC = Path("/proc")
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
        with suppress(OSError, ValueError):  # "max" is no limit
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
