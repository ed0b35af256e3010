"""Files that Mason writes beside tables, a page or an export: they take nobody's place, and are no part of a table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from mason.connection.connection import Connection
from mason.errors import BadInput, Conflict, MasonError, Unprocessable
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from tests.conftest import Mason, write

JANUARY = "id,city\n1,Ulm\n2,Bonn\n"
Write = Callable[..., None]


class Shop:
    """A folder of its own with a table of plain files, one that Mason has made, and one with a record in quarantine."""

    def __init__(self, m: Connection, root: Path) -> None:
        self.m, self.name = m, f"t{uuid4().hex[:8]}"
        self.folder = write(
            root / self.name,
            {"orders/january.csv": JANUARY, "notes.txt": "mine", "bad/a.csv": "id,n\n1,2\n2,3,4\n3,4\n"},
        )
        self.merge("orders", "made")
        self.merge("bad", "made_bad")

    def path(self, text: str) -> str:
        return f"{self.name}/{text}"

    def merge(self, source: str, output: str) -> None:
        asked = {"input_path": self.path(source), "output_path": self.path(output), "most_bad_share": 1}
        self.m.operator("table", "merge", asked)

    def page(self, html: str, **more: object) -> None:
        self.m.operator("table", "summarize", path=self.path("orders"), html=self.folder / html, **more)

    def export(self, file: str, **more: object) -> None:
        asked = {"path": self.path("made_bad"), "action": "export", "file": self.folder / file}
        self.m.operator("table", "quarantine", asked, **more)

    def snapshot(self) -> dict[str, bytes]:
        files = (each for each in self.folder.rglob("*") if each.is_file() and each.name != "lock")
        return {str(each.relative_to(self.folder)): each.read_bytes() for each in files}


@pytest.fixture
def shop(m: Connection, home: Mason) -> Shop:
    return Shop(m, home.folder / "data")


@pytest.fixture(params=["page", "export"])
def writes(request: pytest.FixtureRequest, shop: Shop) -> Write:
    """Each operator that writes such a file."""
    found: Write = getattr(shop, request.param)
    return found


def test_a_file_that_mason_did_not_write_is_not_replaced(shop: Shop, writes: Write) -> None:
    before = shop.snapshot()

    with pytest.raises(Conflict, match=r"notes\.txt exists, and Mason did not write it, or it .*overwrite:true"):
        writes("notes.txt")

    assert shop.snapshot() == before


def test_a_file_that_mason_wrote_is_replaced_and_one_that_was_edited_since_is_not(shop: Shop, writes: Write) -> None:
    file = shop.folder / "report.csv"
    writes("report.csv")
    write(shop.folder, {"orders/february.csv": "id,city\n3,Hof\n"})
    writes("report.csv")

    edited = file.read_bytes() + b"mended by hand\n"
    file.write_bytes(edited)
    with pytest.raises(Conflict, match="Mason did not write it, or it was changed since"):
        writes("report.csv")

    assert file.read_bytes() == edited


def test_overwrite_replaces_a_plain_file_and_nothing_else(shop: Shop, writes: Write) -> None:
    (shop.folder / "folder.html").mkdir()
    (shop.folder / "link.html").symlink_to(shop.folder / "notes.txt")
    os.mkfifo(shop.folder / "pipe.html")
    before = shop.snapshot()
    for name, told in {"folder.html": "a folder", "link.html": "a link", "pipe.html": "no plain file"}.items():
        with pytest.raises(BadInput, match=f"cannot be written: it is {told}"):
            writes(name, overwrite=True)
    assert shop.snapshot() == before

    writes("notes.txt", overwrite=True)
    assert (shop.folder / "notes.txt").read_text() != "mine"
    writes("notes.txt")


def test_the_files_of_a_table_are_out_of_reach_though_overwrite_is_said(shop: Shop, writes: Write) -> None:
    (part,) = (shop.folder / "made").glob("*.parquet")
    write(shop.folder, {"delta/_delta_log/00000.json": "{}", "ice/metadata/1.metadata.json": "{}"})
    write(shop.folder, {"parts/year=2026/a.csv": JANUARY})
    (shop.folder / "elsewhere").symlink_to(shop.folder / "made")
    before = shop.snapshot()
    for name in (
        "orders/january.csv",
        "orders/new.html",
        "made/new.html",
        "elsewhere/new.html",
        "delta/new.html",
        "ice/data/new.html",
        "parts/new.html",
        "parts/year=2026/new.html",
        f"made/{part.name}",
    ):
        with pytest.raises(BadInput, match="would lie in the table"):
            writes(name, overwrite=True)
    assert shop.snapshot() == before


def test_a_hidden_name_and_what_is_masons_own_are_never_written(shop: Shop, writes: Write) -> None:
    (record,) = (shop.folder / ".mason/tables/made/commits").iterdir()
    for folder in (".ssh", "_x", ".hidden"):
        (shop.folder / folder).mkdir()
    (shop.folder / "to_hidden").symlink_to(shop.folder / ".hidden")
    before = shop.snapshot()
    for name in (
        f".mason/tables/made/commits/{record.name}",
        "made/.mason/x",
        ".mason/orders.json",
        ".env",
        ".ssh/authorized_keys",
        "_x/page.html",
        "_page.html",
        "to_hidden/page.html",
    ):
        with pytest.raises(BadInput, match=r"begins? with a dot"):
            writes(name, overwrite=True)
    assert shop.snapshot() == before


def test_such_a_file_is_written_on_the_machine_that_runs_it_and_not_to_a_storage(shop: Shop) -> None:
    with pytest.raises(BadInput, match='"s3://bucket/page.html" is not a file on this machine'):
        shop.m.operator("table", "summarize", path=shop.path("orders"), html="s3://bucket/page.html")

    shop.m.operator("table", "summarize", path=shop.path("orders"), html=f"file://{shop.folder}/page.html")
    assert (shop.folder / "page.html").is_file()


def test_a_plan_says_that_the_page_would_be_refused(shop: Shop) -> None:
    with pytest.raises(Conflict, match="Mason did not write it, or it was changed since"):
        shop.page("notes.txt", plan=True)


def test_exports_lie_beside_each_other_in_a_folder_of_their_own(shop: Shop) -> None:
    for name in ("mend/first.csv", "mend/second.csv", "mend/first.csv"):
        shop.export(name)


def test_a_write_that_was_cut_short_leaves_a_file_that_is_known(shop: Shop, home: Mason) -> None:
    """The digest is kept before the file is replaced: killed in between, the old file is still Mason's."""
    shop.page("page.html")
    store = open_state(MasonEnvironment(home.home))
    record = store.get_record(RecordKind.FILE, str(shop.folder / "page.html"))
    assert record is not None
    old = {name: record.document[name] for name in ("Digest", "Bytes")}
    store.update_record(record, record.status, {"Digest": "0" * 64, "Bytes": 1, "Before": old})

    shop.page("page.html")


def test_those_who_write_one_page_at_once_leave_one_that_is_known(shop: Shop) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: shop.page("page.html", histogram=number), range(4)))

    shop.page("page.html")


@pytest.mark.parametrize(
    ("command", "word", "more"),
    [
        ("merge", "output_path", {"input_path": "{}/orders"}),
        ("format", "output_path", {"path": "{}/orders", "format": "csv"}),
        ("dedupe", "output_path", {"path": "{}/orders", "keys": ["id"]}),
        ("dedupe", "removed_path", {"path": "{}/orders", "keys": ["id"], "output_path": "{}/fine"}),
        ("check", "failures_path", {"path": "{}/orders", "checks": ["not_null city"]}),
        ("summarize", "output_path", {"path": "{}/orders"}),
        ("explode", "output_path", {"path": "{}/orders"}),
        ("query", "output_path", {"database_name": "{}", "query_string": "select * from orders"}),
    ],
)
def test_no_table_is_written_into_another_or_among_masons_own_files(
    shop: Shop, command: str, word: str, more: dict[str, object]
) -> None:
    shop.merge("orders", "made")
    (kept,) = (shop.folder / ".mason/tables/made/kept").iterdir()
    asked = {name: each.format(shop.name) if isinstance(each, str) else each for name, each in more.items()}
    before = shop.snapshot()
    for place, told in {
        ".mason/tables/made/commits": "is Mason's own|is a hidden name",
        f".mason/tables/made/kept/{kept.name}": "is Mason's own|is a hidden name",
        "made/_mason/commits": "is Mason's own",
        ".mason": "is Mason's own|is a hidden name",
        "made/inside": "it lies in the table",
    }.items():
        with pytest.raises(BadInput, match=told):
            shop.m.operator("table", command, asked, {word: shop.path(place)})
    assert shop.snapshot() == before


@pytest.mark.parametrize(
    "content", [b"", b"<!doctype html>", b"[]", b"{}", b"null", b'{"id": 1', b"\xff\xfe", b"[" * 100_000]
)
def test_a_damaged_commit_record_is_named_with_what_to_do(shop: Shop, content: bytes) -> None:
    (record,) = (shop.folder / ".mason/tables/made/commits").iterdir()
    record.write_bytes(content)
    made = {"path": shop.path("made")}
    for command, asked in {
        "summarize": made,
        "history": made,
        "preview": made,
        "merge": {"input_path": shop.path("orders"), "output_path": shop.path("made")},
        "format": {**made, "format": "csv", "output_path": shop.path("out")},
        "diff": {**made, "other_path": shop.path("orders"), "keys": ["id"]},
    }.items():
        with pytest.raises(Unprocessable) as failed:
            shop.m.operator("table", command, asked)
        assert f".mason/tables/made/commits/{record.name} is damaged (" in str(failed.value)
        assert "Restore it from a backup. Without one, move " in str(failed.value)
        assert ".mason/tables/made away: the data files" in str(failed.value)

    (shop.folder / ".mason/tables/made").rename(shop.folder / "aside")
    assert shop.m.operator("table", "summarize", made).data[0]["Rows"] == 2


def test_a_table_that_was_saved_is_shown_with_a_warning_where_its_commit_record_is_damaged(shop: Shop) -> None:
    shop.m.operator("table", "infer", database_name="shop", table_name="saved", storage_path=shop.path("made"))
    whole = shop.m.operator("table", "get", database_name="shop", table_name="saved")
    (record,) = (shop.folder / ".mason/tables/made/commits").iterdir()
    record.write_bytes(b'{"id": 1')

    damaged = shop.m.operator("table", "get", database_name="shop", table_name="saved")

    assert not whole.warnings
    assert damaged.data == whole.data
    (warning,) = damaged.warnings
    assert warning.startswith("The rows of the table cannot be read: ")
    assert f"made/commits/{record.name} is damaged (it is not JSON)" in warning


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("files", 1),
        ("files", [{"path": 3, "rows": 1, "bytes": 1}]),
        ("schema", "AAAA"),
        ("number", "1"),
        ("details", 3),
    ],
)
def test_a_commit_record_with_a_field_of_another_kind_is_damaged(shop: Shop, field: str, value: object) -> None:
    (record,) = (shop.folder / ".mason/tables/made/commits").iterdir()
    record.write_text(json.dumps({**json.loads(record.read_bytes()), field: value}))

    with pytest.raises(MasonError, match=rf"{record.name} is damaged \(a field"):
        shop.m.operator("table", "summarize", path=shop.path("made"))


@pytest.mark.parametrize("content", [b"<!doctype html>\n", b"[]\n", b"{}\n", b'{"Id": 1', b"\xff"])
def test_a_damaged_quarantine_is_named_with_what_to_do(shop: Shop, content: bytes) -> None:
    (file,) = (shop.folder / ".mason/tables/made_bad/quarantine").glob("*/*")
    file.write_bytes(content)

    with pytest.raises(
        Unprocessable, match=rf"{file.name}.* line 1 is not a record of the quarantine.*Restore the file"
    ):
        shop.m.operator("table", "quarantine", path=shop.path("made_bad"))
