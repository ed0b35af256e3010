"""Whatever happens in the middle, the output is the old table or the new one, and no row is lost unsaid."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from mason.errors import Conflict, MissingDependency, UnreadableFile
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.formats.writers import (
    avro_writer,
    csv_writer,
    json_writer,
    msgpack_writer,
    orc_writer,
    parquet_writer,
)
from mason.pipeline.formats.writers import xlsx_writer as xlsx
from mason.pipeline.work.row_sums import RowsLost
from tests.format.conftest import Format
from tests.merge.test_faults import SmallDisk

WRITERS = {
    "parquet": parquet_writer.ParquetFileWriter,
    "csv": csv_writer.CsvFileWriter,
    "jsonl": json_writer.JsonLinesWriter,
    "json": json_writer.JsonLinesWriter,
    "orc": orc_writer.OrcFileWriter,
    "avro": avro_writer.AvroFileWriter,
    "msgpack": msgpack_writer.MsgpackFileWriter,
    "xlsx": xlsx.XlsxFileWriter,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_row_that_a_writer_drops_fails_the_job(format_: Format, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    format_.given({"id": [1, 2, 3]})
    format_.run(name)
    write = WRITERS[name].write
    monkeypatch.setattr(WRITERS[name], "write", lambda self, rows: write(self, rows.slice(1)))

    with pytest.raises(RowsLost, match="3 records were read, but 2 were written"):
        format_.run(name)
    commit = format_.commit()
    assert commit is not None
    assert (commit.number, commit.rows) == (1, 3)


def test_a_file_that_changes_after_the_plan_fails_the_job(format_: Format) -> None:
    format_.given({"id": [1]})
    plan = format_.plan("csv")
    format_.given({"id": [1, 2]})

    with pytest.raises(UnreadableFile, match="changed after the plan"):
        format_.run_plan(plan)
    assert not format_.output.exists()


def test_of_two_jobs_into_one_output_one_wins_and_the_other_says_so(format_: Format) -> None:
    format_.given({"id": [1]})

    class Overtaken(InProcessRunner):
        def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
            yield from super().run(kernel, tasks)
            format_.runner = InProcessRunner()
            format_.run("jsonl")

    format_.runner = Overtaken()
    with pytest.raises(Conflict, match="changed by another job"):
        format_.run("csv")
    commit = format_.commit()
    assert commit is not None
    assert commit.format == "jsonl"


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_table(tmp_path: Path, name: str) -> None:
    given = Format(tmp_path)
    disk = tmp_path / "disk"
    disk.mkdir()
    small = SmallDisk(disk)
    try:
        (disk / "in").symlink_to(tmp_path / "in")
        format_ = Format(disk)
        given.given({"x": [1.5]})
        format_.run(name)
        given.given({"x": [random.random() for _ in range(200_000)]})
        with pytest.raises(OSError, match="space|large"):
            format_.run(name)
        commit = format_.commit()
        assert commit is not None
        assert commit.rows == 1
        assert list(disk.glob(".mason/tables/out/staging/*")) == []
    finally:
        small.release()


@pytest.mark.parametrize("name", WRITERS)
def test_ctrl_c_in_the_middle_leaves_nothing_behind(
    format_: Format, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    format_.given({"id": [1, 2, 3]})
    write = WRITERS[name].write

    def interrupted(self: object, rows: pa.RecordBatch) -> None:
        write(self, rows)
        raise KeyboardInterrupt

    monkeypatch.setattr(WRITERS[name], "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        format_.run(name)
    assert sorted(each.name for each in format_.root.iterdir()) == [".mason", "in"]


def test_a_missing_package_is_found_in_the_plan(format_: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    format_.given({"id": [1]})
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    with pytest.raises(MissingDependency, match=re.escape("pip install 'mason-data[excel]'")):
        format_.plan("xlsx")
