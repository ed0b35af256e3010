"""The tables of a Glue catalog, listed by Mason and by bare boto3: the same requests to the same server.

.venv/bin/python -m benchmarks.glue [--scale 0.1]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import boto3
import pyarrow as pa

from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.script import Script, script
from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.glue.tables import glue_from_table
from mason.clients.response import Response
from mason.engines.metastore.models.schema import Column, Schema
from mason.engines.metastore.models.table import Table
from tests.aws import KEYS, REGION
from tests.glue.proxy import Answer, AwsProxy, running_aws_proxy

AT_MOST = 1.5
TABLES = 1000
COLUMNS = 20
DATABASE = "shop"
NOBODY = "http://127.0.0.1:9"  # all answers are ready: the proxy asks nobody


def main() -> None:
    with script(__doc__, rounds=15) as running, running_aws_proxy(NOBODY) as proxy:
        running.save(measure(running, proxy))


def measure(running: Script, proxy: AwsProxy) -> Result:
    """Prepare the answers and measure."""
    count = running.bytes(TABLES)
    tables = [described(number) for number in range(count)]
    proxy.says = lambda operation, request: page(tables, request, proxy.page)
    client = GlueMetastoreClient({"aws_region": REGION, "endpoint": proxy.endpoint, **KEYS})
    keys = {"aws_access_key_id": KEYS["access_key"], "aws_secret_access_key": KEYS["secret_key"]}
    bare = boto3.client("glue", endpoint_url=proxy.endpoint, region_name=REGION, **keys)
    sent = check_requests(proxy, client, count)
    contestants = [
        Contestant("bare boto3", seconds(lambda: list_bare(bare))),
        Contestant("Mason", seconds(lambda: client.list_tables(DATABASE, response=Response()))),
    ]
    rival, ours = interleaved(contestants, running.rounds, warm_ups=2)
    comparison = Comparison("list the tables", ours, rival, limit=AT_MOST)
    note = f"Mason sent {sent} requests for {-(-count // proxy.page)} pages."
    return Result("glue", f"{count:,} tables of {COLUMNS} columns", [comparison], notes=[note])


def described(number: int) -> dict[str, Any]:
    """Return a table as Glue would describe it that Mason has saved there."""
    name, columns = f"table_{number:05}", [Column(f"column_{each}", pa.int64()) for each in range(COLUMNS)]
    table = Table(name, DATABASE, f"s3://data/{name}", created_by="mason", schema=Schema("parquet", columns))
    return {**glue_from_table(table), "DatabaseName": DATABASE, "CreateTime": 1582739851.0, "VersionId": "1"}


def page(tables: list[dict[str, Any]], request: Mapping[str, Any], size: int) -> Answer:
    """Return the answer to a request for the tables from a place on."""
    start = int(request.get("NextToken") or 0)
    token = {"NextToken": str(start + size)} if start + size < len(tables) else {}
    return 200, {"TableList": tables[start : start + size], **token}


def list_bare(client: Any) -> list[str]:
    pages = client.get_paginator("get_tables").paginate(DatabaseName=DATABASE)
    return [table["Name"] for each in pages for table in each["TableList"]]


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
