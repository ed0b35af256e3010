"""Many files together: columns by name, conflicts, samples, and files that cannot be read."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from mason.errors import BadInput, NoData, UnreadableFile
from mason.pipeline.reading.inference import infer

if TYPE_CHECKING:
    from tests.pipeline.conftest import Folder


def test_columns_are_matched_by_name_in_order_of_first_appearance(folder: Folder) -> None:
    folder.given("a.csv", "type,price\nsaw,1\n")
    folder.given("b.csv", "price,extra,type\n2,true,axe\n")

    assert folder.types() == {"type": "string", "price": "int64", "extra": "bool"}


def test_files_that_disagree_are_reported_with_file_column_and_types(folder: Folder) -> None:
    folder.given("a.csv", "id,code\n1,5\n")
    folder.given("b.csv", "id,code\n2,00501\n")
    folder.given("c.csv", "id,code\n3,\n")

    found = folder.infer()

    assert [conflict.to_dict() for conflict in found.conflicts] == [
        {
            "Column": "code",
            "Found": [{"File": "a.csv", "Type": "int64"}, {"File": "b.csv", "Type": "string"}],
            "Chosen": "string",
        }
    ]


def test_how_many_decimals_a_file_shows_is_no_conflict(folder: Folder) -> None:
    folder.given("a.csv", "price\n1.50\n2.25\n")
    folder.given("b.csv", "price\n1.5\n")

    assert folder.types() == {"price": "decimal128(18, 2)"}
    assert not folder.infer().conflicts


def test_whole_numbers_beside_fractions_are_a_conflict(folder: Folder) -> None:
    folder.given("a.csv", "price\n1\n")
    folder.given("b.csv", "price\n1.5\n")

    assert str(folder.infer().conflicts[0]) == (
        'Column "price" differs between files (int64 in a.csv, decimal128(18, 1) in b.csv): taken as decimal128(18, 1).'
    )


def test_naive_and_zoned_times_become_text_and_are_reported(folder: Folder) -> None:
    folder.given("a.csv", "at\n2024-01-01 10:00:00\n")
    folder.given("b.csv", "at\n2024-01-01T10:00:00Z\n")

    found = folder.infer()

    assert found.conflicts[0].chosen == "string"
    assert list(found.warnings) == [
        'Column "at" has times with a zone and dates or times without one: only text holds both.'
    ]


def test_the_order_of_the_files_changes_no_type(folder: Folder) -> None:
    contents = ["a,b\n1,x\n", "a,b\n1.5,\n", "b,a\n2024-01-01,12345678901234567890\n"]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        for number, index in enumerate(order):
            folder.given(f"{number}.csv", contents[index])

        assert folder.types() == {"a": "decimal128(38, 1)", "b": "string"}


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst", "none"])
def test_compressed_text_is_read_whatever_its_name_says(folder: Folder, suffix: str) -> None:
    content = b"id,name\n" + b"1,x\n" * 50_000
    packed = {
        "gz": gzip.compress(content),
        "bz2": bz2.compress(content),
        "zst": pa.Codec("zstd").compress(content, asbytes=True),
        "none": content,
    }[suffix]
    folder.given(f"a.csv.{suffix}".removesuffix(".none"), packed)
    folder.given("b.csv", packed)
    folder.given("c.csv.gz", packed)

    assert folder.types() == {"id": "int64", "name": "string"}
    assert folder.infer().sampled
    assert folder.infer(read_all=True).rows_read == 150_000


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst"])
def test_a_truncated_stream_is_reported_when_its_end_is_reached(folder: Folder, suffix: str) -> None:
    content = b"id,name\n" + b"".join(b"%d,name %d\n" % (n, n * 7919 % 10_007) for n in range(60_000))
    packed = {
        "gz": gzip.compress(content),
        "bz2": bz2.compress(content, 1),  # in small blocks: of a broken one nothing can be read
        "zst": pa.Codec("zstd").compress(content, asbytes=True),
    }[suffix]
    folder.given(f"a.csv.{suffix}", packed[: len(packed) * 3 // 4])

    assert folder.types() == {"id": "int64", "name": "string"}
    assert folder.warnings() == ""
    assert f"a.csv.{suffix}: only its beginning could be read" in folder.warnings(read_all=True)


def test_a_small_truncated_gz_gives_what_can_be_read(folder: Folder) -> None:
    packed = gzip.compress(b"id,name\n" + b"1,x\n" * 1_000)
    folder.given("a.csv.gz", packed[:-9])

    assert folder.types() == {"id": "int64", "name": "string"}
    assert "a.csv.gz: only its beginning could be read" in folder.warnings()


def test_samples_say_how_much_they_looked_at(folder: Folder) -> None:
    folder.given("a.csv", "id\n" + "1\n" * 5_000)

    found = folder.infer()

    assert found.describe_sample() == "Looked at 1,000 rows of 1 file; read_all: true reads everything."
    assert folder.infer(read_all=True).describe_sample() == "Looked at 5,000 rows of 1 file, which is everything."


def test_a_sample_that_happens_to_be_everything_is_none(folder: Folder) -> None:
    folder.given("a.csv", "id\n" + "1\n" * 1_000)

    assert folder.infer().describe_sample() == "Looked at 1,000 rows of 1 file, which is everything."


def test_very_many_warnings_are_cut_short(folder: Folder) -> None:
    for number in range(60):
        folder.given(f"{number}.csv", "a,b\n" + "1,2\n" * number + "1\n")

    assert len(folder.infer().warnings) == 51
    assert folder.infer().warnings[-1] == "There are 10 more warnings like these."


def test_what_a_sample_misses_is_found_when_all_is_read(folder: Folder) -> None:
    folder.given("a.csv", "id\n" + "1\n" * 5_000 + "x\n")

    assert folder.types() == {"id": "int64"}
    assert folder.types(read_all=True) == {"id": "string"}


def test_of_very_many_files_a_thousand_are_read_the_last_one_included(folder: Folder) -> None:
    for number in range(1_500):
        folder.given(f"{number:04}.csv", "id\n1\n")
    folder.given("9999.csv", "last\n1\n")

    found = folder.infer()

    assert (found.files, found.files_read, found.sampled) == (1_501, 1_000, True)
    assert [column.name for column in found.schema.columns] == ["id", "last"]


def test_a_thousand_files_take_little_time(folder: Folder) -> None:
    for number in range(1_000):
        folder.given(f"{number}.csv", "id,name,day\n" + f"{number},x,2024-01-01\n" * 100)
    folder.infer()

    started = time.process_time()
    found = folder.infer()

    assert time.process_time() - started < 0.6  # about a tenth of this on an idle machine
    assert found.describe_sample() == "Looked at 20,000 rows of 1,000 of 1,000 files; read_all: true reads everything."


def test_csv_needs_none_of_the_modules_of_other_formats() -> None:
    code = (
        "import sys, pyarrow.fs; from mason.pipeline.reading import inference;"
        "heavy = {'pyarrow.parquet', 'pyarrow.orc', 'pyarrow.csv', 'fastavro', 'msgpack', 'pyspark', 'pandas', 'json'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert shown.stdout.strip() == "[]"


def test_empty_files_are_skipped_with_a_note(folder: Folder) -> None:
    for name in ("a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"):
        folder.given(name, "")
    folder.given("bom.csv", b"\xef\xbb\xbf")
    folder.given("x.csv", "id\n1\n")

    assert folder.types() == {"id": "int64"}
    assert folder.warnings() == "a.csv: it is empty (also b.csv, bom.csv, c.csv and 3 more)."


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\n\n\r\n", gzip.compress(b"", mtime=0)])
def test_a_table_of_empty_files_has_no_data(folder: Folder, content: bytes) -> None:
    folder.given("a.csv", content)

    with pytest.raises(NoData, match="are empty"):
        folder.infer()


def test_one_bad_file_among_good_ones_is_a_warning_that_names_it(folder: Folder) -> None:
    folder.given("a.parquet", b"PAR1" + b"\x00" * 100)
    folder.given("b.csv", "id\n1\n")
    folder.given("c.csv", b"\x7fELF\x14\x00\x06\x00" + bytes(range(32)) * 10)

    found = folder.infer()

    assert found.files_read == 1
    assert found.warnings[0].startswith("a.parquet: not a complete Parquet file")
    assert found.warnings[1] == "c.csv: what it holds is in no format that can be read."


def test_a_line_of_a_hundred_megabytes_is_not_read_to_its_end(folder: Folder) -> None:
    with (folder.path / "a.csv").open("wb") as file:
        file.write(b"x" * 10_000_000)
        file.truncate(100_000_000)

    with pytest.raises(UnreadableFile, match=r"a\.csv: its first record does not end within"):
        folder.infer()


def test_a_very_long_record_below_a_header_leaves_the_types_open(folder: Folder) -> None:
    folder.given("a.csv", "id,text\n1," + "x" * 10_000_000 + "\n2,y\n")

    assert folder.types() == {"id": "string", "text": "string"}
    assert "a.csv: no record below its header ends within" in folder.warnings()
    assert folder.types(read_all=True) == {"id": "int64", "text": "string"}


def test_an_unknown_encoding_is_refused(folder: Folder) -> None:
    folder.given("a.csv", "a\n1\n")

    with pytest.raises(BadInput, match="klingon"):
        folder.infer(encoding="klingon")


class Unwilling(pafs.FileSystemHandler):  # type: ignore[misc]
    """The local file system, except that one file cannot be opened."""

    def __init__(self, name: str, error: OSError) -> None:
        self.name = name
        self.error = error
        self.local = pafs.LocalFileSystem()

    def open_input_stream(self, path: str) -> Any:
        if path.endswith(self.name):
            raise self.error
        return self.local.open_input_stream(path)

    def open_input_file(self, path: str) -> Any:
        return self.local.open_input_file(path)

    def get_type_name(self) -> str:
        return "unwilling"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> Any:
        return self.local.get_file_info(paths)

    def get_file_info_selector(self, selector: pafs.FileSelector) -> Any:
        return self.local.get_file_info(selector)

    def _refuse(self, *arguments: Any) -> Any:
        raise NotImplementedError

    copy_file = create_dir = delete_dir = delete_dir_contents = delete_file = delete_root_dir_contents = _refuse
    move = open_append_stream = open_output_stream = _refuse


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "a.csv: permission denied."),
        (FileNotFoundError(2, "No such file"), "a.csv: it vanished before it could be read."),
        (OSError(5, "Input/output error"), "a.csv: "),
    ],
)
def test_a_file_that_cannot_be_opened_is_named(folder: Folder, error: OSError, message: str) -> None:
    filesystem = pafs.PyFileSystem(Unwilling("a.csv", error))
    folder.given("a.csv", "id\n1\n")

    with pytest.raises(UnreadableFile, match=message):
        infer(filesystem, str(folder.path))

    folder.given("b.csv", "id\n1\n")
    assert infer(filesystem, str(folder.path)).warnings[0].startswith(message)


def test_any_arrow_filesystem_will_do(folder: Folder) -> None:
    folder.given("x/k=1/a.csv", "id\n1\n")
    folder.given("x/k=2/b.csv.gz", gzip.compress(b"id\n2\n"))
    filesystem = pafs.SubTreeFileSystem(str(folder.path), pafs.LocalFileSystem())

    found = infer(filesystem, "x")

    assert [str(column.type) for column in found.schema.columns] == ["int64", "int64"]


def test_a_file_that_merely_lies_beside_the_data_is_left_out_and_named(folder: Folder) -> None:
    folder.given("a.csv", "x,y\n1,2\n")
    folder.given("README.md", "# Read me\nfirst, second\n")
    folder.given("part-00000", "x,y\n3,4\n")

    found = folder.infer()

    assert (found.files, found.rows_read) == (2, 2)
    assert found.warnings == ["README.md: its name is not that of a data file; it is left out."]


def test_names_that_differ_only_in_case_between_files_are_reported_with_both(folder: Folder) -> None:
    folder.given("a.csv", "Id,x\n1,2\n")
    folder.given("b.csv", "id,x\n1,2\n")

    assert folder.warnings() == 'The columns "Id" (a.csv) and "id" (b.csv) differ only in case.'
