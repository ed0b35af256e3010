"""SIGKILL of the whole command while it replaces a table on S3."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

import pyarrow.parquet as pq
import pytest

import mason.pipeline.object_lease as object_lease
from mason.clients.s3.connection import S3Connection
from mason.clients.s3.objects import S3Objects
from mason.pipeline.table_objects import TableObjects
from mason.testing import Place
from tests.conftest import Mason
from tests.s3.test_commit import below
from tests.s3.test_pipeline import on_s3, place, rows, run
from tests.seaweed import Seaweed

__all__ = ["on_s3", "place", "rows"]  # fixtures

KILLS = 6
ROWS = 2_000


@pytest.fixture
def store(seaweed: Seaweed) -> S3Objects:
    return S3Objects(S3Connection.of(seaweed.configuration()).client())


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"


def values(place: Place, table: TableObjects) -> set[int]:
    """Return the values of the one column that tells the versions apart, as Mason reads the table."""
    record = table.current()
    assert record is not None
    files = [f"{table.path}/{each.place}" for each in record.files]
    found = [pq.read_table(file, filesystem=place.filesystem, partitioning=None) for file in files]
    assert sum(each.num_rows for each in found) == ROWS
    return {value for each in found for value in each["version"].to_pylist()}


def test_sigkill_at_any_moment_leaves_the_old_table_or_the_new(
    on_s3: Mason, place: Place, store: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = random.Random(6)
    table = TableObjects(store, place.below("out").path)
    leases = f"{table.path}/_mason/leases"
    paths = {"input_path": place.below("in"), "output_path": place.below("out")}

    def write(version: int) -> None:
        for number in range(4):
            lines = "".join(f"{each},{version}\n" for each in range(ROWS // 4))
            place.write(f"in/{number}.csv", f"id,version\n{lines}".encode())

    write(0)
    run(on_s3, "merge", **paths)
    before, killed = 0, 0
    for version in range(1, KILLS + 1):
        write(version)
        known = below(store, leases)
        process = on_s3.start("operator", "table", "merge", "-p", ",".join(f"{k}:{v}" for k, v in paths.items()))
        wait_for(lambda known=known, process=process: below(store, leases) - known or process.poll() is not None)
        time.sleep(moments.uniform(0, 0.5))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL

        assert values(place, table) in ({before}, {version})
        before = values(place, table).pop()

    assert killed >= KILLS // 2, "too few were killed in time to prove anything"
    write(99)
    run(on_s3, "merge", **paths)
    monkeypatch.setattr(object_lease, "EXPIRY_SECONDS", -60)
    table.sweep()
    assert values(place, table) == {99}
    assert set(pq.read_table(table.path, filesystem=place.filesystem)["version"].to_pylist()) == {99}
    assert below(store, leases) == set()
    assert below(store, f"{table.path}/_mason/data") == {each.id for each in table.history()}
