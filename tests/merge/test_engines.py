"""The same files give the same table, whichever engine runs the tasks. On the cluster: `test_cluster.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import connect_server
from tests.conftest import Mason, write
from tests.merge.golden import GOLDEN, QUARANTINED, RECORDS, ROWS, read_golden, write_golden

ENGINE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: {engine}\nclients:\n{clients}"
SPARK = "  spark:\n    configuration:\n      runner:\n        type: local\n        warm: {warm}\n"
CONNECT = "  spark:\n    configuration:\n      runner:\n        type: connect\n        url: sc://localhost:{port}\n"
ENGINES = ("here", "warm", "cold", "connect")


@pytest.fixture
def engines(mason: Mason, tmp_path: Path) -> Iterator[Mason]:
    mason.variables["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir(mode=0o700)
    (tmp_path / "connect").mkdir()
    with connect_server(tmp_path / "connect") as port:
        write(
            mason.folder / "configs",
            {
                "here.yaml": ENGINE.format(engine="local", clients="  local: {configuration: {}}\n"),
                "warm.yaml": ENGINE.format(engine="spark", clients=SPARK.format(warm="always")),
                "cold.yaml": ENGINE.format(engine="spark", clients=SPARK.format(warm="never")),
                "connect.yaml": ENGINE.format(engine="spark", clients=CONNECT.format(port=port)),
            },
        )
        assert mason("config", "configs").exit_code == 0
        yield mason.register_examples()
        assert mason("spark", "stop").exit_code == 0


@pytest.mark.timeout(600)
def test_the_same_rows_and_types_here_on_a_warm_spark_on_one_in_this_process_and_over_connect(engines: Mason) -> None:
    write_golden(engines.folder / "in")

    for engine in (*ENGINES, "warm"):  # the second time on the workers that the first left behind
        result = engines("operator", "table", "merge", "-c", engine, "-p", f"input_path:in,output_path:out/{engine}")

        assert result.exit_code == 0, result.stderr
        (job,) = result.json["Data"]
        counts = (job["RowsIn"], job["RowsOut"], job["RowsQuarantined"])
        assert counts == (RECORDS, len(ROWS), len(QUARANTINED)), engine
        assert read_golden(engines.folder / "out" / engine) == GOLDEN, engine
    listed = engines("operator", "job", "list", "-c", "here").json["Data"]
    assert [each["Status"] for each in listed] == ["succeeded"] * 5
