"""S3 as metastore: what is found there without anybody having saved it."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from mason.clients.response import Response
from mason.clients.s3.metastore import S3MetastoreClient
from mason.errors import BadPath, Conflict, DatabaseNotFound, TableNotFound, Unsupported
from mason.testing import Place
from mason.testing.contract import answer
from mason.testing.metastore.fixtures import a_table
from tests.conftest import Mason
from tests.seaweed import Seaweed


@pytest.fixture
def client(seaweed: Seaweed) -> S3MetastoreClient:
    return S3MetastoreClient(seaweed.configuration())


@pytest.fixture
def shop(client: S3MetastoreClient, bucket: str) -> Place:
    """A database that is a prefix, with a table of several files, one that is one file, and what is no table."""
    storage = client._storage
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    place.write("orders/year=2026/a.csv", b"id,price\n1,2.5\n")
    place.write("orders/year=2027/b.csv", b"id,price\n2,3.5\n")
    place.write("people.csv", b"name\nann\n")
    place.write("notes.md", b"nothing")
    place.write("_old/x.csv", b"id\n1\n")
    return place


def test_tables_are_the_prefixes_and_data_objects_of_a_database(client: S3MetastoreClient, shop: Place) -> None:
    tables = answer(client.list_tables, shop.path.path)

    assert [(each.name, each.path) for each in tables] == [
        ("orders", f"{shop.path}/orders"),
        ("people", f"{shop.path}/people.csv"),
    ]


def test_a_table_is_inferred_when_it_is_asked_for(client: S3MetastoreClient, shop: Place) -> None:
    response = Response()

    table, _ = client.get_table(shop.path.path, "orders", response=response)

    assert [each.name for each in table.schema.columns] == ["id", "price", "year"]
    assert list(table.partition_keys) == ["year"]
    assert response.info == ("Looked at 2 rows of 2 of 2 files, which is everything.",)
    partitions = answer(client.list_partitions, shop.path.path, "orders")
    assert [each.path for each in partitions] == [f"{shop.path}/orders/year={year}" for year in (2026, 2027)]


def test_a_saved_entry_wins_over_the_prefix_of_its_name(client: S3MetastoreClient, shop: Place) -> None:
    answer(client.save_table, a_table(shop.path.path, "orders", "s3://elsewhere/orders"))

    assert answer(client.get_table, shop.path.path, "orders").path == "s3://elsewhere/orders"
    assert [each.name for each in answer(client.list_tables, shop.path.path)] == ["orders", "people"]


def test_deleting_a_table_moves_its_data_aside(client: S3MetastoreClient, shop: Place) -> None:
    answer(client.delete_table, shop.path.path, "orders")

    left = sorted(shop.contents())
    assert [name for name in left if name.startswith("orders")] == []
    assert len([name for name in left if name.startswith(".mason/trash/") and name.endswith("/year=2026/a.csv")]) == 1
    with pytest.raises(TableNotFound):
        answer(client.get_table, shop.path.path, "orders")


def test_data_that_are_also_those_of_another_table_are_not_deleted(client: S3MetastoreClient, shop: Place) -> None:
    answer(client.save_table, a_table(shop.path.path, "recent", str(shop.below("orders/year=2027"))))

    with pytest.raises(Conflict, match="also those of recent"):
        answer(client.delete_table, shop.path.path, "orders")


def test_a_prefix_is_neither_created_nor_deleted_as_a_database(client: S3MetastoreClient, shop: Place) -> None:
    with pytest.raises(BadPath, match="a database is a bucket"):
        answer(client.create_database, f"{shop.path.path}/more")
    with pytest.raises(Unsupported, match="is a prefix"):
        answer(client.delete_database, shop.path.path)
    with pytest.raises(DatabaseNotFound):
        answer(client.get_database, f"{shop.path.path}/nothing")


def test_the_command_line_lists_and_gets_tables_in_s3(mason: Mason, seaweed: Seaweed, shop: Place) -> None:
    (mason.folder / "s3.yaml").write_text(
        "id: '2'\nmetastore_engine: s3\nstorage_engine: s3\nexecution_engine: spark\nclients:\n"
        f"  s3:\n    configuration:\n      endpoint: {seaweed.endpoint}\n      aws_region: us-east-1\n"
        '      access_key: "{{AWS_ACCESS_KEY_ID}}"\n      secret_key: "{{AWS_SECRET_ACCESS_KEY}}"\n'
        "  spark:\n    configuration:\n      runner: {type: kubernetes-operator, spark_version: 2.4.5}\n"
    )
    mason.variables.update(seaweed.environment())
    mason.register_examples()
    shown = mason("config", "s3.yaml")
    assert shown.exit_code == 0, shown.stderr

    listed = mason("operator", "table", "list", "-p", f"database_name:{shop.path.path}")
    got = mason("operator", "table", "get", "-p", f"database_name:{shop.path.path},table_name:people")

    assert [each["Name"] for each in listed.json["Data"]] == ["orders", "people"]
    assert got.json["Data"][0]["Schema"]["Columns"][0]["Name"] == "name"
    everything = json.dumps([shown.stdout, shown.stderr, listed.stdout, listed.stderr, got.stdout, got.stderr])
    assert seaweed.owner.secret_key not in everything
