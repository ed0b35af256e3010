"""What plans and records of jobs say stays as it is: scripts, consoles and lineage read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Mason
from tests.jobs.golden_jobs import GOLDEN, JOBS, describe_jobs


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("golden")
    (folder / "work").mkdir()
    return describe_jobs(Mason(folder / "work", folder / "home"))


@pytest.mark.parametrize("job", [each.name for each in JOBS])
def test_the_plan_and_the_record_of_a_job_say_what_they_said(told: dict[str, dict[str, Any]], job: str) -> None:
    golden = json.loads((GOLDEN / f"{job}.json").read_text(encoding="utf-8"))

    assert told[job] == golden


def test_every_type_of_job_has_a_golden_file() -> None:
    from mason.pipeline.work import job_types

    types = {json.loads((GOLDEN / f"{job.name}.json").read_text())["run"]["Data"][0]["JobType"] for job in JOBS}

    assert types == set(job_types())
