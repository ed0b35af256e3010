"""A table's folder holds its data files and nothing else; what belongs to the table besides lies beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Forbidden, MasonError, PathNotFound
from mason.pipeline.jobs.dedupe.job import DedupeJob
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.storage.address import confine_address
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.tables import folder as table_folder
from mason.pipeline.tables.commit import FormerLayout
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.folder_room import FolderRoom
from mason.pipeline.tables.foreign_files import Foreign
from mason.pipeline.tables.places import make_room
from mason.pipeline.tables.rejects import read_quarantine
from mason.pipeline.tables.versions import plan_vacuum, roll_back, vacuum
from mason.pipeline.work.output_place import check_output
from tests.merge.conftest import Merge
from tests.merge.test_foreign import plan_and_run

BEGIN = "id,day\n1,mon\n2,tue\n3\n"


def location(merge: Merge) -> Location:
    return Location(str(merge.output))


def replace(merge: Merge) -> None:
    for _ in range(3):
        merge.run(repartition_keys=KEYS[merge.root.name])


def append(merge: Merge) -> None:
    for _ in range(2):
        merge.run(mode="append", repartition_keys=KEYS[merge.root.name])


def dedupe(merge: Merge) -> None:
    append(merge)
    plan_and_run(DedupeJob(path=location(merge), output=location(merge)).to_job())


def go_back(merge: Merge) -> None:
    append(merge)
    roll_back(location(merge), "1", "back")


def go_back_and_forth(merge: Merge) -> None:
    replace(merge)
    roll_back(location(merge), "1", "back")
    roll_back(location(merge), "3", "forth")
    vacuum(plan_vacuum(location(merge), keep=1, older_than_days=0))


def adopt(merge: Merge) -> None:
    merge.run(repartition_keys=KEYS[merge.root.name])
    folder = merge.output / "day=wed" if KEYS[merge.root.name] else merge.output
    folder.mkdir(exist_ok=True)
    rows = {"id": [9]} if KEYS[merge.root.name] else {"id": [9], "day": ["wed"]}
    pq.write_table(pa.table(rows), folder / "theirs.parquet")
    merge.run(mode="append", foreign=Foreign.ADOPT, repartition_keys=KEYS[merge.root.name])


KEYS: dict[str, tuple[str, ...]] = {"flat": (), "partitioned": ("day",)}
WRITING = [replace, append, dedupe, go_back, go_back_and_forth, adopt]

READERS: dict[str, Callable[[Path], int]] = {
    "pandas": lambda table: len(pd.read_parquet(table)),
    "pyarrow": lambda table: ds.dataset(table, format="parquet", partitioning="hive").count_rows(),
    "DuckDB **": lambda table: _count(f"{table}/**/*.parquet"),
    "DuckDB ** over the parent": lambda table: _count(f"{table.parent}/**/*.parquet"),
}


def _count(pattern: str) -> int:
    with duckdb.connect() as connection:
        row = connection.execute("select count(*) from read_parquet(?, union_by_name = true)", [pattern]).fetchone()
    assert row is not None
    return int(row[0])


def counts(table: Path) -> dict[str, int]:
    return {name: read(table) for name, read in READERS.items()}


@pytest.fixture(params=KEYS)
def kind(merge: Merge, request: pytest.FixtureRequest) -> Merge:
    table = Merge(merge.root / request.param, merge.runner, merge.jobs)
    table.given("a.csv", BEGIN)
    table.run(repartition_keys=KEYS[request.param])
    return table


@pytest.mark.parametrize("write", WRITING, ids=lambda each: each.__name__)
def test_every_reader_counts_the_rows_that_mason_counts(kind: Merge, write: Callable[[Merge], None]) -> None:
    write(kind)

    current = TableFolder(str(kind.output)).current()
    assert current is not None and current.rows > 0
    assert counts(kind.output) == dict.fromkeys(READERS, current.rows)
    found = {str(each.relative_to(kind.output)) for each in kind.output.rglob("*") if each.is_file()}
    assert found == {each.path for each in current.files}
    assert [each for each in kind.room.rglob("*") if each.is_file() and format_of_name(each.name)] == []


def test_what_lies_in_the_former_layout_is_caught(kind: Merge) -> None:
    (copied, *_) = kind.output.rglob("*.parquet")
    former = kind.output / "_mason" / "kept" / "job1"
    former.mkdir(parents=True)
    shutil.copy(copied, former)

    wrong = {name for name, count in counts(kind.output).items() if count != 2}

    assert wrong == {"DuckDB **", "DuckDB ** over the parent"}


def test_the_tables_of_an_explode_are_clean_each_by_itself(merge: Merge) -> None:
    merge.given("a.jsonl", '{"id": 1, "tags": ["x", "y"]}\n{"id": 2, "tags": []}\n')
    job = ExplodeJob(path=Location(str(merge.root / "in")), name="t", output=location(merge))
    for _ in range(2):
        plan_and_run(job.to_job())
    plan_and_run(DedupeJob(path=location(merge).child("t"), output=location(merge).child("t")).to_job())

    assert sorted(each.name for each in merge.output.iterdir()) == [".mason", "t", "t_tags"]
    for name in ("t", "t_tags"):
        assert {each.suffix for each in (merge.output / name).rglob("*")} == {".parquet"}
        assert plan_scan(location(merge).child(name)).rows == 2
    assert _count(f"{merge.output}/**/*.parquet") == 4
    roll_back(location(merge), "1", "back")
    assert _count(f"{merge.output}/**/*.parquet") == 4
    vacuum(plan_vacuum(location(merge), keep=0, older_than_days=0))
    assert list(merge.room.glob("kept/*")) == []


@pytest.mark.parametrize("other", ["notes.md", "theirs.parquet", "a table"])
def test_an_explode_is_refused_where_anything_else_is(merge: Merge, other: str) -> None:
    merge.given("a.jsonl", '{"id": 1, "tags": ["x", "y"]}\n')
    if other == "a table":
        merge.run()
    else:
        merge.output.mkdir()
        (merge.output / other).write_text("theirs")
    before = sorted(merge.output.rglob("*"))

    with pytest.raises(BadPath, match="holds other things: |is a table already"):
        plan_and_run(ExplodeJob(path=Location(str(merge.root / "in")), name="t", output=location(merge)).to_job())

    assert sorted(merge.output.rglob("*")) == before


def test_a_table_in_the_former_layout_is_refused_but_as_the_input_of_a_merge(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run()
    former = merge.root / "former"
    shutil.copytree(merge.output, former)
    (former / "_mason" / "commits").mkdir(parents=True)
    (former / "_mason" / "commits" / "00000001-x.json").write_text("{}")

    with pytest.raises(FormerLayout, match=r"former is a table in the former layout.+Merge it into another folder"):
        plan_scan(Location(str(former)))
    with pytest.raises(FormerLayout):
        TableFolder(str(former)).check_room()
    merge.run_plan(merge.plan(former))

    assert merge.table()["id"].to_pylist() == [1]


@pytest.mark.parametrize("how", ["deleted", "moved", "emptied"])
def test_a_table_whose_folder_is_gone_begins_anew_and_its_records_are_set_aside(
    merge: Merge, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    merge.given("a.csv", "id\n1\n2,3\n")
    merge.run(incremental=True)
    merge.given("b.csv", "id\n2\n")
    merge.run(incremental=True)
    if how == "moved":
        merge.output.rename(merge.root / "elsewhere")
    else:
        shutil.rmtree(merge.output)
    if how == "emptied":
        merge.output.mkdir()
    else:
        with pytest.raises(PathNotFound, match=str(merge.output)):
            plan_scan(location(merge))

    merge.run(incremental=True)

    assert sorted(merge.table()["id"].to_pylist()) == [1, 2], "all files are merged again"
    assert [each.number for each in TableFolder(str(merge.output)).history()] == [1]
    assert len(list(read_quarantine(location(merge)))) == 1
    (aside,) = merge.room.glob("aside/*")
    assert len(list(aside.glob("commits/*"))) == 2 and len(list(aside.glob("kept/*"))) == 1
    told = f"The folder of the table {merge.output} was gone: its old records are in {aside} now."
    assert told in [each.getMessage() for each in caplog.records]


def test_a_table_without_rows_is_one_though_its_folder_is_empty(merge: Merge) -> None:
    merge.given("a.csv", "id\n")
    merge.run()
    for file in merge.output.iterdir():
        assert pq.read_metadata(file).num_rows == 0

    assert plan_scan(location(merge)).rows == 0


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "mounted"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_mount_point_does_not_become_a_table_but_a_folder_below_it_does(merge: Merge, mounted: Path) -> None:
    merge.given("a.csv", "id\n1\n")

    with pytest.raises(BadPath, match="is a mount point: .+ Give the output a folder below it"):
        TableFolder(str(mounted)).check_room()
    with TableFolder(str(mounted / "out")).stage("job"):
        pass

    assert sorted(each.name for each in mounted.iterdir()) == [".mason"]


def test_a_parent_that_cannot_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere

    with pytest.raises(Forbidden, match=rf"{tmp_path} cannot be written to: what belongs to the table out .+ is kept"):
        make_room(tmp_path / "out", tmp_path / ".mason/tables/out")


@pytest.mark.parametrize("name", ["x" * 200, "ü😀 '\"$(x)`;&", "a.parquet", "k=v", "%2Fx", "commits"])
def test_odd_names_are_as_good_as_any(merge: Merge, name: str) -> None:
    merge.given("a.csv", "id\n1\n")
    table = Merge(merge.root, merge.runner, merge.jobs)
    named = type("Named", (Merge,), {"output": property(lambda self: self.root / name)})(table.root, table.runner)
    for _ in range(2):
        named.run()
    roll_back(Location(str(named.output)), "1", "back")

    assert named.table()["id"].to_pylist() == [1]
    assert len(list(named.room.glob("kept/*"))) == 2


def test_a_file_of_somebody_else_with_the_longest_name_is_kept(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    merge.run()
    longest = "x" * (255 - len(".parquet")) + ".parquet"
    pq.write_table(pa.table({"id": [9]}), merge.output / longest)

    merge.run(mode="append", foreign=Foreign.ADOPT)

    (kept,) = merge.room.glob("kept/*/x*.kept")
    assert pq.read_table(kept)["id"].to_pylist() == [9]


class Killed(BaseException):
    """The process is gone."""


class Mortal:
    """Lets so many changes of files happen, and no more: whoever makes another one is gone for good."""

    NAMES = ("link", "rename", "unlink", "mkdir", "rmdir", "utime")

    def __init__(self, patch: pytest.MonkeyPatch, changes: int) -> None:
        self._left = changes
        for name in self.NAMES:
            patch.setattr(os, name, self._dying(getattr(os, name)))
        patch.setattr(table_folder, "exchange_folders", self._dying(table_folder.exchange_folders))

    def _dying(self, change: Callable[..., None]) -> Callable[..., None]:
        def dying(*arguments: object, **options: object) -> None:
            self._left -= 1
            if self._left < 0:
                raise Killed
            change(*arguments, **options)

        return dying


def die_while_publishing(merge: Merge, mode: str, rows: str, changes: int) -> bool:
    """Die after so many changes of a commit; return whether it was done before."""
    publish = TableFolder.publish
    with pytest.MonkeyPatch.context() as patch:

        def mortally(table: TableFolder, *arguments: object, **options: object) -> object:
            Mortal(patch, changes)
            return publish(table, *arguments, **options)  # type: ignore[arg-type]

        patch.setattr(TableFolder, "publish", mortally)
        merge.given("a.csv", rows)
        try:
            merge.run(mode=mode)
        except Killed:
            return False
    return True


def problems_of(merge: Merge, old: list[int], new: list[int]) -> list[str]:
    """What a reader of Mason's and one who lists the folder see that is neither version, or not the same."""
    current = TableFolder(str(merge.output)).current()
    listed = sorted(each.name for each in merge.output.glob("*"))
    if current is None:
        return [] if not merge.output.exists() and not old else [f"no table, but {listed}"]
    if listed != sorted(each.path for each in current.files):
        return [f"Mason sees {[each.path for each in current.files]}, others see {listed}"]
    ids = sorted(merge.table()["id"].to_pylist()) if current.rows else []
    return [] if ids in (old, new) else [f"rows {ids}"]


COMMITS = {
    "first": ("", "replace", "id\n1\n"),
    "append": ("id\n1\n", "append", "id\n2\n"),
    "replace": ("id\n1\n", "replace", "id\n1\n"),
}


@pytest.mark.parametrize("commit", [*COMMITS, "replace by nothing"])
def test_death_at_any_change_of_a_commit_leaves_the_old_table_or_the_new_one(tmp_path: Path, commit: str) -> None:
    assert _die_everywhere(tmp_path, commit) == []


def test_the_deaths_catch_a_commit_that_is_taken_back_after_its_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderRoom, "is_exchanged", lambda self, pending: False)

    assert _die_everywhere(tmp_path, "append") != []


def _die_everywhere(folder: Path, commit: str) -> list[str]:
    before, mode, rows = COMMITS.get(commit, ("id\n1\n", "replace", "id\n"))
    for changes in range(200):
        merge = Merge(folder / str(changes))
        if before:
            merge.given("a.csv", before)
            merge.run()
        old = [1] if before else []
        new = {"append": [1, 2], "replace by nothing": []}.get(commit, [1])
        is_done = die_while_publishing(merge, mode, rows, changes)
        wrong = problems_of(merge, old, new)
        seen = TableFolder(str(merge.output)).current()
        TableFolder(str(merge.output)).sweep()
        wrong += problems_of(merge, old, new)
        swept = TableFolder(str(merge.output)).current()
        if (seen and seen.id) != (swept and swept.id):
            wrong.append("what was seen before is not what the next command has made of it")
        if left := merge.left_behind():
            wrong.append(f"left behind: {left}")
        merge.given("a.csv", "id\n7\n")
        try:
            merge.run(mode="append" if swept else "replace")
        except MasonError as error:
            wrong.append(str(error))
        if "7" not in map(str, merge.table()["id"].to_pylist()):
            wrong.append("nothing can be added to it any more")
        if wrong:
            return [f"after {changes} changes: {each}" for each in wrong]
        if is_done:
            assert changes > 8
            return []
    return ["a commit never ends"]


def test_a_table_that_is_a_root_itself_is_refused_since_its_records_would_lie_outside(merge: Merge) -> None:
    merge.given("a.csv", "id\n1\n")
    storage = confine_address([str(merge.root)])
    source = Location(str(merge.root / "in"), storage)

    with pytest.raises(BadPath):
        check_output([], Location(str(merge.root), storage))
    check_output([source], Location(str(merge.output), storage))
