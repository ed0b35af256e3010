"""Tables on an object store that were damaged, and outputs that would damage them."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

import mason
from mason.clients.s3.storage import S3StorageClient
from mason.configurations.saved import read_configurations, save_configurations
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, UnreadableFile
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.pipeline.jobs.merge.job import MergeJob
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.storage.address import open_objects
from mason.pipeline.tables import object_lease
from mason.pipeline.tables.catalog_entries import read_entries
from mason.pipeline.tables.commit import DamagedRecord, open_table
from mason.pipeline.tables.object_lease import Lease
from mason.pipeline.tables.room import room_of
from mason.pipeline.tables.versions import list_versions
from mason.state.home import open_state
from mason.testing import Place
from mason.util.environment import MasonEnvironment
from tests.conftest import EXAMPLES, write
from tests.s3.test_versions import Table
from tests.seaweed import Seaweed


@pytest.fixture
def table(seaweed: Seaweed, bucket: str) -> Table:
    storage = S3StorageClient(seaweed.configuration())
    return Table(Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}")), storage.address())


@pytest.mark.parametrize("content", [b"", b"<!doctype html>", b"{}", b"\xff", b'{"id": 1'])
def test_a_damaged_commit_record_is_named_with_what_to_do(table: Table, content: bytes) -> None:
    store, record = open_objects(table.storage), f"{room_of(table.path)}/commits/00000003.commit"
    found = store.read(record)
    assert found is not None
    assert store.rewrite(record, content, found[1])

    for read in (
        lambda: table.rows(),
        lambda: list_versions(Location(table.path, table.storage)),
        lambda: table.merge("id\n7\n"),
    ):
        with pytest.raises(DamagedRecord, match=r"commits/00000003\.commit is damaged \(.+Restore it from a backup"):
            read()

    store.delete([record])  # as the message advises
    assert table.rows() == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"job": "x", "state": "writing", "number": "1"}'])
def test_a_damaged_lease_is_named_with_what_to_do(
    table: Table, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, lease = open_objects(table.storage), f"{room_of(table.path)}/leases/gone.lease"
    assert store.write_new(lease, content)
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)

    with pytest.raises(
        UnreadableFile, match=r"leases/gone\.lease: is not the lease of a job, .+ Delete it once no job"
    ):
        table.merge("id\n7\n")
    with pytest.raises(UnreadableFile, match=r"leases/gone\.lease: is not the lease of a job"):
        Lease(store, lease, "gone").take_over()
    assert table.rows() == [9]

    store.delete([lease])  # as the message advises
    table.merge("id\n7\n")
    assert table.rows() == [7]


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"catalog": 1}'])
def test_what_is_damaged_of_the_catalogs_of_a_table_is_named_with_what_to_do(table: Table, content: bytes) -> None:
    store, place = open_objects(table.storage), f"{room_of(table.path)}/catalogs/x.entry"
    assert store.write_new(place, content)

    with pytest.raises(UnreadableFile, match=r"catalogs/x\.entry: does not say which catalog shows .+ Delete it, and"):
        read_entries(store, table.path)
    assert table.rows() == [9]


@pytest.mark.parametrize(
    ("place", "told"),
    [("_mason/commits", "Mason's own"), ("_mason/data/x", "Mason's own"), ("inside", "it lies in the table")],
)
def test_no_table_is_written_into_another(table: Table, place: str, told: str) -> None:
    before = open_table(Location(table.path, table.storage)).current()
    source = table.path.removesuffix("/out") + "/in"

    with pytest.raises(BadPath, match=told):
        MergeWork.plan(
            MergeJob(Location(source, table.storage), Location(f"{table.path}/{place}", table.storage)).to_job()
        )

    assert open_table(Location(table.path, table.storage)).current() == before


def test_a_page_about_a_table_on_s3_is_a_file_here_and_takes_nobodys_place(
    table: Table, seaweed: Seaweed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = "\n".join(f"      {name}: {value}" for name, value in seaweed.configuration().items())
    engines = "metastore_engine: s3\nstorage_engine: s3\nexecution_engine: local\n"
    text = f"id: store\n{engines}clients:\n  s3:\n    configuration:\n{given}\n"
    folder = write(tmp_path / "work", {"store.yaml": text, "notes.txt": "mine"})
    env = MasonEnvironment(tmp_path / "home")
    save_configurations(env, read_configurations(folder / "store.yaml").valid)
    register(env, open_state(env), read_definitions(EXAMPLES / "operators" / "table", [OPERATORS]).valid, replace=False)
    monkeypatch.setenv("MASON_HOME", str(env.home))
    monkeypatch.chdir(folder)
    m, asked = mason.connect(config="store"), {"path": f"s3://{table.path}"}

    with pytest.raises(Conflict, match=r"notes\.txt exists, and Mason did not write it"):
        m.operator("table", "summarize", asked, html="notes.txt")
    with pytest.raises(BadPath, match="is not a file on this machine"):
        m.operator("table", "summarize", asked, html=f"s3://{table.path}/page.html")
    for _ in range(2):
        m.operator("table", "summarize", asked, html="page.html")

    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "page.html").is_file()
