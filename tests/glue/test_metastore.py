"""Glue as metastore: partitions, versions, pages, and a table that is inferred into it."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pyarrow as pa
import pytest
from moto.glue.models import glue_backends

from benchmarks import glue as glue_benchmark
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.response import Response
from mason.clients.s3.storage import S3StorageClient
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.schema import Column
from mason.engines.metastore.models.table import Table
from mason.errors import BadInput, ClientFailed, Conflict, DatabaseNotFound, TableNotFound
from mason.testing.contract import answer
from mason.testing.metastore.fixtures import a_table
from tests.aws import ACCOUNT, REGION, Moto
from tests.glue.conftest import Operators
from tests.glue.proxy import AwsProxy, error


def by_day(database: str, days: int, **others: object) -> Table:
    columns = [Column("id", pa.int64()), Column("day", pa.string())]
    partitions = [Partition({"day": f"{day:03}"}, f"s3://data/orders/day={day:03}") for day in range(days)]
    made = a_table(database, "orders", "s3://data/orders", columns)
    return replace(made, partition_keys=("day",), partitions=partitions, **others)  # type: ignore[arg-type]


def saved(client: GlueMetastoreClient, table: Table) -> Response:
    response = Response()
    client.save_table(table, response=response)
    return response


def days(client: GlueMetastoreClient, database: str) -> list[str | None]:
    return [each.values["day"] for each in answer(client.list_partitions, database, "orders")]


def test_partitions_are_saved_a_hundred_at_a_time(through: GlueMetastoreClient, proxy: AwsProxy, database: str) -> None:
    told = saved(through, by_day(database, 250))

    batches = [len(request["PartitionInputList"]) for name, request in proxy.requests if name == "BatchCreatePartition"]
    assert batches == [100, 100, 50]
    assert "Partitions: 250 added, 0 changed, 0 removed." in told.info
    proxy.requests.clear()
    assert days(through, database) == [f"{day:03}" for day in range(250)]
    assert proxy.operations == ["GetTable", "GetPartitions", "GetPartitions", "GetPartitions"]


def test_partitions_that_are_the_same_are_left_alone(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    saved(through, by_day(database, 3))
    proxy.requests.clear()

    told = saved(through, by_day(database, 3))

    assert "Partitions: 0 added, 0 changed, 0 removed." in told.info
    assert proxy.operations == ["GetTable", "GetPartitions", "GetTable"], "and no version of the table is made"


def test_partitions_whose_folders_are_gone_go_and_those_elsewhere_stay(
    moto: Moto, client: GlueMetastoreClient, database: str
) -> None:
    saved(client, by_day(database, 30))
    moto.client("glue").create_partition(
        DatabaseName=database,
        TableName="orders",
        PartitionInput={"Values": ["archive"], "StorageDescriptor": {"Location": "s3://archive/orders/"}},
    )

    told = saved(client, by_day(database, 2))

    assert "Partitions: 0 added, 0 changed, 28 removed." in told.info
    assert days(client, database) == ["000", "001", "archive"]


def test_partitions_follow_when_the_columns_change(moto: Moto, client: GlueMetastoreClient, database: str) -> None:
    table = by_day(database, 2)
    saved(client, table)
    columns = [Column("id", pa.string()), *table.schema.columns[1:]]

    told = saved(client, replace(table, schema=replace(table.schema, columns=columns)))

    assert "Partitions: 0 added, 2 changed, 0 removed." in told.info
    for found in moto.client("glue").get_partitions(DatabaseName=database, TableName="orders")["Partitions"]:
        assert found["StorageDescriptor"]["Columns"] == [{"Name": "id", "Type": "string"}]


def test_a_table_whose_partitions_nobody_looked_at_keeps_those_it_has(
    client: GlueMetastoreClient, database: str
) -> None:
    saved(client, by_day(database, 2))

    saved(client, replace(by_day(database, 0), partitions=None, path="s3://data/elsewhere"))

    assert days(client, database) == ["000", "001"]


def test_partitions_that_glue_does_not_take_are_named(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    def refuse(operation: str, request: object) -> tuple[int, dict[str, object]] | None:
        if operation != "BatchCreatePartition":
            return None
        detail = {"ErrorCode": "InternalServiceException", "ErrorMessage": "Try again."}
        return 200, {"Errors": [{"PartitionValues": [f"{day:03}"], "ErrorDetail": detail} for day in range(5)]}

    proxy.says = refuse

    with pytest.raises(ClientFailed) as caught:
        saved(through, by_day(database, 7))

    assert str(caught.value) == (
        '5 of 7 changes to the partitions of "orders" failed: day=000: Try again; day=001: Try again; '
        "day=002: Try again; and 2 more. The others were made. Do it again for the rest."
    )


def test_a_partition_that_somebody_else_has_just_added_is_fine(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    detail = {"ErrorCode": "AlreadyExistsException", "ErrorMessage": "Partition already exists."}
    told = {"Errors": [{"PartitionValues": ["000"], "ErrorDetail": detail}]}
    proxy.says = lambda operation, request: (200, told) if operation == "BatchCreatePartition" else None

    saved(through, by_day(database, 2))


def test_glue_keeps_the_former_description_as_a_version(moto: Moto, client: GlueMetastoreClient, database: str) -> None:
    saved(client, a_table(database, "orders", "s3://data/one"))

    told = saved(client, a_table(database, "orders", "s3://data/two"))

    assert 'Glue keeps the former description of "orders" as version 1.' in told.info
    versions = moto.client("glue").get_table_versions(DatabaseName=database, TableName="orders")["TableVersions"]
    places = {each["VersionId"]: each["Table"]["StorageDescriptor"]["Location"] for each in versions}
    assert places == {"1": "s3://data/one/", "2": "s3://data/two/"}


def test_of_two_who_change_a_table_at_once_one_is_told(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    saved(through, a_table(database, "orders", "s3://data/one"))
    conflict = error("ConcurrentModificationException", "Update table failed due to concurrent modifications.")
    proxy.says = lambda operation, request: conflict if operation == "UpdateTable" else None

    with pytest.raises(Conflict, match='Somebody else changed table "orders"'):
        saved(through, a_table(database, "orders", "s3://data/two"))

    [version] = [request["VersionId"] for name, request in proxy.requests if name == "UpdateTable"]
    assert version == "1", "Glue compares it with the version that it has"


def test_of_two_who_create_a_table_at_once_one_is_told(
    through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    proxy.says = lambda operation, request: (
        error("AlreadyExistsException", "Table already exists.") if operation == "CreateTable" else None
    )

    with pytest.raises(Conflict, match="at the same time"):
        saved(through, a_table(database, "orders"))


def test_a_listing_of_a_thousand_tables_costs_its_pages_and_no_more(
    through: GlueMetastoreClient, proxy: AwsProxy
) -> None:
    tables = [glue_benchmark.described(number) for number in range(1000)]
    proxy.says = lambda operation, request: glue_benchmark.page(tables, request, proxy.page)

    assert glue_benchmark.check_requests(proxy, through, len(tables)) == 10
    assert proxy.operations == ["GetTables"] * 10
    with pytest.raises(RuntimeError, match="1000 tables were listed by 20 requests"):
        glue_benchmark.check_requests(proxy, through, len(tables))  # these are counted beside the first ones


def test_tables_beyond_the_first_page_are_listed(
    client: GlueMetastoreClient, through: GlueMetastoreClient, proxy: AwsProxy, database: str
) -> None:
    proxy.page = 2
    for number in range(5):
        saved(client, a_table(database, f"t{number}"))

    assert [each.name for each in answer(through.list_tables, database)] == ["t0", "t1", "t2", "t3", "t4"]
    assert proxy.operations == ["GetTables"] * 3


def test_databases_beyond_the_first_page_are_listed(through: GlueMetastoreClient, proxy: AwsProxy) -> None:
    glue_backends[ACCOUNT][REGION].databases.clear()  # each test has its own, and nobody needs them any more
    proxy.page = 2
    for number in range(5):
        answer(through.create_database, f"db_{number}")

    assert [each.name for each in answer(through.list_databases)] == [f"db_{number}" for number in range(5)]


def test_names_are_kept_in_lower_case_and_found_in_any(client: GlueMetastoreClient, database: str) -> None:
    told = saved(client, a_table(database.upper(), "Orders"))

    assert 'Glue keeps names in lower case: "Orders" is "orders" there.' in told.info
    assert answer(client.get_table, database.upper(), "ORDERS").name == "orders"
    answer(client.delete_table, database, "Orders")
    assert list(answer(client.list_tables, database)) == []


def test_a_name_that_is_too_long_is_refused(client: GlueMetastoreClient, database: str) -> None:
    with pytest.raises(BadInput, match="1 to 255 characters"):
        saved(client, a_table(database, "x" * 256))


def test_a_wrong_name_is_answered_with_a_likely_one(client: GlueMetastoreClient, database: str) -> None:
    saved(client, a_table(database, "customers"))

    with pytest.raises(TableNotFound, match='Did you mean "customers"'):
        answer(client.get_table, database, "custommers")
    with pytest.raises(TableNotFound, match='Did you mean "customers"'):
        answer(client.delete_table, database, "customer")
    with pytest.raises(DatabaseNotFound, match=f'Did you mean "{database}"'):
        answer(client.list_tables, f"{database}x")


def test_a_column_of_an_unknown_type_is_text_and_said_to_be(
    moto: Moto, client: GlueMetastoreClient, database: str
) -> None:
    columns = [{"Name": "id", "Type": "int"}, {"Name": "odd", "Type": "uniontype<int,string>"}]
    moto.client("glue").create_table(
        DatabaseName=database, TableInput={"Name": "orders", "StorageDescriptor": {"Columns": columns}}
    )

    response = Response()
    table, _ = client.get_table(database, "orders", response=response)

    assert [each.type for each in table.schema.columns] == [pa.int32(), pa.string()]
    assert response.warnings == ('Column "odd" is taken as text: there is no type "uniontype".',)


def test_infer_saves_the_table_and_its_partitions_without_a_crawler(
    moto: Moto, operators: Operators, database: str
) -> None:
    bucket, s3 = f"data-{uuid4().hex[:8]}", moto.client("s3")
    s3.create_bucket(Bucket=bucket)
    for day in ("2026-01-30", "2026-01-31"):
        s3.put_object(Bucket=bucket, Key=f"orders/day={day}/a.csv", Body=b"id;price\n1;2.5\n2;\n")

    inferred = operators("infer", database_name=database, storage_path=f"{bucket}/orders")

    assert "Partitions: 2 added, 0 changed, 0 removed." in inferred.info
    [table] = operators("get", database_name=database, table_name="orders").data
    assert table["Path"] == f"s3://{bucket}/orders"
    assert table["PartitionKeys"] == ["day"]
    assert [each["Name"] for each in table["Schema"]["Columns"]] == ["id", "price", "day"]
    partitions = operators("partitions", database_name=database, table_name="orders").data
    assert [each["Values"] for each in partitions] == [{"day": "2026-01-30"}, {"day": "2026-01-31"}]
    described = moto.client("glue").get_table(DatabaseName=database, Name="orders")["Table"]
    assert described["StorageDescriptor"]["SerdeInfo"]["Parameters"]["field.delim"] == ";"
    assert described["Parameters"]["skip.header.line.count"] == "1"
    assert [each["Type"] for each in described["StorageDescriptor"]["Columns"]] == ["bigint", "decimal(18,1)"]


def test_infer_tells_whether_csv_is_quoted(moto: Moto, client: GlueMetastoreClient, database: str) -> None:
    from mason.engines.storage.models.infer_options import InferOptions

    bucket, s3 = f"data-{uuid4().hex[:8]}", moto.client("s3")
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="orders/a.csv", Body=b'id,name\n1,"a, b"\n')
    storage = S3StorageClient(moto.configuration())

    table = answer(storage.infer_table, storage.path(f"{bucket}/orders"), database, "orders", InferOptions())
    told = saved(client, table)

    assert table.delimited is not None and table.delimited.quoted
    assert any("knows text only" in each for each in told.warnings)
    assert answer(client.get_table, database, "orders").schema.to_arrow() == table.schema.to_arrow()
