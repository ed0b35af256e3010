"""Zip archives as inputs: each member is a file of the merge, and what is odd about an archive is refused by name."""

from __future__ import annotations

import io
import random
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import UnreadableFile
from mason.pipeline.reading.inference import infer
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.view import view_table
from mason.pipeline.storage import archives
from tests.merge.conftest import LOCAL, Merge
from tests.merge.test_sheets import workbook

MAY = "id,name\n1,Ann\n2,Bob\n"
JUNE = "name,id\nEve,3\n"


def zipped(members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def parquet(rows: Mapping[str, list[Any]]) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table(dict(rows)), content)
    return content.getvalue()


def orc(rows: Mapping[str, list[Any]]) -> bytes:
    content = io.BytesIO()
    pyarrow.orc.write_table(pa.table(dict(rows)), content)
    return content.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_each_member_is_a_file_of_the_merge(merge: Merge, method: int) -> None:
    merge.given("2024.zip", zipped({"may.csv": MAY, "more/june.csv": JUNE, "__MACOSX/._may.csv": b"\x00\x05"}, method))
    merge.given("july.csv", "id,name\n4,Ida\n")

    result = merge.run()

    assert (result.rows_in, result.rows_out) == (4, 4)
    assert sorted(merge.table().to_pylist(), key=lambda row: row["id"]) == [
        {"id": 1, "name": "Ann"},
        {"id": 2, "name": "Bob"},
        {"id": 3, "name": "Eve"},
        {"id": 4, "name": "Ida"},
    ]
    (reading,) = result.plan.to_dict()["Readings"]
    assert reading["Files"] == ["2024.zip/may.csv", "2024.zip/more/june.csv", "july.csv"]


def test_members_of_every_format_are_read(merge: Merge) -> None:
    rows = {"id": [1], "name": ["Ann"]}
    content = {
        "a.csv": "id,name\n1,Ann\n",
        "b.json": '[{"id": 1, "name": "Ann"}]',
        "c.jsonl": '{"id": 1, "name": "Ann"}\n',
        "d.parquet": parquet(rows),
        "e.orc": orc(rows),
        "f.msgpack": b"\x82\xa2id\x01\xa4name\xa3Ann",
        "g.csv": "id,name\n1,Jürgen\n".encode("cp1252"),
    }
    merge.given("all.ZIP", zipped(content))

    assert merge.rows() == [{"id": 1, "name": "Ann"}] * 6 + [{"id": 1, "name": "Jürgen"}]


def test_the_archive_alone_may_be_the_input(merge: Merge) -> None:
    file = merge.given("2024.zip", zipped({"may.csv": MAY}))

    merge.run_plan(merge.plan(inputs=file))

    assert merge.table()["id"].to_pylist() == [1, 2]


def test_folders_inside_and_outside_are_partitions(merge: Merge) -> None:
    merge.given("year=2024/a=b.zip", zipped({"month=5/may.csv": MAY}))

    assert merge.rows()[0] == {"id": 1, "name": "Ann", "year": 2024, "month": 5}


def test_infer_and_preview_read_members_too(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.zip").write_bytes(zipped({"x.parquet": parquet({"id": [1, 2]})}))

    found = infer(LOCAL, str(tmp_path / "t"), InferOptions())
    view = view_table(Location(str(tmp_path / "t")))

    assert [(each.name, str(each.type)) for each in found.schema.columns] == [("id", "int64")]
    assert preview_table(LOCAL, view, 5).rows == [{"id": 1}, {"id": 2}]
    assert len(preview_table(LOCAL, view, 1, at_random=True).rows) == 1


def test_a_bad_record_of_a_member_is_set_aside_by_its_name(merge: Merge) -> None:
    merge.given("2024.zip", zipped({"may.csv": MAY + "3,x,y\n" + "4,z\n" * 20}))

    merge.run()

    assert [(each.file, each.record, each.raw) for each in merge.rejects()] == [("2024.zip/may.csv", 4, "3,x,y")]


def test_only_new_archives_are_merged_by_an_incremental_merge(merge: Merge) -> None:
    merge.given("a.zip", zipped({"may.csv": MAY}))
    merge.run(incremental=True)
    merge.given("b.zip", zipped({"may.csv": "id,name\n9,New\n"}))

    merge.run(incremental=True)

    assert sorted(merge.table()["id"].to_pylist()) == [1, 2, 9]


def test_an_archive_that_changes_after_the_plan_is_not_read(merge: Merge) -> None:
    merge.given("a.zip", zipped({"may.csv": MAY}))
    plan = merge.plan()
    merge.given("a.zip", zipped({"may.csv": MAY + "3,Eve\n"}))

    with pytest.raises(UnreadableFile, match=r"a\.zip/may\.csv: it was changed after the plan was made"):
        merge.run_plan(plan)


def _encrypted() -> bytes:
    content = bytearray(zipped({"a.csv": MAY}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def _with_link() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        link = zipfile.ZipInfo("a.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return content.getvalue()


def _of_method(number: int) -> bytes:
    content = bytearray(zipped({"a.csv": MAY}))
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        content[content.index(mark) + place] = number
    return bytes(content)


def _overlapping() -> bytes:
    """Both entries of the list of members lead to the first member."""
    content = bytearray(zipped({"a.csv": MAY, "b.csv": MAY}))
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 42 : entry + 46] = (0).to_bytes(4, "little")
    return bytes(content)


def _twice() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.csv", MAY)
        archive.writestr("a.csv", JUNE)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (_encrypted(), 'its member "a.csv" is encrypted'),
        (zipped({"b.zip": zipped({"a.csv": MAY})}), 'its member "b.zip" is an archive itself'),
        (zipped({"../../a.csv": MAY}), "its member '../../a.csv' has a name that no file has"),
        (zipped({"/etc/a.csv": MAY}), "its member '/etc/a.csv' has a name"),
        (zipped({"x\\a.csv": MAY}), "its member 'x\\\\a.csv' has a name"),
        (zipped({"C:a.csv": MAY}), "its member 'C:a.csv' has a name"),
        (zipped({"x//a.csv": MAY}), "its member 'x//a.csv' has a name"),
        (_with_link(), 'its member "a.csv" is a link'),
        (_of_method(9), 'its member "a.csv" is packed by method 9, which is not read'),
        (_overlapping(), "have bytes in common"),
        (_twice(), 'it has more than one member "a.csv"'),
        (b"PK\x03\x04nothing", "it is not a zip archive, or a broken one"),
        (zipped({"a.csv": MAY})[:-30], "it is not a zip archive, or a broken one"),
        (b"", "it is not a zip archive, or a broken one"),
    ],
    ids=lambda value: "content" if isinstance(value, bytes) else None,  # a zip holds the time of its making
)
def test_an_archive_that_is_odd_is_refused_by_name(merge: Merge, content: bytes, said: str) -> None:
    merge.given("a.zip", content)
    merge.given("b.csv", MAY)

    with pytest.raises(PlanRefused) as refused:
        merge.plan()
    found = infer(LOCAL, str(merge.root / "in"), InferOptions())

    assert f"a.zip: {said}" in str(refused.value) or (
        str(refused.value).startswith("a.zip: ") and said in str(refused.value)
    )
    assert any(each.startswith("a.zip: ") for each in found.warnings)


def test_an_archive_that_unpacks_to_far_too_much_is_refused(merge: Merge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_UNPACKED", 1_000_000)
    merge.given("a.zip", zipped({"a.csv": b"id\n" + b"1\n" * 2_000_000}))

    with pytest.raises(PlanRefused, match=r"a\.zip: its [0-9,]+ bytes would unpack to 4,000,003"):
        merge.plan()


def test_damage_inside_a_member_is_found_by_its_checksum(merge: Merge) -> None:
    text = "id,name\n" + "".join(f"{number},{random.Random(number).random()}\n" for number in range(20_000))
    content = bytearray(zipped({"a.csv": text}, zipfile.ZIP_STORED))
    content[len(text) - 5] ^= 1  # another digit, which every other check would let pass
    merge.given("a.zip", bytes(content))

    with pytest.raises(UnreadableFile, match=r"a\.zip/a\.csv: the archive is broken: Bad CRC-32"):
        merge.run()


def test_an_archive_without_data_is_told(merge: Merge) -> None:
    merge.given("a.zip", zipped({"notes/": ""}))
    merge.given("b.csv", MAY)

    assert merge.plan().warnings == ["a.zip: there are no data files in it."]


def test_a_stranger_inside_is_left_out_and_told(merge: Merge) -> None:
    merge.given("a.zip", zipped({"README.md": "hello", "may.csv": MAY}))

    result = merge.run()

    assert result.plan.warnings == ["a.zip/README.md: its name is not that of a data file; it is left out."]
    assert result.rows_out == 2


def test_thousands_of_members_are_read_in_no_time(merge: Merge) -> None:
    merge.given("a.zip", zipped({f"{number}.csv": f"id\n{number}\n" for number in range(2_000)}))

    assert sorted(row["id"] for row in merge.rows()) == list(range(2_000))


def test_what_to_do_with_an_archive_in_an_archive_is_said_once(merge: Merge) -> None:
    merge.given("a.zip", zipped({"in.zip": zipped({"a.csv": MAY})}))

    with pytest.raises(PlanRefused) as refused:
        merge.plan()

    assert str(refused.value) == 'a.zip: its member "in.zip" is an archive itself. Unpack it, and merge the files.'


def test_nobody_is_told_to_unpack_a_broken_archive(merge: Merge) -> None:
    merge.given("a.zip", b"PK\x03\x04junk")

    with pytest.raises(PlanRefused) as refused:
        merge.plan()

    assert "it is not a zip archive, or a broken one" in str(refused.value)
    assert "Unpack" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (workbook(One=[["id"], [1]]), "a.csv: it is a workbook of Excel (xlsx), whatever its name says. Name it .xlsx"),
        (zipped({"b.csv": MAY}), "a.csv: it is a zip archive, whatever its name says. Name it .zip."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.csv: it is a workbook that is older than xlsx"),
    ],
    ids=["xlsx", "zip", "xls"],
)
def test_workbooks_and_archives_by_the_name_of_text_are_refused_as_what_they_are(
    merge: Merge, content: bytes, said: str
) -> None:
    merge.given("a.csv", content)

    with pytest.raises(PlanRefused) as refused:
        merge.plan()

    assert said in str(refused.value)


def test_a_workbook_by_another_name_is_read_where_the_format_is_given(merge: Merge) -> None:
    merge.given("a.csv", workbook(One=[["id"], [1]]))

    assert merge.rows(input_format="xlsx") == [{"id": 1}]
