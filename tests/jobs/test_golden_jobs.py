"""What plans and records of jobs say stays as it is: scripts, consoles and lineage read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Mason
from tests.jobs.golden_jobs import COMMITS, GOLDEN, JOBS, REQUESTS, describe_commits, describe_jobs, describe_requests


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("golden")
    (folder / "work").mkdir()
    mason = Mason(folder / "work", folder / "home")
    return {**describe_jobs(mason), COMMITS: describe_commits(mason)}


def test_commit_records_say_what_they_said(told: dict[str, dict[str, Any]]) -> None:
    assert told[COMMITS] == json.loads((GOLDEN / f"{COMMITS}.json").read_text(encoding="utf-8"))


def test_a_job_is_asked_for_as_it_was() -> None:
    found, golden = describe_requests(), (GOLDEN / f"{REQUESTS}.json").read_text(encoding="utf-8")

    assert json.dumps(found, indent=1, ensure_ascii=False) + "\n" == golden  # the order of the keys included


@pytest.mark.parametrize("job", [each.name for each in JOBS])
def test_the_plan_and_the_record_of_a_job_say_what_they_said(told: dict[str, dict[str, Any]], job: str) -> None:
    golden = json.loads((GOLDEN / f"{job}.json").read_text(encoding="utf-8"))

    assert told[job] == golden


def test_every_type_of_job_has_a_golden_file() -> None:
    from mason.pipeline.driving.job_types import job_types

    types = {json.loads((GOLDEN / f"{job.name}.json").read_text())["run"]["Data"][0]["JobType"] for job in JOBS}

    assert types == set(job_types())
