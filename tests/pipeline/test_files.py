"""Which files are data, which format they have, and what their folders say."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from mason.errors import BadInput, BadPath, NoData, PathNotFound, UnreadableFile
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.disks import confine_address
from mason.pipeline.storage.files import list_files, partitions_of
from mason.pipeline.storage.format_names import codec_of, format_of, format_of_name, is_data

if TYPE_CHECKING:
    from tests.pipeline.conftest import Folder

LOCAL = pafs.LocalFileSystem()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[("a.csv", "csv"), ("a.TSV", "tsv"), ("a.tab", "tsv"), ("a.psv", "psv"), ("a.txt", "csv")],
        *[("a.json", "json"), ("a.jsonl", "jsonl"), ("a.ndjson.zst", "jsonl"), ("a.b.csv.gz", "csv")],
        *[("a.parquet", "parquet"), ("a.snappy.parquet", "parquet"), ("a.pq", "parquet"), ("a.orc", "orc")],
        *[("a.avro", "avro"), ("a.msgpack", "msgpack"), ("a.mpk.bz2", "msgpack")],
        *[("part-00000", ""), ("a.csv/part-0", ""), ("a.gz", ""), ("csv", ""), ("a.xyz", "")],
    ],
)
def test_an_extension_claims_a_format(name: str, expected: str) -> None:
    assert format_of_name(name) == expected


@pytest.mark.parametrize(
    ("name", "start", "expected"),
    [
        ("a.csv", b"PAR1....", "parquet"),
        ("a", b"ORC\x08", "orc"),
        ("a.json", b"Obj\x01\x04", "avro"),
        ("a", b'{"a": 1}\n', "jsonl"),
        ("a", b' [{"a": 1}]', "jsonl"),
        ("a.csv", b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.csv", b"{x},y\n", "csv"),
        ("a", b"a,b\n1,2\n", "csv"),
        ("a.parquet", b"a,b\n1,2\n", "parquet"),
        ("a.parquet", b"\x00\x01\x02\x00\x05\x04", "parquet"),
        ("a", b"\x81\xa1a\x01", "csv"),
        ("a.mpk", b"\x81\xa1a\x01", "msgpack"),
        ("a", b"\x81\xa1a\x01\x00\x04\x05\x06", "msgpack"),
        ("a.csv", b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00", ""),
        ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), "csv"),
    ],
)
def test_first_bytes_are_believed_before_the_name(name: str, start: bytes, expected: str) -> None:
    assert format_of(name, start) == expected


def test_compression_is_known_by_its_first_bytes() -> None:
    assert codec_of(gzip.compress(b"x")) == "gzip"
    assert codec_of(bz2.compress(b"x")) == "bz2"
    assert codec_of(pa.Codec("zstd").compress(b"x", asbytes=True)) == "zstd"
    assert codec_of(b"a,b") == ""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *[("a.csv", True), ("x/a.csv", True), ("_a.csv", False), (".a.csv", False), ("_SUCCESS", False)],
        *[("_mason/a.csv", False), ("x/.git/a.csv", False), ("x/_temporary/0/a.csv", False)],
        *[("_year=2024/a.csv", True), ("_year=2024.csv", False), ("a_b/c.d.csv", True)],
    ],
)
def test_hidden_names_are_no_data_at_any_depth(path: str, expected: bool) -> None:
    assert is_data(path) is expected


def test_a_hidden_folder_above_the_table_does_not_hide_it(folder: Folder) -> None:
    folder.given("_staging/.x/a.csv", "a\n1\n")

    assert folder.types("_staging/.x") == {"a": "int64"}


def test_files_are_listed_sorted_with_sizes_and_partitions(folder: Folder) -> None:
    folder.given("b/y=2024/m=__HIVE_DEFAULT_PARTITION__/a.csv", "12345")
    folder.given("a.csv", "1")
    folder.given("_hidden.csv", "1")

    first, second = list_files(LOCAL, f"{folder.path}/")

    assert (first.name, first.size, first.partition) == ("a.csv", 1, {})
    assert (second.name, second.size) == ("b/y=2024/m=__HIVE_DEFAULT_PARTITION__/a.csv", 5)
    assert second.partition == {"y": "2024", "m": None}


def test_a_single_file_is_a_table(folder: Folder) -> None:
    path = folder.given("k=v/_a.csv", "a\n1\n")

    assert [file.name for file in list_files(LOCAL, str(path))] == ["_a.csv"]
    assert folder.types("k=v/_a.csv") == {"a": "int64"}


def test_a_folder_named_like_a_file_is_a_folder(folder: Folder) -> None:
    folder.given("x.csv/part-00000", "a,b\n1,2\n")
    folder.given("x.csv/_SUCCESS", "")

    assert folder.types("x.csv") == {"a": "int64", "b": "int64"}


def test_a_path_that_is_not_there_is_not_found(folder: Folder) -> None:
    with pytest.raises(PathNotFound, match="nowhere"):
        folder.infer("nowhere")


def test_a_folder_with_only_hidden_files_has_no_data(folder: Folder) -> None:
    folder.given(".a.csv", "a\n1\n")
    folder.given("_tmp/a.csv", "a\n1\n")

    with pytest.raises(NoData, match="no data files"):
        folder.infer()


def test_a_pipe_is_not_opened(folder: Folder) -> None:
    os.mkfifo(folder.path / "a.csv")
    folder.given("b.csv", "a\n1\n")

    assert folder.types() == {"a": "int64"}


def test_links_that_lead_back_up_are_not_followed_and_others_are(folder: Folder) -> None:
    folder.given("x/a.csv", "a\n1\n")
    for name in ("up", "again", "x/up"):
        (folder.path / name).symlink_to(folder.path)
    (folder.path / "other").symlink_to(folder.path / "x")
    (folder.path / "dangling.csv").symlink_to("nowhere")

    (found,) = list_files(LOCAL, str(folder.path))
    assert (found.name, found.links) == ("other/a.csv", ["x/a.csv"])


def test_a_name_that_is_not_utf8_is_refused_by_name(folder: Folder) -> None:
    Path(os.fsdecode(os.fsencode(folder.path) + b"/bad\xff.csv")).write_text("a\n1\n")

    with pytest.raises(UnreadableFile, match=r"bad\\xff\.csv: its name is not valid UTF-8"):
        folder.infer()


def test_a_file_may_have_any_other_name(folder: Folder) -> None:
    folder.given('new\nline "q" 😀.csv', "a\n1\n2,3\n")

    assert folder.warnings() == 'new\nline "q" 😀.csv: record 3 has 2 fields instead of 1.'


def test_partitions_are_found_in_sorted_order(folder: Folder) -> None:
    for name in ("y=2024/k=b/1.csv", "y=2024/k=a%2Fb/1.csv", "y=2024/k=a%2Fb/deep/2.csv", "y=2024/_x/k=c/1.csv"):
        folder.given(name, "v\n1\n")

    found = partitions_of(list_files(LOCAL, str(folder.path)))

    assert [partition.values for partition in found] == [{"y": "2024", "k": "a/b"}, {"y": "2024", "k": "b"}]
    assert found[0].path == f"{folder.path}/y=2024/k=a%2Fb"


def test_partition_columns_come_last_and_follow_the_rules_for_text(folder: Folder) -> None:
    for year, month, day in [("2023", "01", "2023-01-01"), ("2024", "12", "__HIVE_DEFAULT_PARTITION__")]:
        folder.given(f"year={year}/month={month}/day={day}/a.csv", "v\n1\n")

    assert folder.types() == {"v": "int64", "year": "int64", "month": "string", "day": "date32[day]"}
    assert list(folder.infer().partition_keys) == ["year", "month", "day"]


def test_a_partition_column_in_the_path_wins_over_one_in_the_file(folder: Folder) -> None:
    folder.given("k=1/a.csv", "k,v\nx,1\n")

    assert folder.types() == {"v": "int64", "k": "int64"}
    assert folder.warnings() == 'Column "k" is string in the files and int64 by the folders\' names: the folders win.'


def test_files_that_disagree_on_partition_keys_are_reported(folder: Folder) -> None:
    folder.given("k=1/a.csv", "v\n1\n")
    folder.given("b.csv", "v\n1\n")

    assert folder.warnings() == "b.csv: no folder of its path says k, as those of other files do."


def test_an_unknown_format_is_refused_with_the_known_ones(folder: Folder) -> None:
    folder.given("a.csv", "v\n1\n")

    with pytest.raises(BadInput, match='"excel" is not a format'):
        folder.infer(input_format="excel")


def test_a_format_can_be_given(folder: Folder) -> None:
    folder.given("a.csv", "a,b\tc\n1,2\t3\n")

    assert folder.types(input_format="tsv") == {"a,b": "string", "c": "int64"}


def test_a_link_that_leads_out_of_the_folders_that_may_be_used_is_refused(tmp_path: Path) -> None:
    for folder in ("inside/data", "inside/other", "outside"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.csv").write_text("a\n")
    data = tmp_path / "inside" / "data"
    (data / "more").symlink_to(tmp_path / "inside" / "other")
    confined = open_filesystem(confine_address([str(tmp_path / "inside")]))
    assert [each.name for each in list_files(confined, str(data))] == ["a.csv", "more/a.csv"]

    for place in ("outside", "outside/a.csv"):
        (data / "link").symlink_to(tmp_path / place)
        with pytest.raises(BadPath, match="is outside of the folders that may be used"):
            list_files(confined, str(data))
        assert len(list_files(LOCAL, str(data))) == 3
        (data / "link").unlink()
