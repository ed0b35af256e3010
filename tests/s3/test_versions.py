"""The versions of a table on an object store: history, going back, and a vacuum that takes nothing away from others."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from mason.clients.s3 import objects
from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location
from mason.errors import Conflict
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.storage.address import open_objects
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.object_lease import Lease
from mason.pipeline.tables.object_versions import ObjectVersions
from mason.pipeline.tables.room import room_of
from mason.pipeline.tables.versions import VersionGone, list_versions, plan_vacuum, roll_back, vacuum
from mason.testing import Place
from tests.seaweed import Seaweed


class Table:
    """A table on the store with three versions: one row, three, and another one."""

    def __init__(self, place: Place, address: str) -> None:
        self._place, self.storage, self.path = place, address, place.below("out").path
        self.merge("id\n1\n")
        self.merge("id\n2\n3\n", Mode.APPEND)
        self.merge("id\n9\n")

    def merge(self, text: str, mode: Mode = Mode.REPLACE) -> None:
        self.planned(text, "in", mode).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    def planned(self, text: str, folder: str, mode: Mode) -> MergeWork:
        self._place.write(f"{folder}/a.csv", text.encode())
        source = self._place.below(folder).path
        return MergeWork.plan(
            MergeJob(
                Location(source, self.storage), Location(self.path, self.storage), MergeOptions(mode=mode)
            ).to_job()
        )

    def rows(self) -> list[int]:
        table = ReadyTable("t", plan_scan(Location(self.path, self.storage))).sql_table()
        rows = fetch_rows(InProcessRunner(), SqlQuery(statement="select id from t", tables=[table]))
        return sorted(rows["id"].to_pylist())

    def seen_by_others(self) -> int:
        return sum(name.startswith("out/part-") for name in self._place.contents())


@pytest.fixture
def table(seaweed: Seaweed, bucket: str) -> Table:
    storage = S3StorageClient(seaweed.configuration())
    return Table(Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}")), storage.address())


def test_a_table_goes_back_to_an_earlier_version_and_forward_again(table: Table) -> None:
    assert [each.commit.rows for each in list_versions(Location(table.path, table.storage))] == [1, 3, 1]

    roll_back(Location(table.path, table.storage), "2", "back")
    assert table.rows() == [1, 2, 3] and table.seen_by_others() == 2

    roll_back(Location(table.path, table.storage), "3", "forward")
    assert table.rows() == [9] and table.seen_by_others() == 1


def test_a_vacuum_removes_former_versions_and_says_first_what_goes(table: Table) -> None:
    plan = plan_vacuum(Location(table.path, table.storage), 0, 0)
    assert [each.commit.number for each in plan.versions] == [2, 1] and plan.bytes > 0
    assert all(each.folder for each in list_versions(Location(table.path, table.storage))), "a plan removes nothing"

    vacuum(plan)

    assert [bool(each.folder) for each in list_versions(Location(table.path, table.storage))] == [True, False, False]
    assert table.rows() == [9] and table.seen_by_others() == 1
    assert plan_vacuum(Location(table.path, table.storage), 0, 0).versions == []
    with pytest.raises(VersionGone):
        roll_back(Location(table.path, table.storage), "1", "back")


def test_a_vacuum_removes_what_a_dead_job_has_written(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    left = f"{room_of(table.path)}/data/dead/part-0.parquet"
    store = open_objects(table.storage)
    with Lease(store, f"{room_of(table.path)}/leases/dead.lease", "dead"):
        store.write_new(left, b"half")
    with pytest.raises(Conflict, match="A job is writing to"):  # it may be alive
        vacuum(plan_vacuum(Location(table.path, table.storage), 9, 9))
    assert store.read(left) is not None

    monkeypatch.setattr("mason.pipeline.tables.object_lease.EXPIRY_SECONDS", -1)
    monkeypatch.setattr("mason.pipeline.tables.object_versions.EXPIRY_SECONDS", -1)
    vacuum(plan_vacuum(Location(table.path, table.storage), 9, 9))

    assert store.read(left) is None
    assert table.rows() == [9]


def test_a_vacuum_leaves_what_a_version_that_stays_uses(table: Table) -> None:
    roll_back(Location(table.path, table.storage), "2", "back")

    removal = plan_vacuum(Location(table.path, table.storage), 0, 0)
    vacuum(removal)

    assert table.rows() == [1, 2, 3]
    kept = [each.commit.number for each in list_versions(Location(table.path, table.storage)) if each.folder]
    assert (kept, removal.staying, removal.in_use) == ([4, 2, 1], [], 2)


def test_appends_that_were_planned_at_once_are_all_in_the_table(table: Table) -> None:
    works = [table.planned(f"id\n{number}\n", f"in-{number}", Mode.APPEND) for number in (10, 11, 12)]

    for work in works:
        work.run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    assert table.rows() == [9, 10, 11, 12] and table.seen_by_others() == 4


def test_a_vacuum_gives_way_to_a_job_that_writes(table: Table) -> None:
    plan = plan_vacuum(Location(table.path, table.storage), 0, 0)
    with (
        open_table(Location(table.path, table.storage)).stage("other"),
        pytest.raises(Conflict, match="A job is writing to"),
    ):
        vacuum(plan)

    assert all(each.folder for each in list_versions(Location(table.path, table.storage)))


def test_going_back_gives_way_to_a_vacuum(table: Table) -> None:
    store = open_objects(table.storage)
    lease = Lease(store, f"{room_of(table.path)}/leases/vacuum-1.lease", "vacuum-1")
    with lease, pytest.raises(Conflict, match="are being removed"):
        roll_back(Location(table.path, table.storage), "1", "back")

    assert table.rows() == [9]


def test_a_vacuum_that_removed_a_file_after_the_plan_of_going_back_is_noticed(table: Table) -> None:
    """The deletion was faster than the version's commit: nothing is committed that has no files."""
    versions = ObjectVersions(open_objects(table.storage), table.path)
    newest, _, first = versions.history()
    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))

    with pytest.raises(Conflict, match="are being removed"):
        versions.restore(first, first.commit, "back", expected=newest.commit)


def test_a_vacuum_abandons_uploads_that_were_never_finished(
    table: Table, seaweed: Seaweed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the last day stay: their jobs may still be at it."""
    client = seaweed.client()
    bucket, _, key = table.path.partition("/")
    client.create_multipart_upload(Bucket=bucket, Key=f"{room_of(key)}/data/dead/part-1.parquet")

    def unfinished() -> int:
        return len(client.list_multipart_uploads(Bucket=bucket, Prefix=room_of(key)).get("Uploads", []))

    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))
    assert unfinished() == 1

    monkeypatch.setattr(objects, "_FORGOTTEN", timedelta(0))
    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))
    assert unfinished() == 0
