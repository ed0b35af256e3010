"""The same records give the same tables with the same keys, whichever engine runs the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster import Cluster, connect_server, standalone_cluster
from tests.conftest import Mason, write
from tests.explode.golden import MANY, QUARANTINED, RECORDS, check_golden, check_many, write_golden, write_many
from tests.merge.test_engines import CONNECT, ENGINE, SPARK

pytestmark = pytest.mark.timeout(600)


def exploded(mason: Mason, engine: str) -> None:
    for name in ("orders", "many"):
        parameters = f"path:{name},output_path:out/{engine}/{name}"
        result = mason("operator", "table", "explode", "-c", engine, "-p", parameters)
        assert result.exit_code == 0, result.stderr
        (done,) = result.json["Data"]
        if name == "orders":
            counts = (done["RowsIn"], done["RowsOut"], done["RowsQuarantined"])
            assert counts == (RECORDS, RECORDS - QUARANTINED, QUARANTINED), engine
        else:
            assert done["Tasks"] > 1
    check_golden(mason.folder / "out" / engine / "orders")
    check_many(mason.folder / "out" / engine / "many")


@pytest.fixture
def data(mason: Mason) -> Mason:
    write_golden(mason.folder / "orders")
    write_many(mason.folder / "many")
    write(
        mason.folder / "configs", {"here.yaml": ENGINE.format(engine="local", clients="  local: {configuration: {}}\n")}
    )
    return mason.register_examples()


def test_the_same_tables_here(data: Mason) -> None:
    assert data("config", "configs").exit_code == 0

    exploded(data, "here")


@pytest.fixture
def sparks(data: Mason, tmp_path: Path) -> Iterator[Mason]:
    data.variables["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir(mode=0o700)
    (tmp_path / "connect").mkdir()
    with connect_server(tmp_path / "connect") as port:
        warm = ENGINE.format(engine="spark", clients=SPARK.format(warm="always"))
        connect = ENGINE.format(engine="spark", clients=CONNECT.format(port=port))
        write(data.folder / "configs", {"warm.yaml": warm, "connect.yaml": connect})
        assert data("config", "configs").exit_code == 0
        yield data
        assert data("spark", "stop").exit_code == 0


def test_the_same_tables_on_a_warm_spark_and_over_connect(sparks: Mason) -> None:
    for engine in ("warm", "connect"):
        exploded(sparks, engine)
    query = "SELECT count(*) AS n, sum(o.n * l.position) AS s FROM many o JOIN many_l l ON o.many_id = l.many_id"
    parameters = f"query_string:{query},database_name:out/warm/many"
    result = sparks("operator", "table", "query", "-c", "warm", "-p", parameters)
    assert result.exit_code == 0, result.stderr
    assert result.json["Data"][0]["Rows"] == [{"n": 90_001, "s": sum(n * p for n in range(MANY) for p in range(n % 4))}]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def test_the_same_tables_on_the_cluster(data: Mason, cluster: Cluster) -> None:
    runner = {"type": "submit", "master": cluster.master, "executors": 2, "conf": cluster.conf}
    engines = {"metastore_engine": "local", "storage_engine": "local", "execution_engine": "spark"}
    configuration = {**engines, "clients": {"spark": {"configuration": {"runner": runner}}}}
    write(data.folder / "configs", {"cluster.yaml": yaml.safe_dump(configuration)})
    assert data("config", "configs").exit_code == 0

    exploded(data, "cluster")
