"""Runs as anybody can look at them, from any process and at any later time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.errors import NotFound
from mason.state.heartbeat import is_gone
from mason.state.models import Record, RecordKind, RunStep
from mason.state.store import StateStore
from mason.util.names import did_you_mean

LOST = "lost"
_PAGE = 100


def list_runs(
    store: StateStore, name: str = "", limit: int = 100, may_see: Callable[[Record], bool] = lambda run: True
) -> list[dict[str, Any]]:
    """Return the newest runs without their steps and parameters: of all, of `table:daily`, or of all in `table:`.

    `may_see` says which of them whoever asks may see.
    """
    runs = filter(may_see, _runs_of(store, name))
    found = [_describe_run(store, each) for each in islice(runs, limit)]
    return [{key: value for key, value in each.items() if key != "Parameters"} for each in found]


def show_run(store: StateStore, run_id: str) -> dict[str, Any]:
    """Return a run with its steps.

    Raises:
        NotFound: there is no such run, or more than one whose id begins so.
    """
    record = find_run(store, run_id)
    alive = is_alive(store, record)
    steps = [_describe_step(each, alive) for each in store.list_run_steps(record.id)]
    counts = {key: value for key, value in _describe_run(store, record).items() if key != "Steps"}
    return {**counts, "Steps": steps}


def find_run(store: StateStore, run_id: str) -> Record:
    """Return the run whose id is this, or begins so.

    Raises:
        NotFound: there is none, or more than one.
    """
    exact = store.get_record(RecordKind.RUN, run_id)
    if exact:
        return exact
    runs = store.list_records(RecordKind.RUN, limit=10_000)
    found = [each for each in runs if run_id and each.id.startswith(run_id)]
    if len(found) != 1:
        many = f"There are {len(found)} that begin so." if found else ""
        hint = many or did_you_mean(run_id, [each.id for each in runs[:100]]) or "`mason workflow --runs` lists them."
        raise NotFound(f'There is no run "{run_id}".', hint=hint)
    return found[0]


def is_alive(store: StateStore, record: Record) -> bool:
    """Say whether a run goes on: it says so, and its process is not known to be gone."""
    if record.status != StepStatus.RUNNING:
        return False
    process = record.document.get("Process")
    # One without a process is driven by a scheduler elsewhere, which says when it is over.
    return process is None or not is_gone(store, process)


def _runs_of(store: StateStore, name: str) -> Iterator[Record]:
    for start in count(0, _PAGE):
        page = store.list_records(RecordKind.RUN, limit=_PAGE, offset=start)
        for record in page:
            workflow = str(record.document["Workflow"]).partition("@")[0]
            if not name or workflow == name or (name.endswith(":") and workflow.startswith(name)):
                yield record
        if len(page) < _PAGE:
            return


def _describe_run(store: StateStore, record: Record) -> dict[str, Any]:
    status = record.status if record.status != StepStatus.RUNNING or is_alive(store, record) else LOST
    said = {key: value for key, value in record.document.items() if key != "Process"}
    return {"RunID": record.id, "Status": status, **said}


def _describe_step(step: RunStep, run_is_alive: bool) -> dict[str, Any]:
    status = step.status if run_is_alive or StepStatus(step.status).is_final else LOST
    hidden = ("Call", "Inputs", "Outputs", "Written", "Follows")
    return {
        "Id": step.step,
        "Status": status,
        **{key: value for key, value in step.document.items() if key not in hidden},
    }
