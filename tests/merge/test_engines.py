"""The same files give the same table, whichever engine runs the tasks."""

from __future__ import annotations

import pytest

from tests.cluster import Sparks
from tests.conftest import Mason, write
from tests.merge.golden import GOLDEN, QUARANTINED, RECORDS, ROWS, read_golden, write_golden

ENGINES = ("here", "warm", "cold", "connect", "submit")


@pytest.fixture
def engines(mason: Mason, sparks: Sparks) -> Mason:
    mason.variables["XDG_RUNTIME_DIR"] = str(sparks.runtime)
    write(mason.folder / "configs", sparks.configurations())
    assert mason("config", "configs").exit_code == 0
    return mason.register_examples()


@pytest.mark.timeout(600)
def test_the_same_rows_and_types_on_every_engine(engines: Mason) -> None:
    write_golden(engines.folder / "in")

    for engine in (*ENGINES, "warm"):  # the second time on the workers that the first left behind
        result = engines("operator", "table", "merge", "-c", engine, "-p", f"input_path:in,output_path:out/{engine}")

        assert result.exit_code == 0, result.stderr
        (job,) = result.json["Data"]
        counts = (job["RowsIn"], job["RowsOut"], job["RowsQuarantined"])
        assert counts == (RECORDS, len(ROWS), len(QUARANTINED)), engine
        assert read_golden(engines.folder / "out" / engine) == GOLDEN, engine
    listed = engines("operator", "job", "list", "-c", "here").json["Data"]
    assert [each["Status"] for each in listed] == ["succeeded"] * 6
