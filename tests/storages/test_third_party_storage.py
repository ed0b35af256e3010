"""A storage that another package brings: merges, appends, kills and queries on it work as on Mason's own.

It keeps files below `shelf://`, with conditional writes and without any exchange of folders. Nothing in Mason knows it.
"""

from __future__ import annotations

import ast
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
import yaml

from mason.pipeline.storage.abilities import Abilities
from mason.pipeline.storage.address import StorageAddress, abilities_of, abilities_of_files
from tests.cli.support import errors, install_package, strict_json
from tests.conftest import PROJECT, Mason, write

SHELF = Path(__file__).parent / "shelf"
OLD, NEW = "n,name\n1,a\n2,b\n", "n,name\n1,c\n2,d\n3,e\n"


class Shop:
    """A user with a shelf beside the disk."""

    def __init__(self, mason: Mason, execution: str = "local") -> None:
        files = {each.name: each.read_text(encoding="utf-8") for each in SHELF.iterdir() if each.is_file()}
        install_package(mason, "shelf", "mason.clients", {"shelf": "shelf"}, files)
        self.mason, self.root = mason, mason.folder / "kept"
        self.root.mkdir()
        roles = {"metastore_engine": "local", "execution_engine": execution, "scheduler_engine": "local"}
        clients = {"shelf": {"configuration": {"root": str(self.root)}}}
        document = {"id": "shop", **roles, "storage_engine": ["local", "shelf"], "clients": clients}
        write(mason.folder, {"shop.yaml": yaml.safe_dump(document), "old/a.csv": OLD, "new/a.csv": NEW})
        assert mason("config", "shop.yaml").exit_code == 0
        mason.register_examples()

    def run(self, command: str, *parameters: str, variables: dict[str, str] | None = None) -> Any:
        given = [part for each in parameters for part in ("-p", each)]
        return self.mason("operator", "table", command, *given, variables=variables)

    def must(self, command: str, *parameters: str) -> dict[str, Any]:
        done = self.run(command, *parameters)
        assert done.exit_code == 0, done.stdout + done.stderr
        return strict_json(done)

    def merge(self, source: str, *more: str, variables: dict[str, str] | None = None) -> Any:
        return self.run("merge", f"input_path:{source}", "output_path:shelf://room/t", *more, variables=variables)

    def rows(self, table: str = "shelf://room/t") -> list[str]:
        """What a reader of Mason's sees."""
        found = self.must("preview", f"path:{table}", "limit:100")["Data"][0]["Rows"]
        return sorted(f"{each['n']}{each['name']}" for each in found)

    def shown(self) -> int:
        """How many rows somebody sees who only lists the files."""
        files = (self.root / "room" / "t").glob("*.parquet")
        return sum(pq.read_metadata(file).num_rows for file in files)


@pytest.fixture
def shop(mason: Mason) -> Shop:
    return Shop(mason)


def test_files_of_the_disk_become_a_table_on_it_and_come_back(shop: Shop) -> None:
    assert shop.merge("old").exit_code == 0
    assert shop.rows() == ["1a", "2b"] and shop.shown() == 2

    shop.must("merge", "input_path:shelf://room/t", "output_path:back")

    assert sum(pq.read_metadata(each).num_rows for each in (shop.mason.folder / "back").glob("*.parquet")) == 2


def test_versions_are_added_to_gone_back_to_and_removed(shop: Shop) -> None:
    assert shop.merge("old").exit_code == 0
    assert shop.merge("new", "mode:append").exit_code == 0
    assert shop.rows() == ["1a", "1c", "2b", "2d", "3e"]

    versions = shop.must("history", "path:shelf://room/t")["Data"]
    shop.must("rollback", "path:shelf://room/t", "to:1")
    assert [len(versions), *shop.rows()] == [2, "1a", "2b"]

    shop.must("vacuum", "path:shelf://room/t", "keep:0", "older_than_days:0")
    assert shop.rows() == ["1a", "2b"] and shop.shown() == 2


@pytest.mark.parametrize("command", ["dedupe", "summarize", "format", "explode", "check", "diff"])
def test_every_operator_reads_it(shop: Shop, command: str) -> None:
    assert shop.merge("old").exit_code == 0
    more = {
        "dedupe": ["keys:name", "output_path:shelf://room/once"],
        "format": ["format:csv", "output_path:shelf://room/csv"],
        "explode": ["output_path:flat"],
        "check": ["checks:not_null n"],
        "diff": ["other_path:old"],
    }

    shop.must(command, "path:shelf://room/t", *more.get(command, []))


def test_a_query_is_written_to_it(shop: Shop) -> None:
    write(shop.mason.folder, {"db/orders/a.csv": OLD})

    shop.must("query", "database_name:db", "query_string:select * from orders", "output_path:shelf://room/answer")

    assert shop.rows("shelf://room/answer") == ["1a", "2b"]


def test_a_merge_on_spark_writes_to_it(mason: Mason) -> None:
    shop = Shop(mason, execution="spark")

    assert shop.merge("old").exit_code == 0

    assert shop.rows() == ["1a", "2b"]


def test_a_kill_at_any_write_leaves_the_old_table_or_the_new_one(shop: Shop) -> None:
    assert shop.merge("old").exit_code == 0
    old, new = ["1a", "2b"], ["1c", "2d", "3e"]
    outcomes: list[list[str]] = []
    for number in range(1, 60):
        done = shop.merge("new", variables={"SHELF_KILL_AT": str(number)})
        if done.exit_code == 0:
            break
        assert done.exit_code == -signal.SIGKILL, done.stdout + done.stderr
        outcomes.append(shop.rows())
        assert outcomes[-1] in (old, new), f"killed at write {number}: {outcomes[-1]}"
        shop.run("rollback", "path:shelf://room/t", "to:1")

    assert len(outcomes) > 3 and old in outcomes and new in outcomes, "it was killed before and after the commit"
    assert shop.merge("new").exit_code == 0
    assert shop.rows() == new and shop.shown() == 3


def test_a_path_whose_scheme_no_storage_serves_names_those_there_are(shop: Shop) -> None:
    [told] = errors(shop.mason, "table", "merge", "-p", "input_path:old,output_path:drawer://room/t")

    assert "serves drawer:// paths (drawer://room/t)" in told and "local, shelf" in told


def test_an_input_that_is_not_there_is_named_with_its_scheme(shop: Shop) -> None:
    [told] = errors(shop.mason, "table", "merge", "-p", "input_path:shelf://room/none,output_path:out")

    assert "shelf://room/none" in told


def test_every_storage_has_the_whole_contract_of_an_address() -> None:
    asked = {name for name, each in vars(StorageAddress).items() if inspect.isfunction(each) and name[0] != "_"}
    disks = PROJECT / "mason" / "pipeline" / "storage" / "disks.py"
    modules = [*PROJECT.glob("mason/clients/*/address.py"), SHELF / "address.py", disks]

    for module in modules:
        defined = {
            each.name
            for each in ast.parse(module.read_text(encoding="utf-8")).body
            if isinstance(each, ast.FunctionDef)
        }
        assert asked <= defined, f"{module} lacks {sorted(asked - defined)}"
    assert len(modules) > 1 and "explain_error" in asked


def test_what_a_storage_can_do_is_what_its_client_declares() -> None:
    disks, store = abilities_of("file:///?root=%2Fsrv"), abilities_of("s3://?region=eu-central-1")

    assert disks.exchanges_folders and disks.opens_paths and not disks.has_conditions
    assert store == Abilities() and store.has_conditions and not store.exchanges_folders
    assert abilities_of_files(pafs.LocalFileSystem()) == disks


SUITE = """
from uuid import uuid4

import pytest
from shelf import address
from shelf.storage import ShelfStorageClient

from mason.pipeline.storage.address import abilities_of_files
from mason.testing import StorageContract


class TestShelf(StorageContract):
    @pytest.fixture
    def client(self, tmp_path):
        return ShelfStorageClient({"root": str(tmp_path)})

    @pytest.fixture
    def base_path(self):
        return f"shelf://room/{uuid4().hex}"

    def test_its_file_system_can_do_what_it_declares(self, client):
        assert abilities_of_files(client.filesystem()) == address.ABILITIES
"""


def test_it_passes_the_suite_of_storages(shop: Shop) -> None:
    write(shop.mason.folder, {"suite/test_shelf.py": SUITE})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "suite"]

    done = subprocess.run(
        command,
        cwd=shop.mason.folder,
        env={**os.environ, **shop.mason.variables},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr


def test_a_storage_that_exchanges_folders_declares_what_that_needs() -> None:
    with pytest.raises(ValueError, match="has_folders, creates_and_renames and opens_paths as well"):
        Abilities(exchanges_folders=True)


def test_a_storage_that_can_commit_nothing_is_read_and_not_written_to(shop: Shop) -> None:
    assert shop.merge("old").exit_code == 0
    address = shop.mason.folder.parent / "site" / "shelf" / "address.py"
    address.write_text(address.read_text().replace("has_conditions=True", "has_conditions=False"))

    [told] = errors(shop.mason, "table", "merge", "-p", "input_path:new,output_path:shelf://room/t", "--plan")

    assert "No table can be written to shelf://room/t" in told and "Write it to another storage." in told
    shop.must("merge", "input_path:shelf://room/t", "output_path:back")
