"""A merge that adds to a table as a step of a workflow: what an earlier attempt has committed is not added twice."""

from __future__ import annotations

import pytest

from mason.lineage.surroundings import within_step
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.reading.plan.inspection import PlanRefused
from tests.merge.conftest import Merge


def attempt(merge: Merge, work: str = "run/load") -> MergeResult:
    with within_step("demo:flow", "run", "load", work):
        return merge.run(mode="append")


def test_another_attempt_adds_only_what_is_new(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n2\n")
    attempt(merge)

    second = attempt(merge)
    merge.given("b.csv", "n\n3\n")
    third = attempt(merge)

    assert second.summary == f"Nothing to add: an earlier attempt at this step has added 1 file to {merge.output}."
    assert (second.rows_in, third.rows_in, third.to_dict()["MergedBefore"]) == (0, 1, 1)
    assert sorted(merge.table()["n"].to_pylist()) == [1, 2, 3]


def test_a_file_that_was_changed_between_two_attempts_is_refused(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n2\n")
    attempt(merge)
    merge.given("a.csv", "n\n1\n2\n3\n")

    with pytest.raises(PlanRefused, match="it was merged before, and has changed since then"):
        attempt(merge)


def test_other_steps_runs_and_commands_add_as_they_are_told(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\n")

    attempt(merge)
    attempt(merge, "run/other")
    attempt(merge, "later/load")
    merge.run(mode="append")

    assert merge.table()["n"].to_pylist() == [1, 1, 1, 1]


def test_one_attempt_may_add_the_same_path_more_than_once(merge: Merge) -> None:
    with within_step("demo:flow", "run", "load", "run/load"):
        for number in (1, 2):
            merge.given("a.csv", f"n\n{number}\n")
            merge.run(mode="append")

    assert merge.table()["n"].to_pylist() == [1, 2]
