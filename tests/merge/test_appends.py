"""Appends at once: each of them is in the table at the end, once, whoever else writes to it or dies meanwhile."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mason.engines.storage.models.location import Location
from mason.lineage.surroundings import within_step
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.outcome import MergeResult
from mason.pipeline.jobs.merge.replay import ReplayJob
from mason.pipeline.jobs.merge.work import MergeWork, ReplayWork
from mason.pipeline.tables.commit import ChangedMeanwhile
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.versions import roll_back
from mason.pipeline.work.tasks import TaskEvent
from tests.merge.conftest import Merge
from tests.merge.test_replay import export_rejects

pytestmark = pytest.mark.timeout(300)

AT_ONCE = 60


def planned(merge: Merge, folder: str, **options: Any) -> MergeWork:
    """The plan of an append of the files in a folder, or of a merge in another mode."""
    settings = MergeOptions(**{"mode": Mode.APPEND, **options})
    return MergeWork.plan(
        MergeJob(Location(str(merge.root / folder)), Location(str(merge.output)), options=settings).to_job()
    )


def run(work: MergeWork, job: str) -> MergeResult:
    return work.run(InProcessRunner(), job, lambda *_: None)


def given(merge: Merge, folder: str, text: str) -> None:
    merge.given(f"../{folder}/a.csv", text)


def at_once(calls: Sequence[Callable[[], object]]) -> list[str]:
    """Make all calls at the same moment, each in a thread of its own; return what those said that failed."""
    ready = threading.Barrier(len(calls))

    def call(wanted: Callable[[], object]) -> str:
        ready.wait(60)
        try:
            wanted()
        except Exception:  # noqa: BLE001 (whatever it is, the test tells it)
            return traceback.format_exc()
        return ""

    with ThreadPoolExecutor(len(calls)) as pool:
        return [said for said in pool.map(call, calls) if said]


def numbers(merge: Merge) -> list[int]:
    return sorted(merge.table()["n"].to_pylist())


def leftovers(merge: Merge) -> list[str]:
    """What is left of jobs that did not commit."""
    return merge.left_behind()


def check_history(merge: Merge, versions: int) -> None:
    """Every version is there, each the parent of the next, with all that it says of itself."""
    history = list(TableFolder(str(merge.output)).history())
    assert [each.number for each in history] == list(range(versions, 0, -1))
    assert [each.parent for each in history] == [*(each.id for each in history[1:]), None]
    assert {each.name for each in merge.output.glob("part-*")} == {each.path for each in history[0].files}
    assert history[0].rows == merge.table().num_rows


def problems(merge: Merge, wanted: Sequence[int]) -> list[str]:
    """What is wrong with the table, if each of these numbers is to be in it once."""
    found = numbers(merge)
    lost = sorted(set(wanted) - set(found))
    twice = sorted({each for each in found if found.count(each) > wanted.count(each)})
    return [*([f"lost: {lost}"] if lost else []), *([f"there too often: {twice}"] if twice else [])]


@pytest.mark.parametrize("is_there", [True, False])
def test_sixty_appends_at_once_are_all_in_the_table(merge: Merge, is_there: bool) -> None:
    if is_there:
        given(merge, "first", "n\n-1\n")
        run(planned(merge, "first"), "first")
    for number in range(AT_ONCE):
        given(merge, f"in-{number}", f"n\n{number}\n")

    failed = at_once([lambda n=n: run(planned(merge, f"in-{n}"), f"job{n}") for n in range(AT_ONCE)])

    assert failed == [], "\n".join(failed)
    assert problems(merge, [*([-1] if is_there else []), *range(AT_ONCE)]) == []
    check_history(merge, AT_ONCE + is_there)
    assert leftovers(merge) == []


def test_the_appends_at_once_catch_a_commit_that_ignores_who_was_faster(
    merge: Merge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ignore(
        path: str, history: object, record: object, *, expected: object, kept: object, may_follow: object
    ) -> Any:
        return record, kept

    monkeypatch.setattr("mason.pipeline.tables.folder.follow_newest", ignore)
    given(merge, "first", "n\n-1\n")
    run(planned(merge, "first"), "first")
    for number in range(12):
        given(merge, f"in-{number}", f"n\n{number}\n")

    assert at_once([lambda n=n: run(planned(merge, f"in-{n}"), f"job{n}") for n in range(12)]) == []

    assert problems(merge, [-1, *range(12)]) != []


def test_appends_at_once_to_partitions_keep_what_each_has_set_aside(merge: Merge) -> None:
    for number in range(12):
        given(merge, f"in-{number}", f"day,n\nd{number % 3},{number}\nd0,bad\nd1,{number + 100}\nd2,worse\n")
    keys = {"repartition_keys": ("day",), "schema": "n bigint", "most_bad_share": 1.0}

    failed = at_once([lambda n=n: run(planned(merge, f"in-{n}", **keys), f"job{n}") for n in range(12)])

    assert failed == [], "\n".join(failed)
    assert problems(merge, [*range(12), *range(100, 112)]) == []
    rejects = merge.rejects()
    assert len({each.id for each in rejects}) == len(rejects) == 24
    assert {(each.commit, each.record, each.raw.strip()) for each in rejects} == {
        (f"job{n}", record, raw) for n in range(12) for record, raw in ((3, "d0,bad"), (5, "d2,worse"))
    }


def test_incremental_merges_of_the_same_files_at_once_add_each_file_once(merge: Merge) -> None:
    for number in range(5):
        merge.given(f"{number}.csv", f"n\n{number}\n")

    failed = at_once([lambda n=n: run(planned(merge, "in", incremental=True), f"job{n}") for n in range(12)])

    assert failed == [], "\n".join(failed)
    assert problems(merge, range(5)) == []


def test_attempts_at_one_step_at_once_add_each_file_once(merge: Merge) -> None:
    """A step that was taken for dead, and was not: its next attempt runs beside it."""
    merge.given("a.csv", "n\n1\n2\n")

    def attempt(number: int) -> None:
        with within_step("demo:flow", "run", "load", "run/load"):
            run(planned(merge, "in"), f"job{number}")

    failed = at_once([lambda n=n: attempt(n) for n in range(8)])

    assert failed == [], "\n".join(failed)
    assert problems(merge, [1, 2]) == []


class Meanwhile(InProcessRunner):
    """Lets something happen after a merge has been planned, and counts how often data is read."""

    def __init__(self, happen: Callable[[], object], times: int = 1) -> None:
        self._happen, self._left, self.rounds = happen, times, 0

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        self.rounds += 1
        if self._left:
            self._left -= 1
            self._happen()
        yield from super().run(kernel, tasks)


def test_an_append_that_lost_the_race_reads_no_data_again(merge: Merge) -> None:
    for folder, number in (("first", 1), ("other", 2), ("own", 3)):
        given(merge, folder, f"n\n{number}\n")
    run(planned(merge, "first"), "first")
    meanwhile = Meanwhile(lambda: run(planned(merge, "other"), "other"))

    planned(merge, "own").run(meanwhile, "own", lambda *_: None)

    assert meanwhile.rounds == 1
    assert problems(merge, [1, 2, 3]) == []
    check_history(merge, 3)


@pytest.mark.parametrize(
    ("other", "own", "rounds", "rows"),
    [
        ("n\n2.5\n", "n\n3\n", 2, [1.0, 2.5, 3.0]),
        ("n\n2\n", "n\n3.5\n", 2, [1.0, 2.0, 3.5]),
        ("n,m\n2,x\n", "n\n3\n", 2, [1, 2, 3]),
        ("n\n2\n", "n,m\n3,x\n", 1, [1, 2, 3]),
        ("n,m\n2,x\n", "n,m\n3,y\n", 1, [1, 2, 3]),
    ],
    ids=["it widened", "own widens", "it has a new column", "own has a new column", "both have it"],
)
def test_an_append_is_planned_again_where_the_columns_are_others_now(
    merge: Merge, other: str, own: str, rounds: int, rows: list[float]
) -> None:
    given(merge, "first", "n\n1\n")
    run(planned(merge, "first"), "first")
    given(merge, "other", other)
    given(merge, "own", own)
    meanwhile = Meanwhile(lambda: run(planned(merge, "other"), "other"))

    planned(merge, "own").run(meanwhile, "own", lambda *_: None)

    assert numbers(merge) == rows
    assert set(merge.types()) == {"n", *(["m"] if "m" in other + own else [])}
    assert meanwhile.rounds == rounds
    check_history(merge, 3)


@pytest.mark.parametrize("own", ["n\n3\n", "n\n3.5\n"], ids=["fits", "widens what is replaced meanwhile"])
def test_an_append_that_meets_a_replacement_is_added_to_that(merge: Merge, own: str) -> None:
    given(merge, "first", "n\n1\n")
    run(planned(merge, "first"), "first")
    given(merge, "other", "n\n2\n")
    given(merge, "own", own)
    meanwhile = Meanwhile(lambda: run(planned(merge, "other", mode=Mode.REPLACE), "other"))

    planned(merge, "own").run(meanwhile, "own", lambda *_: None)

    assert numbers(merge) == [2, float(own.split()[1])]
    check_history(merge, 3)


def test_an_incremental_merge_that_meets_a_rollback_adds_what_went_with_it(merge: Merge) -> None:
    for number in (1, 2):
        merge.given(f"{number}.csv", f"n\n{number}\n")
        run(planned(merge, "in", incremental=True), f"job{number}")
    merge.given("3.csv", "n\n3\n")
    meanwhile = Meanwhile(lambda: roll_back(Location(str(merge.output)), "1", "back"))

    planned(merge, "in", incremental=True).run(meanwhile, "job3", lambda *_: None)

    assert problems(merge, [1, 2, 3]) == []


def test_an_append_that_meets_an_earlier_attempt_of_its_step_adds_nothing_twice(merge: Merge) -> None:
    given(merge, "first", "n\n0\n")
    run(planned(merge, "first"), "first")
    merge.given("a.csv", "n\n1\n")

    def attempt() -> None:
        with within_step("demo:flow", "run", "load", "run/load"):
            run(planned(merge, "in"), "earlier")

    meanwhile = Meanwhile(attempt)
    with within_step("demo:flow", "run", "load", "run/load"):
        result = planned(merge, "in").run(meanwhile, "later", lambda *_: None)

    assert result.summary.startswith("Nothing to add: an earlier attempt at this step has added 1 file")
    assert problems(merge, [0, 1]) == []


def test_a_replay_that_meets_an_append_is_planned_again(merge: Merge) -> None:
    merge.given("a.csv", "n\n1\nx\ny\n")
    run(planned(merge, "in", schema="n bigint", most_bad_share=1.0), "first")
    mended = merge.root / "bad.csv"
    export_rejects(merge.rejects(), mended)
    mended.write_text(mended.read_text().replace('"x"', '"2"'))
    given(merge, "other", "n\n3\nz\n")
    meanwhile = Meanwhile(lambda: run(planned(merge, "other", schema="n bigint", most_bad_share=1.0), "other"))

    work = ReplayWork.plan(ReplayJob(Location(str(merge.output)), Location(str(mended))).to_job())
    work.run(meanwhile, "replay", lambda *_: None)

    assert problems(merge, [1, 2, 3]) == []
    assert sorted(each.raw.strip() for each in merge.rejects()) == ["y", "z"]


def test_an_append_that_others_always_overtake_gives_up_and_says_so(merge: Merge) -> None:
    given(merge, "first", "n\n1\n")
    run(planned(merge, "first"), "first")
    given(merge, "own", "n\n9\n")
    widths = iter(["2.5", "x", "y", "z"])

    def widen() -> None:
        value = next(widths)
        given(merge, f"other-{value}", f"n\n{value}\n")
        run(planned(merge, f"other-{value}"), f"other-{value[0]}")

    with pytest.raises(
        ChangedMeanwhile, match=r"Others were faster for 0 seconds \(commit_timeout\)\. Nothing of this"
    ):
        planned(merge, "own", commit_timeout=0.0).run(Meanwhile(widen), "own", lambda *_: None)

    assert merge.table()["n"].to_pylist() == [1.0, 2.5] and leftovers(merge) == []
