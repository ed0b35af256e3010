"""What a job is asked survives as JSON, and what it cannot be asked is refused by name."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import BadInput
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.merge.job import MergeJob, Mode
from mason.pipeline.work.request import JobRequest
from mason.pipeline.work.row_sums import LeftOut, RowsLost, RowSums
from tests.jobs.golden_jobs import example_requests

REQUESTS = example_requests()
MERGE = MergeJob(Location("/in"), Location("/out")).to_job()


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_comes_back_from_json_as_what_it_was(name: str) -> None:
    request: JobRequest = REQUESTS[name]

    again = type(request).of(Job(**json.loads(json.dumps(asdict(request.to_job())))))

    assert again.to_job() == request.to_job()
    assert {each: type(value) for each, value in vars(again).items() if not isinstance(value, str | tuple | list)} == {
        each: type(value) for each, value in vars(request).items() if not isinstance(value, str | tuple | list)
    }


def test_values_are_what_the_fields_declare() -> None:
    job = Job(**json.loads(json.dumps(asdict(REQUESTS["merge, all"].to_job()))))
    checks = CheckJob.of(Job(**json.loads(json.dumps(asdict(REQUESTS["check, all"].to_job())))))

    options = MergeJob.of(job).options

    assert options.mode is Mode.APPEND and options.csv.widths == (3, 4) and options.repartition_keys == ("day",)
    assert isinstance(checks.checks[1], Check) and checks.references == {"/shop/b": Location("/shop/b")}


def test_what_is_not_said_is_as_it_is_by_default() -> None:
    assert MergeJob.of(replace(MERGE, options={})) == MergeJob(Location("/in"), Location("/out"))


REFUSED: dict[str, tuple[Job, str]] = {
    "option": (replace(MERGE, options={"moode": "append"}), 'has no option "moode". Did you mean "mode"?'),
    "input": (
        replace(MERGE, inputs={"path": Location("/in"), "bucket": Location("b")}),
        'has no input "bucket". It has: path.',
    ),
    "place": (replace(MERGE, inputs={"path": "/in"}), '"path" of the job "merge" is not a place'),  # type: ignore[dict-item]
    "output": (replace(MERGE, outputs={}), 'needs "path" among its outputs.'),
    "value": (
        replace(MERGE, options={"mode": "add"}),
        '"add" is not a value for "mode" in the job "merge". One of: repl',
    ),
    "nested": (replace(MERGE, options={"csv": {"qoute": "'"}}), '"qoute" is not known in "csv" in the job "merge".'),
    "missing": (
        Job("check", {"path": Location("/in")}, {"path": None}, {"checks": [{"kind": "not_null"}]}),
        '"name" is missing in',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_type_cannot_be_asked_is_refused_by_name(case: str) -> None:
    job, told = REFUSED[case]
    kind: Any = CheckJob if job.type == "check" else MergeJob

    with pytest.raises(BadInput) as refused:
        kind.of(job)

    assert told in str(refused.value)


def test_sums_that_do_not_hold_are_told_in_full() -> None:
    left_out = [LeftOut("Filtered", 2), LeftOut("NotSampled", 1, "not in the sample"), LeftOut("Quarantined", 0)]
    RowSums(6, 3, left_out).check()

    with pytest.raises(
        RowsLost, match="7 records were read, but 3 were written, 2 filtered, 1 not in the sample and 0 quarantined"
    ):
        RowSums(7, 3, left_out).check()
    with pytest.raises(RowsLost, match="1 rows fail, but 2 were written"):
        RowSums(1, 2, came="rows fail").check()
