"""Appends at once on a store: each is in the table at the end, once, from one process or several."""

from __future__ import annotations

from uuid import uuid4

import pytest

from mason.clients.s3.storage import S3StorageClient
from mason.pipeline.in_process import InProcessRunner
from mason.pipeline.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.merge.work import MergeWork
from mason.pipeline.scan import plan_scan
from mason.pipeline.sql.inputs import ReadyTable
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.table_commit import open_table
from mason.testing import Place
from tests.merge.test_appends import AT_ONCE, at_once
from tests.seaweed import Seaweed

pytestmark = pytest.mark.timeout(400)


class Table:
    """A table on the store, and the numbers that are appended to it, each from a folder of its own."""

    def __init__(self, place: Place, storage: str) -> None:
        self._place, self.storage, self.path = place, storage, place.below("out").path

    def given(self, number: int, text: str = "") -> None:
        self._place.write(f"in-{number}/a.csv", (text or f"n\n{number}\n").encode())

    def planned(self, number: int, mode: Mode = Mode.APPEND, **options: object) -> MergeWork:
        settings = MergeOptions(mode=mode, **options)  # type: ignore[arg-type]
        source = self._place.below(f"in-{number}").path
        return MergeWork.plan(MergeJob(source, self.path, self.storage, settings).to_job())

    def run(self, number: int, mode: Mode = Mode.APPEND, **options: object) -> None:
        self.planned(number, mode, **options).run(InProcessRunner(), f"job{number}", lambda *_: None)

    def numbers(self) -> list[int]:
        table = ReadyTable("t", plan_scan(self.storage, self.path)).sql_table()
        rows = fetch_rows(InProcessRunner(), SqlQuery("select n from t", [table], self.storage))
        return sorted(rows["n"].to_pylist())

    def versions(self) -> list[int]:
        return [each.number for each in open_table(self.storage, self.path).history()]

    def check_settled(self) -> None:
        """Others see what Mason sees, and nothing is left of those that lost."""
        current = open_table(self.storage, self.path).current()
        assert current is not None
        names = self._place.contents()
        assert {name for name in names if name.startswith("out/part-")} == {
            f"out/{each.path}" for each in current.files
        }
        assert [name for name in names if name.startswith(("out/_mason/leases/", "out/_mason/kept/"))] == []


@pytest.fixture
def table(seaweed: Seaweed, bucket: str) -> Table:
    storage = S3StorageClient(seaweed.configuration())
    return Table(Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}")), storage.address())


def test_sixty_appends_at_once_are_all_in_the_table(table: Table) -> None:
    for number in range(AT_ONCE):
        table.given(number)

    failed = at_once([lambda n=n: table.run(n) for n in range(AT_ONCE)])

    assert failed == [], "\n".join(failed)
    assert table.numbers() == list(range(AT_ONCE))
    assert table.versions() == list(range(AT_ONCE, 0, -1))
    table.check_settled()
