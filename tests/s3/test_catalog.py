"""A table on S3 in Glue's catalog: who reads by the catalog sees the old version or the new one, whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mason.clients.s3.objects import S3Objects
from mason.clients.s3.storage import S3StorageClient
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.errors import ClientFailed, Forbidden, MasonError, PathNotFound
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.operators.runner import OperatorCall, plan_operator, respond, run_operator
from mason.pipeline.tables.object_lease import Lease
from mason.pipeline.tables.room import room_of
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.aws import Moto, forget_user, running_moto
from tests.conftest import EXAMPLES
from tests.glue.proxy import AwsProxy, error, running_aws_proxy
from tests.seaweed import Seaweed


@dataclass
class Lake:
    """Operators with Glue and S3, and somebody else who reads what Glue points to, and knows nothing of Mason."""

    env: MasonEnvironment
    seaweed: Seaweed
    glue: AwsProxy
    plain_glue: Any
    bucket: str

    def run(self, command: str, config: str = "lake", how: Any = run_operator, **parameters: str) -> dict[str, Any]:
        call = OperatorCall(namespace="table", command=command, given=list(parameters.items()), config_id=config)
        told = respond(lambda response: how(self.env, call, response)).to_dict()
        assert told["Errors"] == []
        return told

    def write(self, name: str, content: str) -> str:
        """Write what is to be merged, and return its path."""
        self.seaweed.client().put_object(Bucket=self.bucket, Key=f"in/{name}/a.csv", Body=content.encode())
        return f"s3://{self.bucket}/in/{name}"

    def merge(self, path: str, config: str = "lake", **options: str) -> dict[str, Any]:
        return self.run("merge", config, input_path=path, output_path=self.table, **options)

    @property
    def table(self) -> str:
        return f"s3://{self.bucket}/orders"

    @property
    def objects(self) -> S3Objects:
        return S3StorageClient(self.seaweed.configuration()).objects

    def location(self, name: str = "orders") -> str:
        found = self.plain_glue.get_table(DatabaseName=self.database, Name=name)
        return str(found["Table"]["StorageDescriptor"]["Location"])

    def columns(self, name: str = "orders") -> list[tuple[str, str]]:
        found = self.plain_glue.get_table(DatabaseName=self.database, Name=name)
        return [(each["Name"], each["Type"]) for each in found["Table"]["StorageDescriptor"]["Columns"]]

    @property
    def database(self) -> str:
        return f"db_{self.bucket.replace('-', '_')}"

    def rows(self, location: str = "") -> list[tuple[Any, ...]]:
        """Return all rows below a location, as Athena lists it: what begins with _ or . is left out."""
        bucket, _, prefix = (location or self.location()).removeprefix("s3://").partition("/")
        listed = self.seaweed.client().list_objects_v2(Bucket=bucket, Prefix=prefix)
        names = [each["Key"] for each in listed.get("Contents", ())]
        files = [name for name in names if not any(part[:1] in "_." for part in name[len(prefix) :].split("/"))]
        filesystem = S3StorageClient(self.seaweed.configuration()).filesystem()
        tables = [pq.ParquetFile(f"{bucket}/{name}", filesystem=filesystem).read() for name in files]
        return sorted(tuple(row.values()) for table in tables for row in table.to_pylist())

    def tags(self, location: str) -> list[str]:
        return [row[-1] for row in self.rows(location)]


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        yield server


@pytest.fixture
def lake(
    seaweed: Seaweed, moto: Moto, env: MasonEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lake]:
    forget_user(tmp_path, monkeypatch)
    found = read_definitions(EXAMPLES / "operators" / "table", [OPERATORS])
    register(env, open_state(env), found.valid, replace=True)
    with running_aws_proxy(moto.endpoint) as proxy:
        lake = Lake(env, seaweed, proxy, moto.client("glue"), seaweed.bucket())
        lake.plain_glue.create_database(DatabaseInput={"Name": lake.database})
        glue, s3 = moto.configuration(endpoint=proxy.endpoint), seaweed.configuration()
        told_clients = {"glue": json.dumps(glue), "s3": json.dumps(s3), "local": "{}"}
        for name, metastore in (("lake", "glue"), ("plain", "s3")):
            engines = f"metastore_engine: {metastore}\nstorage_engine: s3\nexecution_engine: local\n"
            clients = [f"  {client}: {{configuration: {told}}}\n" for client, told in told_clients.items()]
            text = f"id: {name}\n{engines}clients:\n{''.join(clients)}"
            read = parse_configuration(text, name=f"{name}.yaml", default_id=name)
            save_configurations(env, [(Path(f"{name}.yaml"), read)])
        yield lake


@pytest.fixture
def orders(lake: Lake) -> Lake:
    """A table of one version, and its entry in the catalog."""
    lake.merge(lake.write("one", "id,note\n1,a\n2,b\n"))
    lake.run("infer", database_name=lake.database, table_name="orders", storage_path=lake.table)
    return lake


def test_a_replace_switches_the_location_and_what_it_was_stays_whole(orders: Lake) -> None:
    before = orders.location()
    assert before.startswith(f"{room_of(orders.table)}/data/")

    done = orders.merge(orders.write("two", "id,note,more\n3,c,x\n"))

    assert orders.location() != before
    assert orders.rows(before) == [(1, "a"), (2, "b")]
    assert orders.rows() == [(3, "c", "x")]
    assert [each for each in done["Info"] if each.endswith("shows it.")] != []
    columns = orders.plain_glue.get_table(DatabaseName=orders.database, Name="orders")["Table"]["StorageDescriptor"]
    assert [each["Name"] for each in columns["Columns"]] == ["id", "note", "more"]


def test_a_commit_stands_though_what_is_known_of_its_catalogs_is_damaged(orders: Lake) -> None:
    before = orders.location()
    folder = f"{room_of(orders.table.removeprefix('s3://'))}/catalogs"
    (damaged,) = [each.path for each in orders.objects.below(folder)]
    orders.objects.write(damaged, b"{")

    done = orders.merge(orders.write("two", "id,note\n3,c\n"))

    (warning,) = done["Warnings"]
    assert warning.startswith("Catalogs may still show the former version of") and damaged in warning
    assert orders.location() == before
    found = orders.run("preview", path=orders.table)
    assert [row["id"] for row in found["Data"][0]["Rows"]] == [3]


def test_mason_calls_the_table_by_its_path(orders: Lake) -> None:
    named = {"database_name": orders.database, "table_name": "orders"}

    assert orders.run("get", **named)["Data"][0]["Path"] == orders.table
    assert orders.run("list", database_name=orders.database)["Data"][0]["Path"] == orders.table
    assert [row["id"] for row in orders.run("preview", **named)["Data"][0]["Rows"]] == [1, 2]


def test_an_append_is_seen_whole(orders: Lake) -> None:
    before = orders.location()

    orders.merge(orders.write("two", "id,note\n3,c\n"), mode="append")

    assert orders.rows(before) == [(1, "a"), (2, "b")]
    assert orders.rows() == [(1, "a"), (2, "b"), (3, "c")]


def test_a_version_without_rows_is_shown_as_such(orders: Lake) -> None:
    def empty(path: str) -> dict[str, Any]:
        return orders.run(
            "query", database_name=orders.database, query_string="SELECT * FROM orders WHERE id < 0", output_path=path
        )

    empty(f"s3://{orders.bucket}/none")
    orders.run("infer", database_name=orders.database, storage_path=f"s3://{orders.bucket}/none", table_name="none")
    assert orders.rows(orders.location("none")) == []

    columns = orders.columns()
    told = empty(orders.table)
    assert told["Warnings"] == []
    assert orders.rows() == []
    assert orders.columns() == orders.columns("none") == columns


def test_a_table_without_rows_has_its_columns_in_a_bucket_too(orders: Lake) -> None:
    named = {"database_name": orders.bucket, "config": "plain"}
    nothing = "SELECT * FROM orders WHERE id < 0"
    orders.run("query", query_string=nothing, output_path=f"s3://{orders.bucket}/none", **named)

    for command, told in (("get", {"table_name": "none"}), ("infer", {"storage_path": f"s3://{orders.bucket}/none"})):
        [found] = orders.run(command, **named, **told)["Data"]
        assert [(each["Name"], each["Type"]) for each in found["Schema"]["Columns"]] == [
            ("id", "int64"),
            ("note", "string"),
        ]


def test_a_rollback_is_shown(orders: Lake) -> None:
    first = orders.location()
    orders.merge(orders.write("two", "id,note\n3,c\n"))
    orders.merge(orders.write("three", "id,note\n4,d\n"), mode="append")

    orders.run("rollback", path=orders.table, to="1")
    assert orders.location() == first

    orders.run("rollback", path=orders.table, to="3")
    assert orders.rows() == [(3, "c"), (4, "d")]


def seen_meanwhile(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[Any, ...]]]:
    """Replace a table, and add to it, and return what a reader sees before each change to the store and to Glue."""
    seen: list[list[tuple[Any, ...]]] = []

    def looking(change: Callable[..., Any]) -> Callable[..., Any]:
        def look_and_change(*arguments: Any) -> Any:
            seen.append(lake.rows())
            return change(*arguments)

        return look_and_change

    with monkeypatch.context() as patch:
        for name in ("copy", "delete", "write_new", "rewrite"):
            patch.setattr(S3Objects, name, looking(getattr(S3Objects, name)))
        lake.glue.says = looking(AwsProxy.says)
        lake.merge(lake.write("two", "id,note\n3,c\n"))
        lake.merge(lake.write("three", "id,note\n4,d\n"), mode="append")
    return seen


VERSIONS = ([(1, "a"), (2, "b")], [(3, "c")], [(3, "c"), (4, "d")])


def test_whoever_reads_meanwhile_sees_one_version_or_the_other(orders: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = seen_meanwhile(orders, monkeypatch)

    assert len(seen) > 10
    assert [rows for rows in seen if rows not in VERSIONS] == []
    assert orders.rows() == VERSIONS[2]


def test_a_reader_of_the_bare_prefix_would_see_two_versions_at_once(
    orders: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lake, "location", lambda self: f"{self.table}/")

    assert [rows for rows in seen_meanwhile(orders, monkeypatch) if rows not in VERSIONS] != []


def test_a_catalog_that_cannot_be_told_shows_the_former_version_until_the_next_job(orders: Lake) -> None:
    before = orders.location()
    denied = error("AccessDeniedException", "Not you.")
    orders.glue.says = lambda operation, request: denied if operation == "UpdateTable" else None

    (warning,) = orders.merge(orders.write("two", "id,note\n3,c\n"))["Warnings"]
    assert "still shows the former version" in warning
    assert orders.location() == before
    assert orders.rows() == [(1, "a"), (2, "b")]

    orders.glue.says = AwsProxy.says
    orders.merge(orders.write("three", "id,note\n4,d\n"), mode="append")
    assert orders.rows() == [(3, "c"), (4, "d")]


def left_behind(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit a version of which the catalog is not told, as if the command had died then, long ago."""
    denied = error("AccessDeniedException", "Not you.")
    lake.glue.says = lambda operation, request: denied if operation == "UpdateTable" else None
    lake.merge(lake.write("two", "id,note\n3,c\n"))
    lake.glue.says = AwsProxy.says
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -1)


BY_NAME = ("get", "partitions", "preview", "history", "summarize")


@pytest.mark.parametrize("command", BY_NAME)
def test_a_catalog_that_a_dead_command_left_behind_is_told_by_the_next_that_touches_the_table(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    left_behind(orders, monkeypatch)
    assert orders.rows() == [(1, "a"), (2, "b")]

    done = orders.run(command, database_name=orders.database, table_name="orders")

    assert orders.rows() == [(3, "c")]
    assert [each for each in done["Info"] if each.endswith("shows it.")] != []


def test_a_query_tells_a_catalog_that_was_left_behind(orders: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(orders, monkeypatch)

    orders.run("query", query_string="SELECT id FROM orders", database_name=orders.database)

    assert orders.rows() == [(3, "c")]


def test_a_young_commit_is_left_to_its_command(orders: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(orders, monkeypatch)
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", 180)

    orders.run("preview", path=orders.table)

    assert orders.rows() == [(1, "a"), (2, "b")]


def test_a_plan_tells_no_catalog(orders: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(orders, monkeypatch)

    orders.run("summarize", how=plan_operator, path=orders.table)

    assert orders.rows() == [(1, "a"), (2, "b")]


def test_a_reader_who_cannot_tell_the_catalog_reads_all_the_same(orders: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    left_behind(orders, monkeypatch)
    denied = error("AccessDeniedException", "Not you.")
    orders.glue.says = lambda operation, request: denied if operation == "UpdateTable" else None

    done = orders.run("preview", path=orders.table)

    assert [row["id"] for row in done["Data"][0]["Rows"]] == [3]
    assert "still shows the former version" in done["Warnings"][0]
    (warning,) = orders.run("preview", "plain", path=orders.table)["Warnings"]
    assert 'no role names "glue"' in warning  # of the configuration, not of the table


@pytest.mark.parametrize(
    ("place", "failure"),
    [
        ("children", Forbidden("access denied")),
        ("children", PathNotFound("s3://gone")),
        ("below", ClientFailed("no answer")),
    ],
)
def test_what_a_catalog_knows_is_told_to_who_cannot_look_at_the_files(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, place: str, failure: MasonError
) -> None:
    left_behind(orders, monkeypatch)

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(S3Objects, place, fail)

    for command in ("get", "partitions"):
        done = orders.run(command, database_name=orders.database, table_name="orders")

        (warning,) = done["Warnings"]
        assert warning.startswith(f"Whether the last commit to {orders.table} was finished cannot be looked up: ")
        assert warning.endswith(str(failure))


READING: dict[str, Callable[[Lake], dict[str, str]]] = {
    "preview": lambda lake: {"path": lake.table},
    "get": lambda lake: {"database_name": lake.bucket, "table_name": "orders"},
    "partitions": lambda lake: {"database_name": lake.bucket, "table_name": "orders"},
    "history": lambda lake: {"path": lake.table},
    "summarize": lambda lake: {"path": lake.table},
    "infer": lambda lake: {"database_name": lake.bucket, "storage_path": lake.table},
    "quarantine": lambda lake: {"action": "show", "path": lake.table},
}


@pytest.mark.parametrize("command", READING)
def test_what_others_see_is_finished_by_the_next_reader(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    prefix = f"{orders.table}/"
    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, "copy", refuse)
        orders.merge(orders.write("two", "id,note\n3,c\n"))
    assert orders.rows(prefix) == [(1, "a"), (2, "b")]
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -1)

    orders.run(command, "plain", **READING[command](orders))

    assert orders.rows(prefix) == [(3, "c")]


@pytest.mark.parametrize("command", READING)
def test_what_a_dead_job_has_written_is_removed_by_the_next_reader(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    path, store = orders.table.removeprefix("s3://"), orders.objects
    left = f"{room_of(path)}/data/dead/part-0.parquet"
    with Lease(store, f"{room_of(path)}/leases/dead.lease", "dead"):
        store.write_new(left, b"half")
    orders.run(command, "plain", **READING[command](orders))
    assert store.read(left) is not None, "its job may live"
    monkeypatch.setattr("mason.pipeline.tables.object_lease.EXPIRY_SECONDS", -1)

    orders.run(command, "plain", **READING[command](orders))

    assert list(store.below(f"{room_of(path)}/data/dead")) == []
    assert list(store.below(f"{room_of(path)}/leases")) == []


def test_a_reader_who_may_not_remove_what_a_dead_job_has_written_reads_all_the_same(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = orders.table.removeprefix("s3://")
    with Lease(orders.objects, f"{room_of(path)}/leases/dead.lease", "dead"):
        pass
    monkeypatch.setattr("mason.pipeline.tables.object_lease.EXPIRY_SECONDS", -1)
    monkeypatch.setattr(S3Objects, "rewrite", refuse)
    caplog.set_level("INFO", "mason.pipeline")

    assert [row["id"] for row in orders.run("preview", path=orders.table)["Data"][0]["Rows"]] == [1, 2]
    assert "What a dead job left at" in caplog.text


def test_a_reader_who_cannot_finish_what_others_see_reads_all_the_same(
    orders: Lake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(S3Objects, "copy", refuse)
    orders.merge(orders.write("two", "id,note\n3,c\n"))
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -1)
    caplog.clear()

    assert [row["id"] for row in orders.run("preview", path=orders.table)["Data"][0]["Rows"]] == [3]
    assert "what others see of it is finished by the next command" in caplog.text


def refuse(*_: object) -> None:
    raise ClientFailed("The store is gone.")


def test_the_tables_of_lists_are_switched_with_what_they_came_from(lake: Lake) -> None:
    explode(lake, '{"id": 1, "tags": ["a", "b"]}')
    child = f"{lake.table}/orders_tags"
    lake.run("infer", database_name=lake.database, table_name="tags", storage_path=child)
    before = lake.location("tags")
    assert lake.tags(before) == ["a", "b"]

    explode(lake, '{"id": 1, "tags": ["c"]}')

    assert lake.location("tags") != before
    assert lake.tags(lake.location("tags")) == ["c"]
    assert lake.tags(before) == ["a", "b"]
    lake.run("vacuum", path=lake.table, keep="0", older_than_days="0")
    assert lake.tags(before) == []
    assert lake.tags(lake.location("tags")) == ["c"]


def test_a_table_of_lists_that_a_dead_command_left_behind_is_finished_by_its_next_reader(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    explode(lake, '{"id": 1, "tags": ["a", "b"]}')
    child = f"{lake.table}/orders_tags"
    lake.run("infer", database_name=lake.database, table_name="tags", storage_path=child)
    with monkeypatch.context() as patch:
        patch.setattr(S3Objects, "copy", refuse)
        explode(lake, '{"id": 1, "tags": ["c"]}')
    assert lake.tags(lake.location("tags")) == ["a", "b"]
    monkeypatch.setattr("mason.pipeline.tables.objects.EXPIRY_SECONDS", -1)

    done = lake.run("preview", database_name=lake.database, table_name="tags")

    assert [row["value"] for row in done["Data"][0]["Rows"]] == ["c"]
    assert lake.tags(lake.location("tags")) == ["c"]


def explode(lake: Lake, records: str) -> None:
    key = "in/nested/orders.jsonl"
    lake.seaweed.client().put_object(Bucket=lake.bucket, Key=key, Body=records.encode())
    lake.run("explode", path=f"s3://{lake.bucket}/{key}", output_path=lake.table)


def test_a_configuration_without_the_catalog_says_who_has_to_be_told(orders: Lake) -> None:
    told = orders.merge(orders.write("two", "id,note\n3,c\n"), config="plain")["Warnings"]
    (warning,) = [each for each in told if 'no role names "glue"' not in each]

    assert "does not reach it" in warning and "table refresh" in warning
    assert orders.rows() == [(1, "a"), (2, "b")]
    orders.run("refresh", database_name=orders.database, table_name="orders")
    assert orders.rows() == [(3, "c")]


def test_a_vacuum_leaves_what_an_entry_shows(orders: Lake) -> None:
    shown = orders.location()
    for number in range(2):
        orders.merge(orders.write(f"v{number}", f"id,note\n{number},x\n"), config="plain")

    orders.run("vacuum", "plain", path=orders.table, keep="0", older_than_days="0")
    assert orders.rows(shown) == [(1, "a"), (2, "b")]

    orders.run("refresh", database_name=orders.database, table_name="orders")
    orders.run("vacuum", path=orders.table, keep="0", older_than_days="0")
    assert orders.rows(shown) == []
    assert orders.rows() == [(1, "x")]


def test_a_vacuum_removes_the_copies_that_an_append_was_shown_by(orders: Lake) -> None:
    orders.merge(orders.write("two", "id,note\n3,c\n"), mode="append")
    shown = orders.location()
    orders.merge(orders.write("three", "id,note\n4,d\n"))

    orders.run("vacuum", path=orders.table, keep="0", older_than_days="0")

    assert orders.rows(shown) == []
    assert orders.rows() == [(4, "d")]


def test_a_vacuum_removes_the_copies_of_a_table_that_was_only_added_to_and_every_version_stays(orders: Lake) -> None:
    shown = []
    for number in (3, 4, 5):
        orders.merge(orders.write(f"in{number}", f"id,note\n{number},x\n"), mode="append")
        shown.append(orders.location())
    assert [len(orders.rows(each)) for each in shown] == [3, 4, 5]

    done = orders.run("vacuum", path=orders.table, keep="0", older_than_days="0")

    # The copies are gone; what each append has written itself is in the table, and stays in its folder.
    assert [len(orders.rows(each)) for each in shown] == [1, 1, 5]
    (told,) = done["Data"]
    assert told["Removed"] == [] and told["BytesFreed"] > 0
    assert orders.run("vacuum", path=orders.table, keep="0", older_than_days="0")["Data"][0]["BytesFreed"] == 0
    orders.run("rollback", path=orders.table, to="2")
    assert [row[0] for row in orders.rows()] == [1, 2, 3]


def test_an_entry_that_is_gone_or_shows_something_else_is_forgotten(orders: Lake) -> None:
    orders.plain_glue.delete_table(DatabaseName=orders.database, Name="orders")

    for number in range(2):
        done = orders.merge(orders.write(f"v{number}", f"id,note\n{number},x\n"))
        assert [each for each in [*done["Info"], *done["Warnings"]] if "shows" in each] == []
    assert [key for key in orders.seaweed.keys(orders.bucket) if "/catalogs/" in key] == []


def test_the_partitions_of_a_table_are_switched_with_it(lake: Lake) -> None:
    lake.merge(lake.write("one", "day,id\nmon,1\ntue,2\n"), repartition_keys="day")
    lake.run("infer", database_name=lake.database, table_name="orders", storage_path=lake.table)

    lake.merge(lake.write("two", "day,id\nmon,3\n"), repartition_keys="day")

    found = lake.plain_glue.get_partitions(DatabaseName=lake.database, TableName="orders")["Partitions"]
    (place,) = [each["StorageDescriptor"]["Location"] for each in found]
    assert place == f"{lake.location()}day=mon/"
    assert lake.rows(place) == [(3,)]
    (shown,) = lake.run("partitions", database_name=lake.database, table_name="orders")["Data"]
    assert shown["Path"] == f"{lake.table}/day=mon"
