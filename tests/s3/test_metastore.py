"""S3 as metastore: what is found there without anybody having saved it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from uuid import uuid4

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from mason.clients.response import Response
from mason.clients.s3.metastore import S3MetastoreClient
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, DatabaseNotFound, TableNotFound, UnreadableFile, Unsupported
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.work import MergeWork
from mason.testing import Place
from mason.testing.contract import answer
from mason.testing.metastore.fixtures import a_table
from tests.aws import running_moto
from tests.conftest import Mason
from tests.s3.proxy import error_body, running_proxy
from tests.seaweed import Seaweed


@pytest.fixture
def client(seaweed: Seaweed) -> S3MetastoreClient:
    return S3MetastoreClient(seaweed.configuration())


@pytest.fixture
def shop(client: S3MetastoreClient, bucket: str) -> Place:
    """A database that is a prefix, with a table of several files, one that is one file, and what is not a table."""
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
    assert [each.name for each in answer(client.list_tables, shop.path.path)] == ["people"]


def test_a_store_that_lists_folders_without_objects_is_not_believed(client: S3MetastoreClient, shop: Place) -> None:
    shop.write("sales/a/b/x.csv", b"id\n1\n")
    answer(client._storage.delete, shop.below("sales"))
    shop.write("sales2/a/b/x.csv", b"id\n1\n")

    assert [each.name for each in answer(client.list_tables, shop.path.path)] == ["orders", "people", "sales2"]


def test_a_table_of_one_prefix_that_was_deleted_is_not_listed_any_more(client: S3MetastoreClient, shop: Place) -> None:
    client._storage.objects.write(f"{shop.path.path}/flat/a.csv", b"id\n1\n")

    answer(client.delete_table, shop.path.path, "flat")

    assert [each.name for each in answer(client.list_tables, shop.path.path)] == ["orders", "people"]


def test_a_table_with_a_very_long_name_is_deleted(client: S3MetastoreClient, shop: Place) -> None:
    """Each of these characters takes nine in a name of Mason's own, and a key has 1,024 at most."""
    database, name = f"{shop.path.path}/{'d' * 230}", "\u65e5" * 80
    client._storage.objects.write(f"{database}/{name}/a.csv", b"id\n1\n")

    answer(client.delete_table, database, name)

    (left,) = [each.path for each in client._storage.objects.below(database) if not each.path.endswith("/")]
    assert left.startswith(f"{database}/.mason/trash/") and left.endswith("/a.csv")


def test_data_that_are_also_those_of_another_table_are_not_deleted(client: S3MetastoreClient, shop: Place) -> None:
    answer(client.save_table, a_table(shop.path.path, "recent", str(shop.below("orders/year=2027"))))

    with pytest.raises(Conflict, match="also those of recent"):
        answer(client.delete_table, shop.path.path, "orders")


def test_the_name_of_an_object_does_not_lead_past_the_entry_that_was_saved_of_it(
    client: S3MetastoreClient, shop: Place
) -> None:
    answer(client.save_table, a_table(shop.path.path, "people", f"{shop.path}/people.csv"))

    for verb in (client.delete_table, client.get_table, client.list_partitions):
        with pytest.raises(TableNotFound, match="people"):
            answer(verb, shop.path.path, "people.csv")

    assert "people.csv" in shop.contents()
    answer(client.delete_table, shop.path.path, "people")
    assert not [name for name in shop.contents() if "trash" not in name and "people" in name]


@pytest.mark.parametrize("name", ["people", "people.csv"])
def test_an_object_that_an_entry_of_another_name_points_at_is_not_deleted(
    client: S3MetastoreClient, shop: Place, name: str
) -> None:
    answer(client.save_table, a_table(shop.path.path, "staff", f"{shop.path}/people.csv"))

    with pytest.raises(Conflict, match="also those of staff"):
        answer(client.delete_table, shop.path.path, name)
    answer(client.delete_table, shop.path.path, "staff")

    assert "people.csv" in shop.contents(), "it is the table people, too"
    answer(client.delete_table, shop.path.path, name)
    assert "people.csv" not in shop.contents()


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


def test_a_missing_database_is_said_to_be_for_who_may_not_list_the_buckets(seaweed: Seaweed) -> None:
    with running_proxy(seaweed.endpoint) as proxy:
        denied = error_body("AccessDenied", "Access Denied")
        proxy.says = lambda method, path: (403, denied) if path.partition("?")[0] == "/" else None
        client = S3MetastoreClient(seaweed.configuration(endpoint=proxy.endpoint))

        with pytest.raises(DatabaseNotFound, match='Database "no-such-bucket" not found'):
            answer(client.list_tables, "no-such-bucket")


def test_keys_with_empty_parts_make_no_nameless_table_and_are_refused_by_name() -> None:
    # SeaweedFS puts such keys right; AWS, and the emulator, keep them as they are.
    with running_moto() as aws:
        objects = aws.client("s3")
        objects.create_bucket(Bucket="odd")
        for key in ("/first.csv", "orders/a.csv", "orders//b.csv"):
            objects.put_object(Bucket="odd", Key=key, Body=b"id\n1\n")
        client = S3MetastoreClient(aws.configuration())

        assert [each.name for each in answer(client.list_tables, "odd")] == ["orders"]
        with pytest.raises(UnreadableFile, match="odd/orders//b.csv.*there is an empty part"):
            answer(client.get_table, "odd", "orders")


def _parquet() -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table({"id": range(50_000)}), written)
    return written.getvalue()


def _orc() -> bytes:
    written = io.BytesIO()
    orc.write_table(pa.table({"id": range(50_000)}), written)
    return written.getvalue()


def _avro() -> bytes:
    written = io.BytesIO()
    schema = {"type": "record", "name": "row", "fields": [{"name": "id", "type": "long"}]}
    fastavro.writer(written, schema, [{"id": number} for number in range(50_000)])
    return written.getvalue()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "": _parquet,
    ".csv": lambda: b"id\n1\n",
    ".csv.gz": lambda: gzip.compress(b"id\n" + b"".join(b"%d\n" % number for number in range(50_000))),
    ".jsonl": lambda: b'{"id": 1}\n' * 50_000,
    ".parquet": _parquet,
    ".orc": _orc,
    ".avro": _avro,
}


@pytest.mark.parametrize("ending", CONTENTS)
def test_a_look_at_many_objects_takes_few_requests_whatever_their_format_and_whatever_else_was_saved(
    seaweed: Seaweed, client: S3MetastoreClient, bucket: str, ending: str
) -> None:
    storage, content = client._storage, CONTENTS[ending]()
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    for number in range(20):
        place.write(f"many/{number}{ending}", content)
        place.write(f".mason/other-{number}.json", b'{"Path": "s3://elsewhere"}')

    with running_proxy(seaweed.endpoint) as proxy:
        asking = S3MetastoreClient(seaweed.configuration(endpoint=proxy.endpoint))
        table = answer(asking.get_table, place.path.path, "many")

    assert [each.name for each in table.schema.columns] == ["id"]
    pages, settling = 1, 1  # a command that reads the table asks once more whether a dead one left anything
    assert len(proxy.requests) <= pages + 10 - settling, proxy.requests


def test_a_table_has_the_columns_of_its_commit_whichever_of_its_files_are_looked_at(
    client: S3MetastoreClient, bucket: str
) -> None:
    storage = client._storage
    place = Place(storage.filesystem(), storage.path(f"{bucket}/{uuid4().hex}"))
    # The files have the names of their jobs. Only that of the last job has the column "more", and it is the second of
    # six, which is none of those that are looked at.
    for name in "acdefb":
        place.write(f"in/{name}.csv", b"id,year,more\n1,2026,2\n" if name == "b" else b"id,year\n1,2026\n")
        options = {"schema": "year string", "repartition_keys": ["year"], "incremental": True}
        job = MergeJob(
            Location(place.below("in").path, storage.address()),
            Location(place.below("out").path, storage.address()),
            MergeOptions(**options),
        )
        MergeWork.plan(job.to_job()).run(InProcessRunner(), f"job-{name}", lambda *_: None)
    response = Response()

    table, _ = client.get_table(place.path.path, "out", response=response)

    assert [(each.name, str(each.type)) for each in table.schema.columns] == [
        ("id", "int64"),
        ("more", "int64"),
        ("year", "string"),
    ]
    assert list(table.partition_keys) == ["year"]
    more = table.schema.columns[1].to_dict()
    physical = {"Type": "int64", "ConvertedType": "NONE", "RepititionType": "OPTIONAL"}
    assert more == {"Name": "more", **physical, "LogicalType": "int64"}
    assert response.info == ("Looked at 3 of 6 files.",)


def test_a_table_whose_files_are_out_of_reach_is_told_all_the_same(
    mason: Mason, seaweed: Seaweed, client: S3MetastoreClient, bucket: str
) -> None:
    """Whether its newest commit has to be finished cannot be found out by a configuration that does not reach it."""
    answer(client.save_table, a_table(bucket, "elsewhere", path="gs://other/orders"))
    told = json.dumps(seaweed.configuration())
    (mason.folder / "s3.yaml").write_text(f"metastore_engine: s3\nclients: {{s3: {{configuration: {told}}}}}\n")
    mason.register_examples()("config", "s3.yaml")

    got = mason("operator", "table", "get", "-p", f"database_name:{bucket},table_name:elsewhere")

    assert got.exit_code == 0, got.stderr
    assert got.json["Data"][0]["Path"] == "gs://other/orders"
