"""The same files give the same table, whichever engine runs the tasks."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from tests.cluster import Sparks
from tests.conftest import Mason, write
from tests.merge.corpus_writers.archived import zipped
from tests.merge.corpus_writers.sheets import workbook
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


@pytest.mark.timeout(600)
def test_archives_sheets_encodings_and_patterns_are_the_same_on_spark(engines: Mason) -> None:
    folder = engines.folder / "mixed"
    folder.mkdir()
    (folder / "a.zip").write_bytes(zipped({"a.csv": "id;day;name\n1;31.01.2024;Ann\n2;31.02.2024;Bob\n"}))
    (folder / "b.xlsx").write_bytes(workbook({"One": [["id", "day", "name"], [3, "01.02.2024", "Eve"]]}))
    (folder / "c.csv").write_bytes("id;day;name\n4;29.02.2024;山田太郎\n5;01.03.2024;佐藤花子\n".encode("cp932"))
    schema = "schema:\"day date 'dd.MM.yyyy'\",most_bad_share:0.5"
    seen = []

    for engine in ("here", "warm"):
        given = f"input_path:mixed,output_path:mixed-{engine},{schema}"
        result = engines("operator", "table", "merge", "-c", engine, "-p", given)

        assert result.exit_code == 0, result.stderr
        (job,) = result.json["Data"]
        counts = (job["RowsIn"], job["RowsOut"], job["RowsQuarantined"])
        rows = pq.read_table(engines.folder / f"mixed-{engine}").to_pylist()
        seen.append((counts, sorted(rows, key=lambda row: row["id"]), job["Columns"]))

    assert seen[0] == seen[1]
    assert seen[0][0] == (5, 4, 1)
    assert [(row["id"], str(row["day"]), row["name"]) for row in seen[0][1]] == [
        (1, "2024-01-31", "Ann"),
        (3, "2024-02-01", "Eve"),
        (4, "2024-02-29", "山田太郎"),
        (5, "2024-03-01", "佐藤花子"),
    ]
