"""Files in a table's folder that Mason did not write: refused by name, adopted or kept, and never lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mason.pipeline.tables.folder as table_folder
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location, TableRef
from mason.errors import UnreadableFile
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.driving.job_types import plan_work
from mason.pipeline.jobs.dedupe.job import DedupeJob
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.run import run_merge
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.reading.inference import infer_stored
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.tables.commit import ChangedMeanwhile
from mason.pipeline.tables.files import find_files
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.foreign_files import ChangedFiles, Foreign, ForeignFiles, MissingFiles, describe_going_back
from mason.pipeline.tables.versions import list_versions, plan_vacuum, roll_back, vacuum
from mason.pipeline.work.base import Work
from mason.pipeline.work.output_place import describe_kept_files
from tests.conftest import PROJECT
from tests.merge.conftest import LOCAL, Merge

THEIRS = pa.table({"id": [100, 101]})


@pytest.fixture
def table(merge: Merge) -> Merge:
    """A table with the rows 1 and 2."""
    merge.given("a.csv", "id\n1\n2\n")
    merge.run()
    return merge


def put(merge: Merge, name: str = "theirs.parquet", rows: pa.Table = THEIRS) -> Path:
    """Have somebody else write a file into the table's folder."""
    file = merge.output / name
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, file)
    return file


def ids(merge: Merge) -> list[int]:
    return sorted(merge.table()["id"].to_pylist())


def seen_by_others(merge: Merge) -> set[str]:
    """What is below the folder."""
    return {str(file.relative_to(merge.output)) for file in merge.output.rglob("*") if file.is_file()}


def kept(merge: Merge, pattern: str = "*") -> list[Path]:
    """What is kept of former versions, in the folder of each."""
    return list(merge.room.glob(f"kept/{pattern}"))


class TestRefusal:
    @pytest.mark.parametrize("mode", ["replace", "append"])
    def test_a_merge_is_refused_while_data_of_others_lie_in_the_output(self, table: Merge, mode: str) -> None:
        for number in range(5):
            put(table, f"theirs-{number}.parquet")

        with pytest.raises(ForeignFiles) as refused:
            table.run(mode=mode)

        assert str(refused.value).startswith(
            f"{table.output} holds 5 data files that Mason did not write: "
            "theirs-0.parquet, theirs-1.parquet, theirs-2.parquet and 2 more. "
        )
        assert "foreign:keep" in str(refused.value) and "foreign:adopt" in str(refused.value)
        assert refused.value.status == 409
        assert ids(table) == [1, 2] and len(seen_by_others(table)) == 6

    def test_a_merge_with_itself_is_refused_too(self, table: Merge) -> None:
        put(table)

        with pytest.raises(ForeignFiles, match=r"1 data file that Mason did not write: theirs\.parquet\."):
            table.plan(table.output)

        assert ids(table) == [1, 2]

    def test_data_in_a_partition_are_named_with_their_folder(self, merge: Merge) -> None:
        merge.given("a.csv", "id,day\n1,mon\n")
        merge.run(repartition_keys=("day",))
        put(merge, "day=mon/theirs.parquet")
        put(merge, "day=tue/theirs.parquet")

        for mode in ("append", "replace", "replace_partitions"):
            with pytest.raises(ForeignFiles, match=r"day=mon/theirs\.parquet, day=tue/theirs\.parquet\."):
                merge.run(mode=mode)

    def test_an_incremental_merge_is_refused_although_it_finds_nothing_new(self, merge: Merge) -> None:
        merge.given("a.csv", "id\n1\n")
        merge.run(incremental=True)
        put(merge)

        with pytest.raises(ForeignFiles):
            merge.run(incremental=True)

    def test_what_comes_after_the_plan_is_refused_when_it_is_committed(self, table: Merge) -> None:
        for mode in ("replace", "append"):
            plan = table.plan(mode=mode)
            file = put(table)

            with pytest.raises(ForeignFiles):
                table.run_plan(plan)

            assert ids(table) == [1, 2] and pq.read_table(file).num_rows == 2
            file.unlink()
        assert not table.left_behind(), "nothing is left of the job"

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("x.csv", b"id\n3\n"),
            ("x.JSONL", b"{}"),
            ("x.csv.gz", b""),
            ("x.csv.xz", b""),
            ("x.zip", b"PK"),
            ("part-00000", b"3\n"),
            ("000000_0", b"3\n"),
            ("orders", b"PAR1"),
            ("table.txt", b"id,name\n1,x\n2,y\n"),
            ("table.txt", b'id,name\n1,"Smith, Ann"\n2,"Dee, Bob"\n'),
            ("table.txt", "id;name\n1;x\n2;y\n".encode("utf-16")),
            ("table.txt", "id\tname\n1\tx\n2\ty\n".encode("utf-16-le")),
            ("table.txt", b"Report of May\n\nid,name\n1,x\n2,y\n"),
            ("table.txt", b"id|note\r1|x\r2|y\r"),
            ("table.txt", b'id,note\n1,"two\nlines"\n' + b"2,x\n" * 2000),
            ("table.txt", b'{"id": 1}\n{"id": 2}\n'),
            ("table.txt", b"PAR1"),
            ("deep/in/it/x.orc", b"ORC"),
        ],
    )
    def test_this_is_data(self, table: Merge, name: str, content: bytes) -> None:
        file = table.output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

        with pytest.raises(ForeignFiles, match=name):
            table.run()

    def test_a_name_that_is_not_utf_8_is_told(self, table: Merge) -> None:
        (Path(os.fsdecode(os.fsencode(table.output) + b"/th\xe9irs.csv"))).write_text("id\n1\n")

        with pytest.raises(ForeignFiles, match=r"th\\xe9irs\.csv"):
            table.run()


class TestEmptyFiles:
    @pytest.mark.parametrize("name", ["x.csv", "x.parquet", "part-00000"])
    def test_an_empty_file_is_adopted_though_there_is_nothing_new(self, merge: Merge, name: str) -> None:
        merge.given("a.csv", "id\n1\n2\n")
        merge.run(mode="append", incremental=True)
        (merge.output / name).write_bytes(b"")

        merge.run(mode="append", incremental=True, foreign=Foreign.ADOPT)

        assert not (merge.output / name).exists() and ids(merge) == [1, 2]
        merge.run(mode="append", incremental=True)


class TestOtherFiles:
    NOTES = {
        "_SUCCESS": "",
        "notes.md": "look",
        "README": "read me",
        "notes.txt": "Dear all, this is\nthe table of orders.\n",
        "letter.txt": 'Hello\nthe "orders" are here.\n\nPlease see the page, and ask.\nYours, Ann\nParis, May\n',
        "empty.txt": "",
        ".hidden/x.csv": "id\n1\n",
        "_temporary/0/part-0.parquet": "",
        "docs/deep/why.html": "<p>",
    }

    @pytest.mark.parametrize("mode", ["replace", "append"])
    def test_they_are_carried_along_and_no_vacuum_deletes_them(self, table: Merge, mode: str) -> None:
        for name, content in self.NOTES.items():
            file = table.output / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)

        for _ in range(3):
            table.run(mode=mode)
        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))

        assert {name: (table.output / name).read_text() for name in self.NOTES} == self.NOTES
        assert len(ids(table)) == (2 if mode == "replace" else 8)
        assert not kept(table), "they are there once"

    def test_links_and_empty_folders_are_carried_along_as_they_are(self, table: Merge) -> None:
        (table.output / "soon").mkdir()
        (table.output / "gone").symlink_to("nowhere")
        (table.output / "up").symlink_to("../in")
        os.mkfifo(table.output / "pipe")

        table.run()

        assert (table.output / "soon").is_dir()
        assert (table.output / "gone").readlink() == Path("nowhere")
        assert [each.name for each in (table.output / "up").iterdir()] == ["a.csv"]
        assert (table.output / "pipe").is_fifo()

    def test_one_who_has_such_a_file_open_goes_on_writing_to_it(self, table: Merge) -> None:
        with open(table.output / "notes.md", "w") as stream:
            stream.write("before")
            stream.flush()
            table.run()
            stream.write(" and after")

        assert (table.output / "notes.md").read_text() == "before and after"

    def test_a_file_of_somebody_else_that_cannot_be_linked_is_moved(
        self, table: Merge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (table.output / "notes.md").write_text("theirs")
        link = os.link

        def refuse(source: Path, target: Path, **options: bool) -> None:
            if Path(source).name == "notes.md":  # as Linux does with fs.protected_hardlinks
                raise PermissionError(1, "Operation not permitted")
            link(source, target, **options)

        monkeypatch.setattr(os, "link", refuse)
        table.run()

        assert (table.output / "notes.md").read_text() == "theirs"


class TestKeep:
    @pytest.mark.parametrize("mode", ["replace", "append", "in place"])
    def test_data_of_others_stay_uncounted_with_a_warning_each_time(self, table: Merge, mode: str) -> None:
        file = put(table, "deep/theirs.parquet")
        node = file.stat().st_ino
        inputs = table.output if mode == "in place" else table.root / "in"
        options = MergeOptions(foreign=Foreign.KEEP, mode=Mode.APPEND if mode == "append" else Mode.REPLACE)

        for number in range(2):
            job = MergeJob(Location(str(inputs)), Location(str(table.output)), options=options).to_job()
            work = MergeWork.plan(job)
            result = work.run(InProcessRunner(), f"keep{number}", lambda *_: None)

            assert result.rows_in == 2
            assert list(describe_kept_files(job)) == [
                f"1 data file in {table.output} that Mason did not write stays there, uncounted: deep/theirs.parquet."
            ]

        assert ids(table) == ([1, 1, 1, 2, 2, 2] if mode == "append" else [1, 2])
        assert file.stat().st_ino == node and pq.read_table(file)["id"].to_pylist() == [100, 101]
        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))
        assert pq.read_table(file)["id"].to_pylist() == [100, 101]

    def test_a_folder_that_is_no_table_yet_becomes_one_beside_them(self, merge: Merge) -> None:
        merge.given("a.csv", "id\n1\n")
        put(merge)

        merge.run(foreign=Foreign.KEEP, mode="append")

        assert ids(merge) == [1] and "theirs.parquet" in seen_by_others(merge)
        assert not kept(merge, "*/*")

    def test_a_file_that_comes_while_it_runs_stays(self, table: Merge) -> None:
        plan = table.plan(foreign=Foreign.KEEP)
        put(table)

        table.run_plan(plan)

        assert ids(table) == [1, 2] and "theirs.parquet" in seen_by_others(table)


class TestAdopt:
    @pytest.mark.parametrize(("mode", "rows"), [("replace", [1, 2, 100, 101]), ("append", [1, 1, 2, 2, 100, 101])])
    def test_data_of_others_become_rows_of_the_commit_and_are_counted(
        self, table: Merge, mode: str, rows: list[int]
    ) -> None:
        put(table)

        plan = table.plan(mode=mode, foreign=Foreign.ADOPT)
        result = table.run_plan(plan)

        assert "theirs.parquet: Mason did not write it; its rows become rows of the table." in plan.warnings
        assert plan.to_dict()["Adopted"] == result.to_dict()["Adopted"] == ["theirs.parquet"]
        assert (result.rows_in, result.rows_out) == (4, 4)
        assert ids(table) == rows
        assert "theirs.parquet" not in seen_by_others(table), "others would read its rows twice"
        table.run(mode=mode)

    def test_an_archive_is_not_adopted_and_the_way_out_is_told(self, table: Merge) -> None:
        (table.output / "theirs.zip").write_bytes(b"PK")

        with pytest.raises(UnreadableFile, match=r"theirs\.zip: an archive cannot be adopted\. Move it out"):
            table.plan(foreign=Foreign.ADOPT)

    def test_a_table_that_is_merged_with_itself_has_them_then(self, table: Merge) -> None:
        put(table)

        table.run_plan(table.plan(table.output, foreign=Foreign.ADOPT))

        assert ids(table) == [1, 2, 100, 101]

    def test_the_file_itself_is_kept_and_no_vacuum_deletes_it(self, table: Merge) -> None:
        put(table)
        table.run(mode="append", foreign=Foreign.ADOPT)

        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))

        (aside,) = kept(table, "*/theirs.parquet.kept")
        assert pq.read_table(aside)["id"].to_pylist() == [100, 101]
        assert [bool(each.folder) for each in list_versions(Location(str(table.output)))] == [True, False]
        table.run()
        assert kept(table, "*/theirs.parquet.kept") == [aside]

    def test_partitions_come_from_their_folders(self, merge: Merge) -> None:
        merge.given("a.csv", "id,day\n1,mon\n")
        merge.run(repartition_keys=("day",))
        put(merge, "day=tue/theirs.parquet")

        merge.run(mode="append", foreign=Foreign.ADOPT)

        assert sorted((row["id"], row["day"]) for row in merge.table().to_pylist()) == [
            (1, "mon"),
            (1, "mon"),
            (100, "tue"),
            (101, "tue"),
        ]

    def test_partitions_are_not_replaced_by_what_is_adopted(self, merge: Merge) -> None:
        merge.given("a.csv", "id,day\n1,mon\n")
        merge.run(repartition_keys=("day",))

        with pytest.raises(PlanRefused, match="would replace those that the table has in their partitions"):
            merge.run(mode="replace_partitions", foreign=Foreign.ADOPT)

    def test_an_incremental_merge_that_finds_nothing_new_adopts_all_the_same(self, merge: Merge) -> None:
        merge.given("a.csv", "id\n1\n")
        for _ in range(2):
            merge.run(incremental=True, foreign=Foreign.ADOPT)
            put(merge)

        assert merge.run(incremental=True, foreign=Foreign.ADOPT).rows_in == 2
        assert ids(merge) == [1, 100, 100, 101, 101], "a new file may have the name of one that was adopted before"

    def test_one_that_is_called_as_an_input_is_another_file(self, table: Merge) -> None:
        (table.output / "a.csv").write_text("id\nx\n100\n")

        table.run(mode="append", foreign=Foreign.ADOPT, schema="id bigint", most_bad_share=1.0)

        assert ids(table) == [1, 1, 2, 2, 100]
        assert [(each.file, each.raw) for each in table.rejects()] == [("out/a.csv", "x")]

    def test_data_in_a_folder_that_is_no_table_yet_are_adopted(self, merge: Merge) -> None:
        merge.given("a.csv", "id\n1\n")
        put(merge)

        merge.run(mode="append", foreign=Foreign.ADOPT)

        assert ids(merge) == [1, 100, 101] and "theirs.parquet" not in seen_by_others(merge)

    @pytest.mark.parametrize("what", ["changed", "removed", "another"])
    def test_what_changes_while_its_rows_are_read_makes_the_merge_fail(self, table: Merge, what: str) -> None:
        file = put(table)
        plan = table.plan(foreign=Foreign.ADOPT)

        class Meanwhile(InProcessRunner):
            def run(self, kernel: str, tasks: object) -> Iterator[tuple[int, bytes]]:  # type: ignore[override]
                yield from super().run(kernel, tasks)  # type: ignore[arg-type]
                {"changed": lambda: put(table), "removed": file.unlink, "another": lambda: put(table, "b.csv")}[what]()

        with pytest.raises(ChangedMeanwhile, match="came, changed or went while its rows were read"):
            run_merge(plan, Meanwhile(), "late", lambda *_: None)

        assert ids(table) == [1, 2]

    def test_of_two_appends_at_once_one_adopts(self, table: Merge) -> None:
        put(table)
        job = MergeJob(
            Location(str(table.root / "in")),
            Location(str(table.output)),
            options=MergeOptions(mode=Mode.APPEND, foreign=Foreign.ADOPT),
        ).to_job()
        first, second = MergeWork.plan(job), MergeWork.plan(job)

        first.run(InProcessRunner(), "first", lambda *_: None)
        second.run(InProcessRunner(), "second", lambda *_: None)

        assert ids(table) == [1, 1, 1, 2, 2, 2, 100, 101]


class TestMoments:
    """A stranger writes, or a process is killed, while the folders are exchanged."""

    @pytest.mark.parametrize("mode", ["replace", "append"])
    def test_a_file_that_comes_at_the_moment_of_the_exchange_is_in_the_table(
        self, table: Merge, monkeypatch: pytest.MonkeyPatch, mode: str
    ) -> None:
        (table.output / "notes.md").write_text("old")
        exchange = table_folder.exchange_folders

        def write_first(one: Path, other: Path) -> None:
            put(table, "deep/theirs.parquet")
            (table.output / "new.md").write_text("new")
            (table.output / "empty").mkdir()
            (table.output / "notes.md").unlink()
            (table.output / "notes.md").write_text("newer")
            exchange(one, other)

        with monkeypatch.context() as patch:
            patch.setattr(table_folder, "exchange_folders", write_first)
            table.run(mode=mode)

        assert seen_by_others(table) >= {"deep/theirs.parquet", "new.md", "notes.md"}
        assert (table.output / "notes.md").read_text() == "newer" and (table.output / "empty").is_dir()
        assert not kept(table, "*/*.md*")
        with pytest.raises(ForeignFiles, match="deep/theirs"):
            table.run(mode=mode)

    def test_one_that_is_written_after_it_is_newer_than_what_was_there(
        self, table: Merge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (table.output / "notes.md").write_text("old")
        exchange = table_folder.exchange_folders

        def write_afterwards(one: Path, other: Path) -> None:
            exchange(one, other)
            (table.output / "notes.md").unlink()
            (table.output / "notes.md").write_text("newer")

        monkeypatch.setattr(table_folder, "exchange_folders", write_afterwards)
        table.run()

        assert (table.output / "notes.md").read_text() == "newer"

    @pytest.mark.parametrize("step", range(13))
    @pytest.mark.parametrize("foreign", ["keep", "adopt"])
    def test_whoever_is_killed_nothing_of_others_is_lost(self, table: Merge, step: int, foreign: str) -> None:
        (table.output / "docs").mkdir()
        (table.output / "docs" / "notes.md").write_text("look")
        put(table)

        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(table.root), str(step), foreign], cwd=PROJECT, timeout=60, check=False
        )

        assert killed.returncode in (0, 9)
        assert (table.output / "docs" / "notes.md").read_text() == "look", "there is not a moment without it"
        with TableFolder(str(table.output)).looked_at():
            committed = ids(table) != [1, 2]
        assert ids(table) in ([1, 2], [1, 1, 2, 2, *([100, 101] if foreign == "adopt" else [])])
        copies = [file for file in table.root.rglob("theirs.parquet*") if file.is_file()]
        assert len(copies) == 1 and pq.read_table(copies[0])["id"].to_pylist() == [100, 101]
        is_in_table = copies[0] == table.output / "theirs.parquet"
        assert is_in_table is not (committed and foreign == "adopt"), "it is among the rows, or in the folder"
        table.run(mode="append", foreign=Foreign.KEEP)
        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))
        assert (table.output / "docs" / "notes.md").read_text() == "look"
        assert len([file for file in table.root.rglob("theirs.parquet*") if file.is_file()]) == 1


KILLED = """
import os, sys
from pathlib import Path
import mason.pipeline.tables.folder_strangers, mason.pipeline.tables.folder as table_folder
from mason.pipeline.tables.foreign_files import Foreign
from tests.merge.conftest import Merge

left = int(sys.argv[2])

def dying(call):
    def counted(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return call(*arguments, **options)
    return counted

def begin(call):
    def begun(*arguments, **options):
        os.link, os.rename, os.unlink, os.mkdir = map(dying, (os.link, os.rename, os.unlink, os.mkdir))
        table_folder.exchange_folders = dying(table_folder.exchange_folders)
        return call(*arguments, **options)
    return begun

table_folder.carry = begin(table_folder.carry)
Merge(Path(sys.argv[1]), jobs=iter([500])).run(mode="append", foreign=Foreign(sys.argv[3]))
"""


class TestReaders:
    """What reads a table goes by its commit, whatever lies in its folder."""

    @pytest.fixture
    def shared(self, merge: Merge) -> Merge:
        merge.given("a.csv", "id,day\n1,mon\n2,mon\n")
        merge.run(repartition_keys=("day",))
        put(merge, "day=tue/theirs.parquet", pa.table({"id": ["x"], "other": [1.5]}))
        return merge

    def test_a_merge_of_it_into_another_table(self, shared: Merge) -> None:
        job = MergeJob(Location(str(shared.output)), Location(str(shared.root / "next")))

        result = MergeWork.plan(job.to_job()).run(InProcessRunner(), "next", lambda *_: None)

        assert result.rows_in == 2 and result.plan.schema.names == ["id", "day"]
        assert [each.partition for each in find_files(LOCAL, Location(str(shared.output)))] == [{"day": "mon"}]

    def test_a_scan_of_it(self, shared: Merge) -> None:
        found = ReadyTable("t", plan_scan(Location(str(shared.output)))).sql_table()

        rows = fetch_rows(InProcessRunner(), SqlQuery(statement="select count(*) n from t", tables=[found]))

        assert rows["n"].to_pylist() == [2]

    def test_its_schema(self, shared: Merge) -> None:
        found = infer_stored(LOCAL, Location(str(shared.output)), InferOptions())

        assert [(each.name, str(each.type)) for each in found.schema.columns] == [("id", "int64"), ("day", "string")]
        assert [each.values for each in found.partitions] == [{"day": "mon"}]


class TestEveryOperator:
    """Whatever commits to a table refuses, or leaves the files of others where they are."""

    @pytest.fixture(params=["dedupe", "dedupe removed", "query", "format", "summarize"])
    def work(self, request: pytest.FixtureRequest, table: Merge, tmp_path: Path) -> Callable[[Foreign], Work]:
        out, source = str(table.output), str(tmp_path / "source")
        plan_and_run(MergeJob(Location(str(table.root / "in")), Location(source)).to_job())
        jobs: dict[str, Callable[[Foreign], object]] = {
            "dedupe": lambda foreign: DedupeJob(path=Location(out), output=Location(out), foreign=foreign),
            "dedupe removed": lambda foreign: DedupeJob(
                path=Location(source), output=Location(source), removed=Location(out), foreign=foreign
            ),
            "query": lambda foreign: QueryJob(
                statement="select * from t",
                database="d",
                tables={"t": TableRef("t", Location(source))},
                output=Location(out),
                foreign=foreign,
            ),
            "format": lambda foreign: FormatJob(
                Location(source), Location(out), FormatOptions(format="csv"), foreign=foreign
            ),
            "summarize": lambda foreign: SummaryJob(path=Location(source), output=Location(out), foreign=foreign),
        }
        return lambda foreign: plan_work(jobs[request.param](foreign).to_job())  # type: ignore[attr-defined]

    def test_it_refuses(self, table: Merge, work: Callable[[Foreign], Work]) -> None:
        put(table)

        with pytest.raises(ForeignFiles, match=r"theirs\.parquet"):
            work(Foreign.REFUSE)

        assert ids(table) == [1, 2]

    def test_it_keeps(self, table: Merge, work: Callable[[Foreign], Work]) -> None:
        file = put(table)
        (table.output / "notes.md").write_text("look")

        work(Foreign.KEEP).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)

        assert pq.read_table(file).num_rows == 2 and (table.output / "notes.md").read_text() == "look"
        current = TableFolder(str(table.output)).current()
        assert current and current.number == 2
        assert not kept(table, "*/theirs.parquet*")


def plan_and_run(job: object) -> None:
    plan_work(job).run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)  # type: ignore[arg-type]


class TestVersions:
    def test_a_rollback_is_refused_or_leaves_them(self, table: Merge) -> None:
        table.given("a.csv", "id\n3\n")
        table.run()
        file = put(table)

        with pytest.raises(ForeignFiles):
            roll_back(Location(str(table.output)), "1", "back")
        roll_back(Location(str(table.output)), "1", "back", foreign=Foreign.KEEP)

        assert ids(table) == [1, 2] and pq.read_table(file).num_rows == 2

    def test_a_vacuum_leaves_what_an_earlier_mason_has_moved_away(self, table: Merge) -> None:
        table.run()
        (former,) = kept(table)
        (former / "deep").mkdir()
        pq.write_table(THEIRS, former / "deep" / "theirs.parquet")
        removal = plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0)

        told = vacuum(removal)

        (left,) = kept(table, "*/deep/theirs.parquet")
        assert [file for file in left.parent.parent.rglob("*") if file.is_file()] == [left]
        assert told == [str(left.parent.parent)]
        assert [bool(each.folder) for each in list_versions(Location(str(table.output)))] == [True, False]
        assert plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0).versions == []
        table.run()
        assert ids(table) == [1, 2] and left.exists()

    def test_a_vacuum_that_was_killed_is_finished_by_the_next(self, table: Merge) -> None:
        table.run()
        (former,) = kept(table)
        first = list_versions(Location(str(table.output)))[-1].commit
        former.rename(former.with_name(f"{first.id}.going"))

        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))

        assert kept(table) == []


class TestTablesBelow:
    @pytest.fixture
    def explode(self, merge: Merge) -> Callable[[Foreign], None]:
        merge.given("a.jsonl", '{"id": 1, "tags": ["x", "y"]}\n{"id": 1, "tags": ["x"]}\n')
        job = ExplodeJob(path=Location(str(merge.root / "in")), name="t", output=Location(str(merge.output)))
        return lambda foreign: plan_and_run(replace(job, foreign=foreign).to_job())

    def test_what_was_committed_to_a_table_of_an_explode_is_nobody_elses(
        self, merge: Merge, explode: Callable[[Foreign], None]
    ) -> None:
        explode(Foreign.REFUSE)
        child = merge.output / "t_tags"
        plan_and_run(DedupeJob(path=Location(str(child)), output=Location(str(child))).to_job())
        assert len(list(TableFolder(str(child)).history())) == 2

        explode(Foreign.REFUSE)
        vacuum(plan_vacuum(Location(str(merge.output)), keep=0, older_than_days=0))

        assert not kept(merge)
        assert plan_scan(Location(str(child))).rows == 3

    def test_data_of_others_in_one_are_refused_or_stay(self, merge: Merge, explode: Callable[[Foreign], None]) -> None:
        explode(Foreign.REFUSE)
        put(merge, "t_tags/theirs.parquet")

        with pytest.raises(ForeignFiles, match=r"t_tags/theirs\.parquet"):
            explode(Foreign.REFUSE)
        explode(Foreign.KEEP)
        roll_back(Location(str(merge.output)), "1", "back", foreign=Foreign.KEEP)

        assert pq.read_table(merge.output / "t_tags" / "theirs.parquet").num_rows == 2


class TestDamage:
    @pytest.fixture
    def changed(self, table: Merge) -> Path:
        (file,) = table.output.glob("part-*.parquet")
        file.unlink()
        return put(table, file.name, pa.table({"id": list(range(500, 900))}))

    @pytest.mark.parametrize("mode", ["replace", "append", "in place"])
    def test_nothing_is_committed_over_a_file_that_others_have_written_over(
        self, table: Merge, changed: Path, mode: str
    ) -> None:
        for foreign in Foreign:
            with pytest.raises(ChangedFiles, match=rf"over 1 file of the table: {changed.name} \([\d,]+ bytes instead"):
                if mode == "in place":
                    table.run_plan(table.plan(table.output, foreign=foreign))
                else:
                    table.run(mode=mode, foreign=foreign)

        assert pq.read_table(changed).num_rows == 400

    def test_a_file_of_the_same_size_is_known_by_its_time(self, table: Merge) -> None:
        (file,) = table.output.glob("part-*.parquet")
        size = file.stat().st_size
        pq.write_table(THEIRS, file)
        assert file.stat().st_size == size

        for mode in ("replace", "append"):
            with pytest.raises(ChangedFiles, match=rf"{file.name} \([\d,]+ bytes, as before\)"):
                table.run(mode=mode)

    def test_a_table_whose_copy_has_other_times_is_as_good(self, table: Merge) -> None:
        table.run(mode="append")
        copy = Merge(table.root / "copy")
        copy.root.mkdir()
        subprocess.run(
            ["cp", "-r", table.root / "in", table.root / "out", table.root / ".mason", copy.root], check=True
        )

        copy.run(mode="append")

        assert ids(copy) == [1, 1, 1, 2, 2, 2]

    def test_one_can_go_back_and_what_others_wrote_is_kept_and_told(self, table: Merge) -> None:
        table.given("a.csv", "id\n7\n")
        table.run()
        (file,) = table.output.glob("part-*.parquet")
        pq.write_table(THEIRS.append_column("more", pa.array(["x", "y"])), file)
        with pytest.raises(ChangedFiles):
            table.run()

        warnings = list(describe_going_back(TableFolder(str(table.output)), str(table.output)))
        roll_back(Location(str(table.output)), "1", "back")
        vacuum(plan_vacuum(Location(str(table.output)), keep=0, older_than_days=0))

        assert ids(table) == [1, 2]
        (warning,) = warnings
        assert warning.startswith(f"{table.output}: somebody else has written over 1 file of the table: {file.name} (")
        (aside,) = kept(table, f"*/{file.name}.kept")
        assert pq.read_table(aside)["id"].to_pylist() == [100, 101]

    def test_a_file_that_is_gone_is_told_by_an_append_and_mended_by_a_replacement(self, table: Merge) -> None:
        table.run(mode="append")
        file, _ = table.output.glob("part-*.parquet")
        file.unlink()

        with pytest.raises(MissingFiles, match=f"1 file of the table is gone: {file.name}"):
            table.run(mode="append")

        table.run()
        assert ids(table) == [1, 2]
