"""Where the time goes: the functions of a run that take most of it."""

from __future__ import annotations

import cProfile
import pstats
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measure import HotSpot, Profile
from benchmarks.script import MASON
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.reading.tasks.kernel import merge_task
from mason.pipeline.reading.tasks.task import MergeTask, tasks_of
from mason.pipeline.storage.address import open_filesystem

SHOWN = 8
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def profile_kernel(job: MergeJob, folder: Path | str) -> Profile:
    """Return the profile of one task of a merge, run in this process; it writes to a new folder of its storage."""
    place = job.output.beside(str(folder))
    open_filesystem(place.storage).create_dir(place.path)
    return profile_tasks(tasks_of(plan_merge(job), place, "profile"))


def profile_tasks(tasks: Sequence[MergeTask]) -> Profile:
    """Return the profile of the first of some tasks, run in this process."""
    read = sum(file.length for file in tasks[0].files)
    what = f"the kernel on the first of {len(tasks)} tasks ({read / 1e6:.0f} MB)"
    return profile_call(what, lambda: merge_task(tasks[0].to_bytes()))


def profile_call(what: str, call: Callable[[], object]) -> Profile:
    """Return the profile of a call."""
    profiler = cProfile.Profile()
    profiler.runcall(call)
    return _profile(what, pstats.Stats(profiler))


def profile_command(what: str, arguments: Sequence[str], folder: Path) -> Profile:
    """Return the profile of a command of Mason's, a process of its own."""
    file = folder / "profile"
    # -P: with another path of Python the command would not fit the warm server that is there, and start one.
    command = [sys.executable, "-P", "-m", "cProfile", "-o", str(file), MASON, *arguments]
    for _ in range(2):  # the first may still have to start a server that fits it
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    return _profile(what, pstats.Stats(str(file)))


def _profile(what: str, stats: pstats.Stats) -> Profile:
    found: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = stats.stats  # type: ignore[attr-defined]
    most = sorted(found.items(), key=lambda item: item[1][2], reverse=True)[:SHOWN]
    spots = [HotSpot(_name(*place), calls, round(own, 3)) for place, (_, calls, own, *_) in most]
    return Profile(what, round(stats.total_tt, 3), spots)  # type: ignore[attr-defined]


def _name(file: str, line: int, function: str) -> str:
    """A function as people call it, without where this machine keeps it."""
    if not line:
        return _ADDRESS.sub("", function)
    path = Path(file)
    for root in ("site-packages", f"python{sys.version_info.major}.{sys.version_info.minor}", "mason"):
        if root in path.parts:
            parts = path.parts[path.parts.index(root) + (root != "mason") :]
            return f"{'/'.join(parts)}:{function}"
    return f"{path.name}:{function}"
