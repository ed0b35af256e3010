"""Objects below a table's prefix that Mason did not write: refused by name, adopted or kept, and never lost."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.s3.connection import S3Connection
from mason.clients.s3.objects import S3Objects
from mason.clients.s3.storage import S3StorageClient
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadPath
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.driving.job_types import plan_work
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.tables.commit import CommitRecord, CommittedFile, ForeignMeanwhile
from mason.pipeline.tables.foreign_files import ChangedFiles, Foreign, ForeignFiles
from mason.pipeline.tables.objects import TableObjects
from mason.pipeline.tables.room import room_of
from mason.pipeline.tables.versions import list_versions, plan_vacuum, roll_back, vacuum
from mason.pipeline.work.output_place import describe_kept_files
from mason.testing import Place
from tests.s3.test_commit import Killed, Mortal, check_tidy, outsiders, read, write
from tests.seaweed import Seaweed

THEIRS = pa.table({"id": [100, 101]})


def encoded(rows: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(rows, buffer)
    return buffer.getvalue()


class Table:
    """A table on the store with the rows 1 and 2."""

    def __init__(self, place: Place, address: str) -> None:
        self.place, self.storage, self.path = place, address, place.below("out").path
        place.write("in/a.csv", b"id\n1\n2\n")
        self.run()

    def job(self, mode: str = "replace", foreign: Foreign = Foreign.REFUSE, source: str = "") -> MergeJob:
        source = source or self.place.below("in").path
        return MergeJob(
            Location(source, self.storage),
            Location(self.path, self.storage),
            MergeOptions(mode=Mode(mode), foreign=foreign),
        )

    def plan(self, mode: str = "replace", foreign: Foreign = Foreign.REFUSE, source: str = "") -> MergeWork:
        return MergeWork.plan(self.job(mode, foreign, source).to_job())

    def run(self, mode: str = "replace", foreign: Foreign = Foreign.REFUSE, source: str = "") -> Any:
        return self.finish(self.plan(mode, foreign, source))

    def finish(self, work: MergeWork) -> Any:
        return work.run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    def put(self, name: str = "theirs.parquet", content: bytes | None = None) -> None:
        self.place.write(f"out/{name}", encoded(THEIRS) if content is None else content)

    def ids(self) -> list[int]:
        table = ReadyTable("t", plan_scan(Location(self.path, self.storage))).sql_table()
        rows = fetch_rows(InProcessRunner(), SqlQuery(statement="select id from t", tables=[table]))
        return sorted(rows["id"].to_pylist())

    def names(self, below: str = "out/") -> set[str]:
        return {name[4:] for name in self.place.contents() if name.startswith(below)}

    def own(self, name: str) -> str:
        """What Mason keeps of the table, by its path below the folder that the table lies in."""
        return f".mason/tables/out/{name}"

    def content_of_own(self, name: str) -> bytes:
        with self.place.filesystem.open_input_stream(f"{room_of(self.path)}/{name}") as stream:
            return bytes(stream.read())

    def content(self, name: str) -> bytes:
        with self.place.filesystem.open_input_stream(f"{self.path}/{name}") as stream:
            return bytes(stream.read())


@pytest.fixture
def table(seaweed: Seaweed, bucket: str) -> Table:
    storage = S3StorageClient(seaweed.configuration())
    return Table(Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}")), storage.address())


@pytest.fixture
def store(seaweed: Seaweed) -> S3Objects:
    return S3Objects(S3Connection.of(seaweed.configuration()).client())


@pytest.fixture
def path(bucket: str) -> str:
    return f"{bucket}/{uuid4().hex}/orders"


@pytest.mark.parametrize("mode", ["replace", "append"])
def test_a_merge_is_refused_while_data_of_others_lie_below_the_prefix(table: Table, mode: str) -> None:
    table.put("day=mon/theirs.parquet")
    table.put("part-00000", b"3\n")

    with pytest.raises(
        ForeignFiles, match=r"2 data files that Mason did not write: day=mon/theirs\.parquet, part-0000"
    ):
        table.plan(mode)

    assert table.ids() == [1, 2] and table.content("part-00000") == b"3\n"


def test_what_comes_after_the_plan_is_refused_when_it_is_committed(table: Table) -> None:
    for mode in ("replace", "append"):
        work = table.plan(mode)
        table.put()

        with pytest.raises(ForeignFiles):
            table.finish(work)

        table.place.filesystem.delete_file(f"{table.path}/theirs.parquet")
    assert table.ids() == [1, 2]


@pytest.mark.parametrize("mode", ["replace", "append"])
def test_other_files_stay_where_they_are_whatever_is_committed_and_removed(table: Table, mode: str) -> None:
    notes = {"_SUCCESS": b"", "notes.md": b"look", "README": b"read", "notes.txt": b"Dear all,\n", "_tmp/x.csv": b"1"}
    for name, content in notes.items():
        table.put(name, content)

    for _ in range(3):
        table.run(mode)
    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))

    assert {name: table.content(name) for name in notes} == notes
    assert len(table.ids()) == (2 if mode == "replace" else 8)
    assert not any("/kept/" in name for name in table.place.contents()), "nothing was moved away"


@pytest.mark.parametrize("mode", ["replace", "append", "in place"])
def test_data_of_others_stay_uncounted_with_a_warning_each_time(table: Table, mode: str) -> None:
    table.put()
    given = ("append" if mode == "append" else "replace", Foreign.KEEP, table.path if mode == "in place" else "")

    for _ in range(2):
        assert table.run(*given).rows_in == 2
        (warning,) = describe_kept_files(table.job(*given).to_job())
        assert warning.endswith("that Mason did not write stays there, uncounted: theirs.parquet.")

    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))
    assert table.ids() == ([1, 1, 1, 2, 2, 2] if mode == "append" else [1, 2])
    assert table.content("theirs.parquet") == encoded(THEIRS)


def test_data_in_a_prefix_that_is_no_table_yet_are_kept_or_adopted(store: S3Objects, table: Table) -> None:
    for foreign, rows in ((Foreign.KEEP, [1, 2]), (Foreign.ADOPT, [1, 2, 100, 101])):
        other = table.place.below(f"new-{foreign}").path
        table.place.write(f"new-{foreign}/theirs.parquet", encoded(THEIRS))
        options = MergeOptions(mode=Mode.APPEND, foreign=foreign)
        job = MergeJob(Location(table.place.below("in").path, table.storage), Location(other, table.storage), options)

        result = table.finish(MergeWork.plan(job.to_job()))

        assert result.commit.rows == len(rows)
        assert (store.read(f"{other}/theirs.parquet") is not None) is (foreign is Foreign.KEEP)


@pytest.mark.parametrize(
    ("mode", "rows"),
    [("replace", [1, 2, 100, 101]), ("append", [1, 1, 2, 2, 100, 101]), ("in place", [1, 2, 100, 101])],
)
def test_data_of_others_become_rows_of_the_commit_and_are_counted(table: Table, mode: str, rows: list[int]) -> None:
    table.put()
    given = ("append" if mode == "append" else "replace", Foreign.ADOPT, table.path if mode == "in place" else "")

    result = table.run(*given)

    assert (result.rows_in, result.to_dict()["Adopted"]) == (4, ["theirs.parquet"])
    assert table.ids() == rows
    assert "theirs.parquet" not in table.names(), "others would read its rows twice"
    vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))
    assert table.content_of_own(f"kept/{result.commit.id}/theirs.parquet.kept") == encoded(THEIRS)
    table.run()


def test_of_two_appends_at_once_one_adopts(table: Table) -> None:
    table.put()
    first, second = table.plan("append", Foreign.ADOPT), table.plan("append", Foreign.ADOPT)

    table.finish(first)
    table.finish(second)

    assert table.ids() == [1, 1, 1, 2, 2, 2, 100, 101]


@pytest.mark.parametrize("size", ["same", "other"])
def test_what_changes_while_its_rows_are_read_is_not_adopted(table: Table, size: str) -> None:
    table.put()
    work = table.plan("replace", Foreign.ADOPT)
    new = pa.table({"id": [200, 201] if size == "same" else [200]})

    class Meanwhile(InProcessRunner):
        def run(self, kernel: str, tasks: Any) -> Any:
            yield from super().run(kernel, tasks)
            table.put(content=encoded(new))

    with pytest.raises(ForeignMeanwhile, match=r"theirs\.parquet in .* came, changed or went"):
        work.run(Meanwhile(), uuid4().hex[:16], lambda *_: None)

    assert table.ids() == [1, 2] and table.content("theirs.parquet") == encoded(new)


def test_whoever_dies_at_any_change_what_is_adopted_is_there_once(store: S3Objects, path: str) -> None:
    write(store, path, [1])
    store.write(f"{path}/_SUCCESS", b"")
    for at in range(200):
        for after in (False, True):
            store.write(f"{path}/theirs.csv", b"7")
            stamp = stamp_in(store, f"{path}/theirs.csv")
            mortal = Mortal(store, at, after=after)
            try:
                adopt(mortal, path, {"theirs.csv": stamp})
            except Killed:
                pass
            else:
                assert at > 5
                return
            write(store, path, [1], table=TableObjects(store, path, Foreign.KEEP))  # finishes what was left
            history = list(TableObjects(store, path).history())
            committed = "adopted" in history[1].details
            kept = store.read(f"{room_of(path)}/kept/{history[1].id}/theirs.csv.kept")
            assert (store.read(f"{path}/theirs.csv") is None) is committed is (kept is not None)
            assert store.read(f"{path}/_SUCCESS") is not None
            assert read(store, path, history[0]) == [1]
            store.delete([f"{path}/theirs.csv"])
            assert outsiders(store, path) == [1]


def stamp_in(store: S3Objects, path: str) -> Any:
    from mason.pipeline.storage.file_stamp import stamp_of_tag

    found = store.find(path)
    assert found is not None
    return stamp_of_tag(found.size, found.tag)


def adopt(store: Any, path: str, adopted: Any) -> None:
    """Replace the table by one file with what is adopted."""
    job = uuid4().hex[:12]
    table = TableObjects(store, path, Foreign.ADOPT)
    expected = table.current()
    with table.stage(job) as staging:
        name = f"year=2026/part-{job}-7.parquet"
        store.write(f"{staging}/{name}", b"7")
        store.write(f"{staging}/.mason/quarantine/{job}-0.rejects", b"{}\n")
        record = CommitRecord(job, 0, None, job, [CommittedFile(name, 1, 1)], 1, 1, "")
        table.publish(staging, record, expected=expected, adopted=adopted)


def test_what_somebody_writes_at_the_name_before_it_was_moved_aside_stays(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, path, [1])
    store.write(f"{path}/theirs.csv", b"7")
    with monkeypatch.context() as patch:
        patch.setattr(TableObjects, "_show", lambda _: None)
        adopt(store, path, {"theirs.csv": stamp_in(store, f"{path}/theirs.csv")})
    assert TableObjects(store, path).strangers().data == [], "it is on its way out"
    store.write(f"{path}/theirs.csv", b"another")

    TableObjects(store, path).sweep()

    assert TableObjects(store, path).strangers().data == ["theirs.csv"]
    assert store.read(f"{path}/theirs.csv") is not None


def test_copies_of_a_former_version_that_a_dead_process_left_are_nobody_elses(store: S3Objects, path: str) -> None:
    old = write(store, path, [1, 2])
    write(store, path, [3])
    write(store, path, [4])
    for each in old.files:
        store.write(f"{path}/{each.path}", str(each.rows).encode())

    write(store, path, [5])

    check_tidy(store, path)
    assert outsiders(store, path) == read(store, path, TableObjects(store, path).current()) == [5]


def test_the_history_is_not_read_again_for_files_that_are_known(
    store: S3Objects, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, path, [1])
    store.write(f"{path}/notes.md", b"look")
    for row in range(4):
        write(store, path, [row])
    reads: list[str] = []
    real = S3Objects.read

    def noted(self: S3Objects, place: str) -> Any:
        reads.append(place)
        return real(self, place)

    monkeypatch.setattr(S3Objects, "read", noted)
    write(store, path, [9])

    assert not [each for each in reads if each.endswith(("00000001.json", "00000002.json"))]


def test_what_was_committed_to_a_table_of_an_explode_is_nobody_elses(table: Table) -> None:
    table.place.write("nested/a.jsonl", b'{"id": 1, "tags": ["x", "y"]}\n{"id": 1, "tags": ["x"]}\n')
    flat = table.place.below("flat").path
    explode = ExplodeJob(
        path=Location(table.place.below("nested").path, table.storage), name="t", output=Location(flat, table.storage)
    ).to_job()
    child = f"{flat}/t_tags"
    for job in (
        explode,
        DedupeJob(
            path=Location(child, table.storage),
            output=Location(child, table.storage),
            options=DedupeOptions(keys=["value"]),
        ).to_job(),
    ):
        plan_work(job).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)
    assert plan_scan(Location(child, table.storage)).rows == 2
    append = MergeJob(
        Location(table.place.below("nested").path, table.storage),
        Location(child, table.storage),
        MergeOptions(mode=Mode.APPEND),
    ).to_job()
    plan_work(explode).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

    assert plan_scan(Location(child, table.storage)).rows == 3
    for _ in range(2):
        plan_work(append).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)
    found = ReadyTable("t", plan_scan(Location(child, table.storage))).sql_table()
    rows = fetch_rows(InProcessRunner(), SqlQuery(statement="select count(*) n from t", tables=[found]))
    assert rows["n"].to_pylist() == [7], "what is added to stays where it lies"


class TestDamage:
    @pytest.fixture
    def changed(self, table: Table) -> str:
        (name,) = table.names()
        table.put(name)
        return name

    @pytest.mark.parametrize("mode", ["replace", "append", "in place"])
    def test_nothing_is_committed_over_what_others_have_written_over(
        self, table: Table, changed: str, mode: str
    ) -> None:
        source = table.path if mode == "in place" else ""
        for foreign in Foreign:
            with pytest.raises(ChangedFiles, match=rf"over 1 file of the table: {changed} \("):
                table.run("append" if mode == "append" else "replace", foreign, source)

        assert table.content(changed) == encoded(THEIRS)

    def test_one_can_go_back_and_what_others_wrote_is_kept(self, table: Table) -> None:
        (first,) = table.names()
        table.run("append")
        (second,) = table.names() - {first}
        for name in (first, second):
            table.put(name)

        back = roll_back(Location(table.path, table.storage), "1", "back")

        assert table.ids() == [1, 2] and table.names() == {first} and table.content(first) != encoded(THEIRS)
        for name in (first, second):
            assert table.content_of_own(f"kept/{back.id}/{name}.kept") == encoded(THEIRS)


class TestVersions:
    def test_a_rollback_is_refused_or_leaves_them(self, table: Table) -> None:
        table.run("append")
        table.put()

        with pytest.raises(ForeignFiles):
            roll_back(Location(table.path, table.storage), "1", "back")
        roll_back(Location(table.path, table.storage), "1", "again", Foreign.KEEP)

        assert table.ids() == [1, 2] and table.content("theirs.parquet") == encoded(THEIRS)

    def test_a_vacuum_deletes_nothing_that_no_commit_lists(self, table: Table) -> None:
        table.run()
        former = list_versions(Location(table.path, table.storage))[1].commit.id
        table.place.write(
            table.own(f"data/{former}/inserted.parquet"), encoded(THEIRS)
        )  # by way of a catalog that showed that version

        told = vacuum(plan_vacuum(Location(table.path, table.storage), 0, 0))

        assert told == [f"{room_of(table.path)}/data/{former}"]
        left = {name for name in table.place.contents() if f"/data/{former}/" in name}
        assert left == {table.own(f"data/{former}/inserted.parquet")}
        assert [bool(each.folder) for each in list_versions(Location(table.path, table.storage))] == [True, False]

    @pytest.mark.parametrize("foreign", [Foreign.KEEP, Foreign.ADOPT])
    def test_what_was_inserted_by_way_of_a_catalog_is_found_in_the_folder_of_the_version(
        self, table: Table, foreign: Foreign
    ) -> None:
        newest = list_versions(Location(table.path, table.storage))[0].commit.id
        inserted = table.own(f"data/{newest}/inserted.parquet")
        table.place.write(inserted, encoded(THEIRS))
        late = table.own(f"data/{newest}/part-{newest}-00009-late.parquet")  # of a task that outlived its job
        table.place.write(late, encoded(THEIRS))

        with pytest.raises(ForeignFiles, match=rf"1 data file that Mason did not write: {inserted}\."):
            table.run()
        table.run("append", foreign)
        table.run("append", foreign)

        adopted = [100, 101] if foreign is Foreign.ADOPT else []
        assert table.ids() == [1, 1, 1, 2, 2, 2, *adopted]
        assert table.content_of_own(f"data/{newest}/inserted.parquet") == encoded(THEIRS)
        told = list(describe_kept_files(table.job("append", foreign).to_job()))
        assert len(told) == (foreign is Foreign.KEEP)


class TestEveryOperator:
    @pytest.fixture(params=["dedupe", "query", "format"])
    def plan(self, request: pytest.FixtureRequest, table: Table) -> Callable[[Foreign], Any]:
        out, source, storage = table.path, table.place.below("in").path, table.storage
        jobs: dict[str, Callable[[Foreign], Any]] = {
            "dedupe": lambda foreign: DedupeJob(
                path=Location(out, storage), output=Location(out, storage), foreign=foreign
            ),
            "query": lambda foreign: QueryJob(
                statement="select * from t",
                database="d",
                tables={"t": TableRef("t", Location(source, storage))},
                output=Location(out, storage),
                foreign=foreign,
            ),
            "format": lambda foreign: FormatJob(
                Location(source, storage), Location(out, storage), FormatOptions(format="csv"), foreign
            ),
        }
        return lambda foreign: plan_work(jobs[request.param](foreign).to_job())

    def test_an_explode_is_refused_where_a_table_is(self, table: Table) -> None:
        source, out = (Location(path, table.storage) for path in (table.place.below("in").path, table.path))

        with pytest.raises(BadPath, match="is a table already"):
            plan_work(ExplodeJob(path=source, name="t", output=out).to_job())

    def test_it_refuses_or_keeps(self, table: Table, plan: Callable[[Foreign], Any]) -> None:
        table.put()
        with pytest.raises(ForeignFiles, match=r"theirs\.parquet"):
            plan(Foreign.REFUSE)

        plan(Foreign.KEEP).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

        assert table.content("theirs.parquet") == encoded(THEIRS)
        assert [each.commit.number for each in list_versions(Location(table.path, table.storage))] == [2, 1]
