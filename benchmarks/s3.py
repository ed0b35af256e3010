"""Merging from S3 to S3: Mason there, Mason on the machine's disk, and plain PySpark over S3A; the server is here.

.venv/bin/python -m benchmarks.s3 [--scale 0.01]
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow.fs as pafs

from benchmarks.child import Child
from benchmarks.contestants import Mason
from benchmarks.equality import Written, proven_equal
from benchmarks.jobs import CSV
from benchmarks.measure import Comparison, Contestant, Result, Runs, interleaved, seconds
from benchmarks.merge_pyspark import LOST
from benchmarks.profiling import profile_kernel
from benchmarks.script import Script, script
from mason.clients.response import Response
from mason.clients.s3.metastore import S3MetastoreClient
from mason.clients.s3.storage import S3StorageClient
from tests.s3.proxy import running_proxy
from tests.seaweed import Seaweed, running_seaweed

AT_MOST = 1.6
AT_LEAST = 3.0
OBJECTS = 10_000
PAGE = 1_000
OTHER_REQUESTS = 10
VOLUMES = 30_000
"""Megabytes, as the server has them unless told: with small ones everybody would wait for new ones to be made."""


def main() -> None:
    with script(__doc__, rounds=3) as running, running_seaweed(running.folder / "seaweed", VOLUMES) as server:
        running.save(measure(running, server))
        running.save(count_requests(running, server))


def measure(running: Script, server: Seaweed) -> Result:
    """Write the files to the disk and to the store, and merge them in both places."""
    folder, inputs, bucket = running.folder, running.folder / "in", server.bucket()
    CSV.write(inputs, running.bytes(CSV.size))
    storage = S3StorageClient(server.configuration())
    filesystem, address = storage.filesystem(), storage.address()
    pafs.copy_files(str(inputs), f"{bucket}/in", pafs.LocalFileSystem(), filesystem)
    there = Mason(f"{bucket}/in", f"{bucket}/mason", address)
    here = Mason(inputs, folder / "here")
    paths = [f"{bucket}/{name}" for name in ("in", "inferred", "given")]
    with Child("benchmarks.plain_spark_s3", address, *paths) as spark:
        contestants = [
            replace(here.contestant(), label="Mason on the disk"),
            Contestant("PySpark over S3A, inferSchema", seconds(lambda: spark.ask("inferred"))),
            Contestant("PySpark over S3A, tuned (schema given)", seconds(lambda: spark.ask("given"))),
            replace(there.contestant(), before=lambda: None),
        ]
        local, inferred, given, ours = interleaved(contestants, running.rounds)
    written = [Written(ours.label, fetched(filesystem, f"{bucket}/mason", folder / "mason"))]
    written += [
        Written(each.label, fetched(filesystem, f"{bucket}/{name}", folder / name))
        for each, name in ((inferred, "inferred"), (given, "given"))
    ]
    outputs = proven_equal([*written, Written(local.label, folder / "here")], CSV.columns, but={"extra"})
    comparisons = [
        Comparison("merge", ours, local, limit=AT_MOST),
        Comparison("merge", ours, inferred, limit=AT_LEAST, ratio_is="speed-up"),
        Comparison("merge", ours, given, ratio_is="speed-up"),
    ]
    result = Result("s3_merge", CSV.describe(inputs), comparisons, outputs, [LOST])
    if running.wants_profile(result):
        return replace(result, profile=profile_kernel(there.job, f"{bucket}/profile"))
    return result


def fetched(filesystem: pafs.FileSystem, path: str, folder: Path) -> Path:
    """Copy what somebody sees of a table who only lists its prefix."""
    folder.mkdir()
    for each in filesystem.get_file_info(pafs.FileSelector(path)):
        if each.is_file and each.base_name.endswith(".parquet"):
            pafs.copy_files(each.path, str(folder / each.base_name), filesystem, pafs.LocalFileSystem())
    return folder


def count_requests(running: Script, server: Seaweed) -> Result:
    """Count what `table get` asks of the store for a prefix with many objects."""
    objects, bucket = running.bytes(OBJECTS), server.bucket()
    client = server.client()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put_object(Bucket=bucket, Key=f"t/{n}.csv", Body=b"id\n1\n"), range(objects)))
    with running_proxy(server.endpoint) as proxy:
        metastore = S3MetastoreClient(server.configuration(endpoint=proxy.endpoint))
        metastore.get_table(bucket, "t", response=Response())
        asked = len(proxy.requests)
    pages = -(-objects // PAGE)
    allowed = Runs(f"{pages} pages and {OTHER_REQUESTS} more", [pages + OTHER_REQUESTS])
    comparison = Comparison("`table get`: requests", Runs("Mason", [asked]), allowed, unit="requests", limit=1.0)
    return Result("s3_requests", f"{objects:,} objects below one prefix", [comparison])


if __name__ == "__main__":
    main()
