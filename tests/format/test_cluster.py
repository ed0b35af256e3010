"""A table in another format from a standalone cluster: the same rows as from this process."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cluster import Cluster, standalone_cluster
from tests.format.conftest import Format

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def test_executors_write_the_same_rows_and_the_same_sample_as_this_process(
    format_: Format, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mason.pipeline.merge.plan.TASK_FILES", 1)  # the plan is made in this process
    for number in range(3):
        ids = list(range(number * 100, number * 100 + 100))
        format_.given({"id": ids, "note": [f'"{each}"\n' for each in ids]}, f"in/{number}.parquet")
    here = format_.run("json", output="here", filter="id <> 7", sample_size=50)
    format_.runner = cluster.runner(executors=2)
    there = format_.run("json", filter="id <> 7", sample_size=50)

    assert there.sums == here.sums
    documents = [json.loads(file.read_text()) for name in ("here", "out") for file in format_.files(name)]
    assert documents[0] == documents[1]
    assert len(documents[0]) == 50
