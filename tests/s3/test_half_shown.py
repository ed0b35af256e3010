"""A table on an object store while copies of two versions are below its prefix: Mason goes by the commit."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from mason.clients.response import Response
from mason.clients.s3.metastore import S3MetastoreClient
from mason.clients.s3.objects import S3Objects
from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import ClientFailed, NoData
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.work import ExplodeWork
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.plan import plan_merge
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.tables.commit import CommitRecord, open_table
from mason.pipeline.tables.files import find_files
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.tables.rejects import read_quarantine
from mason.testing import Place
from tests.seaweed import Seaweed


@dataclass
class HalfShown:
    """A table whose former version, of monday, was replaced by one of tuesday; copies of both are there."""

    place: Place
    storage: S3StorageClient
    metastore: S3MetastoreClient

    @property
    def path(self) -> str:
        return self.place.below("out").path

    @property
    def database(self) -> str:
        return self.place.path.path

    def merge(self, text: str) -> None:
        self.place.write("in/a.csv", text.encode())
        given = {"schema": "id bigint", "repartition_keys": ["day"], "most_bad_share": 1.0}
        job = MergeJob(
            Location(f"{self.database}/in", self.storage.address()),
            Location(self.path, self.storage.address()),
            MergeOptions(**given),
        )
        MergeWork.plan(job.to_job()).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    def folders(self) -> set[str]:
        return {name.split("/")[1] for name in self.place.contents() if name.startswith("out/day=")}


@pytest.fixture
def table(seaweed: Seaweed, bucket: str, monkeypatch: pytest.MonkeyPatch) -> HalfShown:
    storage = S3StorageClient(seaweed.configuration())
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    table = HalfShown(place, storage, S3MetastoreClient(seaweed.configuration()))
    table.merge("day,id,note\nmon,1,a\nmon,x,bad\n")
    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, "delete", refuse)
        table.merge("day,id,more\ntue,2,7\ntue,y,8\n")
    assert table.folders() == {"day=mon", "day=tue"}
    return table


def refuse(*_: object) -> None:
    raise ClientFailed("The store is gone.")


def test_its_schema_is_that_of_one_version(table: HalfShown) -> None:
    found, response = table.metastore.get_table(table.database, "out", response=Response())
    assert [each.name for each in found.schema.columns] == ["id", "more", "day"]
    assert response.info == ("Looked at 1 file, which is everything.",)

    inferred, _ = table.storage.infer_table(
        table.storage.path(table.path), table.database, "t", InferOptions(), response=Response()
    )
    assert [each.name for each in inferred.schema.columns] == ["id", "more", "day"]
    assert [each.path for each in inferred.partitions or ()] == [f"s3://{table.path}/day=tue"]


def test_its_partitions_are_those_of_one_version(table: HalfShown) -> None:
    found, _ = table.metastore.list_partitions(table.database, "out", response=Response())

    assert [each.path for each in found] == [f"s3://{table.path}/day=tue"]


def test_its_quarantine_is_that_of_one_version(table: HalfShown) -> None:
    found = read_quarantine(Location(table.path, table.storage.address()))

    assert [each.raw for each in found] == ["tue,y,8"]


def test_a_version_without_rows_is_not_taken_for_the_former_one(
    table: HalfShown, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, store = table.storage.address(), open_table(Location(table.path, table.storage.address()))
    current = store.current()
    assert current is not None
    with monkeypatch.context() as patch, store.stage("empty") as staging:
        patch.setattr(S3Objects, "delete", refuse)
        record = CommitRecord("empty", 0, None, "empty", [], 0, 0, current.schema, partition_keys=["day"])
        store.publish(staging, record, expected=current)

    assert find_files(table.storage.filesystem(), Location(table.path, address)) == []
    with pytest.raises(NoData):
        plan_merge(MergeJob(Location(table.path, address), Location(f"{table.database}/other", address)))
    found, _ = table.metastore.get_table(table.database, "out", response=Response())
    assert {each.name for each in found.schema.columns} == {"day", "id", "more"}


def test_who_shows_a_version_that_is_replaced_meanwhile_leaves_nothing_of_it(
    table: HalfShown, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.merge("day,id\ntue,2\n")
    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, "copy", refuse)
        table.merge("day,id\nwed,3\n")
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -1)
    monkeypatch.setattr("mason.pipeline.tables.objects.TURN_SECONDS", 0)  # as if the other were in another process
    plain, overtaken = S3Objects.copy, threading.Lock()

    def be_overtaken(objects: S3Objects, source: str, target: str) -> None:
        if overtaken.acquire(blocking=False):
            table.merge("day,id\nthu,4\n")
        plain(objects, source, target)

    monkeypatch.setattr(S3Objects, "copy", be_overtaken)
    reader = open_table(Location(table.path, table.storage.address()))
    assert isinstance(reader, TableObjects)
    reader.settle()

    assert table.folders() == {"day=thu"}


@pytest.mark.parametrize("change", ["copy", "delete"])
def test_a_table_of_exploded_lists_is_whole_before_every_change_that_shows_the_next_version(
    seaweed: Seaweed, bucket: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    storage = S3StorageClient(seaweed.configuration())
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    lists = _Lists(place, storage)
    lists.explode("a", "b")
    assert lists.read() == ["a", "b"]
    seen: list[list[str]] = []
    plain = getattr(S3Objects, change)

    def look_and_change(objects: S3Objects, *arguments: Any) -> Any:
        wanted = arguments if change == "copy" else (list(arguments[0]),)
        # One after the other, and each alone, as a process that dies would do a part of them.
        for part in [wanted] if change == "copy" else [([name],) for name in wanted[0]]:
            with lists.alone:
                plain(objects, *part)
                seen.append(lists.read())

    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, change, look_and_change)
        lists.explode("c")

    assert len(seen) >= 4
    assert [each for each in seen if each not in (["a", "b"], ["c"])] == []
    assert lists.read() == ["c"]


@dataclass
class _Lists:
    """Records with lists, exploded into tables below one output, and a reader of the lists' table."""

    place: Place
    storage: S3StorageClient
    alone: threading.Lock = field(default_factory=threading.Lock)

    def explode(self, *tags: str) -> None:
        self.place.write("in.jsonl", json.dumps({"id": 1, "tags": tags}).encode())
        source, output = self.place.below("in.jsonl").path, self.place.below("out").path
        job = ExplodeJob(
            path=Location(source, self.storage.address()),
            name="orders",
            output=Location(output, self.storage.address()),
        )
        ExplodeWork.plan(job.to_job()).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    def read(self) -> list[str]:
        filesystem, path = self.storage.filesystem(), self.place.below("out/orders_tags").path
        files = find_files(filesystem, Location(path, self.storage.address()))
        try:
            tables = [pq.ParquetFile(each.path, filesystem=filesystem).read() for each in files]
        except OSError as error:
            return [f"not whole: {error}"]
        return [row["value"] for table in tables for row in table.to_pylist()]
