"""The drivers that run in threads of this process: each takes one job to its end."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable

from mason.errors import MasonError

_LOG = logging.getLogger("mason.pipeline")


def start_driver(job_id: str, drive: Callable[..., object], *arguments: object) -> threading.Thread:
    """Run a driver in a thread, in the context of this one. What becomes of the job stands in its record.

    The thread is no daemon: a process whose work is done stays until the jobs that it has accepted are over.
    """
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(_drive, drive, arguments), name=f"mason-job-{job_id}")
    thread.start()
    return thread


def _drive(drive: Callable[..., object], arguments: tuple[object, ...]) -> None:
    try:
        drive(*arguments)
    except MasonError:
        return  # the record says so
    except Exception:  # noqa: BLE001 (a thread has no caller to raise it in)
        _LOG.exception("A job failed in a way that it should not.")
