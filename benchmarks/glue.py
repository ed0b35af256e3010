"""The tables of a Glue catalog, listed by Mason and by bare boto3: the same requests to the same emulated AWS.

.venv/bin/python -m benchmarks.glue [--scale 0.1]
"""

from __future__ import annotations

from typing import Any

import boto3
import pyarrow as pa
from moto.glue.models import glue_backends

from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.script import Script, script
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.glue.tables import glue_from_table
from mason.clients.response import Response
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from tests.aws import ACCOUNT, KEYS, REGION, Moto, running_moto
from tests.glue.proxy import AwsProxy, running_aws_proxy

AT_MOST = 1.5
TABLES = 1000
COLUMNS = 20
DATABASE = "shop"


def main() -> None:
    with script(__doc__, rounds=15) as running, running_moto() as moto, running_aws_proxy(moto.endpoint) as proxy:
        running.save(measure(running, moto, proxy))


def measure(running: Script, moto: Moto, proxy: AwsProxy) -> Result:
    """Make the tables and measure; the proxy cuts the answers into pages, as AWS does."""
    count = running.bytes(TABLES)
    make_tables(count)
    client = GlueMetastoreClient(moto.configuration(endpoint=proxy.endpoint))
    bare = bare_client(proxy.endpoint)
    listed = check_requests(proxy, client, count)
    contestants = [
        Contestant("bare boto3", seconds(lambda: list_bare(bare))),
        Contestant("Mason", seconds(lambda: client.list_tables(DATABASE, response=Response()))),
    ]
    rival, ours = interleaved(contestants, running.rounds, warm_ups=2)
    comparison = Comparison("list the tables", ours, rival, limit=AT_MOST)
    note = f"Mason sent {listed} requests for {-(-count // proxy.page)} pages."
    return Result("glue", f"{count:,} tables of {COLUMNS} columns", [comparison], notes=[note])


def make_tables(count: int) -> None:
    """Put tables into the emulator, as Mason saves them."""
    columns = [Column(f"column_{number}", pa.int64()) for number in range(COLUMNS)]
    backend = glue_backends[ACCOUNT][REGION]
    backend.create_database(DATABASE, {"Name": DATABASE})
    for number in range(count):
        name = f"table_{number:05}"
        table = Table(name, DATABASE, f"s3://data/{name}", created_by="mason", schema=Schema("parquet", columns))
        backend.create_table(DATABASE, name, glue_from_table(table))


def bare_client(endpoint: str) -> Any:
    keys = {"aws_access_key_id": KEYS["access_key"], "aws_secret_access_key": KEYS["secret_key"]}
    return boto3.client("glue", endpoint_url=endpoint, region_name=REGION, **keys)


def list_bare(client: Any) -> list[str]:
    pages = client.get_paginator("get_tables").paginate(DatabaseName=DATABASE)
    return [table["Name"] for page in pages for table in page["TableList"]]


def check_requests(proxy: AwsProxy, client: GlueMetastoreClient, count: int) -> int:
    """Return how many requests a listing takes; it must be whole, and take no more than its pages and one.

    Raises:
        RuntimeError: it is not.
    """
    tables, _ = client.list_tables(DATABASE, response=Response())
    sent = len(proxy.requests)
    if len(tables) != count or sent > -(-count // proxy.page) + 1:
        raise RuntimeError(f"{len(tables)} tables were listed by {sent} requests")
    return sent


if __name__ == "__main__":
    main()
