"""What the jobs on this machine take of it: `mason job top`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from mason.engines.execution.models.job import JobStatus
from mason.operators.calls.records import call_status
from mason.state.home import read_state
from mason.state.models import Record, RecordKind
from mason.util.environment import MasonEnvironment
from mason.util.processes import ProcessUse, descendants, read_processes, this_host

_MOST = 1000
_TICKS = os.sysconf("SC_CLK_TCK")


def measure_jobs(env: MasonEnvironment, seconds: float) -> Sequence[Mapping[str, Any]]:
    """Return the jobs that run on this machine, each with the processes that it has, their memory, and their CPU.

    The calls of a server share what is said of it: they are counted as the server with all of its processes.

    Args:
        seconds: over so long the CPU is measured.
    """
    store = read_state(env)
    running = store.list_records(RecordKind.CALL, status=JobStatus.RUNNING, limit=_MOST)
    here = [each for each in running if each.document.get("Process", {}).get("Host") == this_host()]
    calls = [(each, call_status(store, each)) for each in here]
    before = read_processes()
    began = time.monotonic()
    time.sleep(seconds)
    after, took = read_processes(), time.monotonic() - began
    return [
        {**_name(call, status), **_use(int(call.document["Process"]["Pid"]), before, after, took)}
        for call, status in calls
        if not status.is_final
    ]


def _name(call: Record, status: JobStatus) -> dict[str, Any]:
    name = call.document.get("Operator") or call.document.get("Workflow") or ""
    began = call.document.get("StartedAt") or call.document.get("QueuedAt") or ""
    return {"JobID": call.id, "Name": name, "Status": status, "Since": began}


def _use(pid: int, before: Mapping[int, ProcessUse], after: Mapping[int, ProcessUse], seconds: float) -> dict[str, Any]:
    family = [pid, *descendants(pid, after)]
    ticks = sum(after[each].ticks - (before[each].ticks if each in before else 0) for each in family if each in after)
    return {
        "Process": pid,
        "Processes": len(family),
        "CPUPercent": round(100 * ticks / _TICKS / seconds),
        "MemoryBytes": sum(after[each].resident_bytes for each in family if each in after),
    }
