"""The same commands give the same answers here, on a warm Spark, over Connect on a cluster, and submitted to one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mason.engines.storage.models.location import Location
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from tests.cluster import Sparks, executors_of
from tests.conftest import Mason, write
from tests.explode import golden as explode
from tests.format import golden as formats
from tests.merge.golden import write_golden
from tests.spark.conftest import eventually
from tests.summary import golden as summary

pytestmark = pytest.mark.timeout(900)

ORDERS = {
    "shop/raw/a.csv": "id,day,country,price\n1,2026-01-01,DE,10.50\n2,2026-01-02,FR,3.00\n3,2026-01-03,,7.25\n",
    "shop/raw/b.jsonl": '{"id": 2, "day": "2026-02-01", "country": "FR", "price": 4, "note": "nëw"}\n'
    '{"id": 4, "day": null, "country": "DE", "price": null}\n'
    '{"id": 1, "day": "2026-01-01", "country": "DE", "price": 10.5}\n',
}
NOT_THE_SAME = {"JobID", "StartedAt", "EndedAt", "Commit", "InputCommit", "Log", "Files", "Bytes", "Inputs", "Outputs"}
NOT_THE_SAME |= {
    "Output",
    "Path",
    "InputBytes",
    "InputBytesDone",
    "BytesRead",
    "Tasks",
    "TasksDone",
    "Job",
    "CreatedAt",
    "Configuration",
}

Step = tuple[Sequence[str], Mapping[str, str]]

CHECKS = (
    "not_null id country",
    "unique id",
    "accepted_values country values=DE|FR",
    "range price min=4 max=10",
    "row_count min=30",
    "regular_expression note pattern=o.d",
    "foreign_key id name=dated references={}/twice",
)
CHECK = {
    "path": "{}/orders",
    "checks": ",".join(f"{each} on_failure=warn" for each in CHECKS),
    "as_of": "2026-02-01T12:00:00",
    "failures_path": "{}/failed",
    "samples": "2",
}

STEPS: Sequence[Step] = [
    (("table", "merge"), {"input_path": "shop/raw", "output_path": "{}/orders"}),
    (("table", "merge"), {"input_path": "shop/raw", "output_path": "{}/orders", "mode": "append"}),
    (("table", "history"), {"path": "{}/orders"}),
    (("table", "preview"), {"path": "{}/orders", "limit": "3"}),
    (
        ("table", "query"),
        {
            "database_name": "{}",
            "query_string": "select country, count(*) n, sum(price) s, max(day) d from orders where id < :most"
            " group by country order by country",
            "parameters": '{"most": 4}',
        },
    ),
    (
        ("table", "query"),
        {
            "database_name": "{}",
            "query_string": "select *, price * 2 as twice from orders where day is not null",
            "output_path": "{}/twice",
        },
    ),
    (("table", "check"), CHECK),
    (
        ("table", "dedupe"),
        {
            "path": "{}/orders",
            "keys": "id",
            "order_by": "day,price",
            "keep": "last",
            "output_path": "{}/latest",
            "removed_path": "{}/removed",
        },
    ),
    (("table", "dedupe"), {"path": "{}/orders"}),
    (("table", "diff"), {"path": "{}/orders", "other_path": "{}/latest", "keys": "id,day"}),
    (("table", "diff"), {"path": "{}/orders", "version": "1", "other_version": "3"}),
    (("table", "rollback"), {"path": "{}/orders", "to": "1"}),
    (("table", "vacuum"), {"path": "{}/orders", "keep": "2"}),
]
ENGINES = ("here", "warm", "connect")
TABLES = ("orders", "twice", "latest", "removed", "failed")


@pytest.fixture(scope="module")
def engines(sparks: Sparks, tmp_path_factory: pytest.TempPathFactory) -> Mason:
    root = tmp_path_factory.mktemp("engines")
    mason = Mason(root / "work", root / "home", {"XDG_RUNTIME_DIR": str(sparks.runtime)})
    write(mason.folder, ORDERS)
    write(mason.folder / "configs", sparks.configurations())
    assert mason("config", "configs").exit_code == 0
    return mason.register_examples()


def run_steps(mason: Mason, engine: str, steps: Sequence[Step], folder: str) -> list[Any]:
    answers = []
    for command, parameters in steps:
        given = [part for name, value in parameters.items() for part in ("-p", f"{name}:{value.replace('{}', folder)}")]
        result = mason("operator", *command, "-c", engine, *given)
        assert result.exit_code == 0, f"{engine}: {command}: {result.stderr}"
        answers.append((command, comparable(result.json["Data"], folder)))
    return answers


def comparable(value: Any, folder: str) -> Any:
    """What an answer says, without what is another for each run."""
    if isinstance(value, Mapping):
        return {name: comparable(each, folder) for name, each in value.items() if name not in NOT_THE_SAME}
    if isinstance(value, str):
        return value.replace(f"/{folder}/", "/folder/")
    return [comparable(each, folder) for each in value] if isinstance(value, list) else value


def rows_of(folder: Path) -> list[str]:
    scan = plan_scan(Location(str(folder)))
    assert scan.commit is not None
    rows = fetch_rows(
        InProcessRunner(), SqlQuery(statement="select * from t", tables=[ReadyTable("t", scan).sql_table()])
    )
    return [str(rows.schema), *sorted(map(repr, rows.to_pylist()))]


def test_every_operator_gives_the_same_answers_and_tables_on_every_engine(engines: Mason, sparks: Sparks) -> None:
    expected = run_steps(engines, "here", STEPS, "here")
    tables = {name: rows_of(engines.folder / "here" / name) for name in TABLES}
    for engine in ("warm", "connect"):
        for mine, theirs in zip(run_steps(engines, engine, STEPS, engine), expected, strict=True):
            assert mine == theirs, engine
        assert {name: rows_of(engines.folder / engine / name) for name in TABLES} == tables, engine
    eventually(lambda: executors_of(sparks.application) == {"0", "1"})  # what came by Connect the cluster did


def test_a_submitted_query_gives_the_same_answer_and_table(engines: Mason) -> None:
    """One operator: each is one application of Spark, or several, and over Connect the executors have done them all."""
    query = [step for step in STEPS if step[0][1] == "query" and "output_path" in step[1]]
    for engine in ("here", "submit"):
        run_steps(engines, "here", STEPS[:1], f"by_{engine}")

    (expected,), (answer,) = (run_steps(engines, engine, query, f"by_{engine}") for engine in ("here", "submit"))

    assert answer == expected
    assert rows_of(engines.folder / "by_submit" / "twice") == rows_of(engines.folder / "by_here" / "twice")


def test_the_same_flat_tables_with_the_same_keys_on_every_engine(engines: Mason) -> None:
    explode.write_golden(engines.folder / "nested" / "orders")
    explode.write_many(engines.folder / "nested" / "many")
    for engine in ENGINES:
        done = run(engines, engine, "explode", f"path:nested/orders,output_path:flat/{engine}/orders")
        counts = [done[name] for name in ("RowsIn", "RowsOut", "RowsQuarantined")]
        assert counts == [explode.RECORDS, explode.RECORDS - explode.QUARANTINED, explode.QUARANTINED], engine
        explode.check_golden(engines.folder / "flat" / engine / "orders")
    for engine in ENGINES:
        assert run(engines, engine, "explode", f"path:nested/many,output_path:flat/{engine}/many")["Tasks"] > 1
        explode.check_many(engines.folder / "flat" / engine / "many")
    query = "SELECT count(*) AS n, sum(o.n * l.position) AS s FROM many o JOIN many_l l ON o.many_id = l.many_id"
    answer = run(engines, "warm", "query", f"database_name:flat/warm/many,query_string:{query}")
    expected = sum(n * p for n in range(explode.MANY) for p in range(n % 4))
    assert answer["Rows"] == [{"n": 90_001, "s": expected}]


def test_the_same_summary_on_every_engine(engines: Mason) -> None:
    write_golden(engines.folder / "golden")
    summary.write_large(engines.folder / "large")
    golden, large = (summary.columns_of(engines, "here", path) for path in ("golden", "large"))
    summary.check_golden(golden)
    for engine in ENGINES[1:]:
        assert summary.columns_of(engines, engine, "golden") == golden, engine
        assert summary.columns_of(engines, engine, "large") == large, engine


def test_the_same_files_in_other_formats_on_every_engine(engines: Mason) -> None:
    formats.write_golden(engines.folder / "plain")
    for engine in ENGINES:
        for kind in ("csv", "json"):
            job = run(
                engines, engine, "format", f"path:plain,output_path:as/{engine}/{kind},format:{kind},filter:id <> 3"
            )
            counts = [job[name] for name in ("RowsIn", "RowsOut", "RowsFiltered", "RowsQuarantined")]
            assert counts == [4, 3, 1, 0], engine
        texts = formats.texts_of(engines.folder / "as" / engine / "csv")
        assert "".join(text.removeprefix(formats.HEADER) for text in texts) == formats.FIRST + formats.SECOND, engine
        (document,) = formats.texts_of(engines.folder / "as" / engine / "json")
        assert [row["id"] for row in json.loads(document)] == [1, 2, 4], engine
    shown = run(engines, "here", "preview", "path:as/warm/csv")
    assert [row["tags"] for row in shown["Rows"]] == [["a", None], None, []]


def run(mason: Mason, engine: str, command: str, parameters: str) -> dict[str, Any]:
    result = mason("operator", "table", command, "-c", engine, "-p", parameters)
    assert result.exit_code == 0, result.stderr
    done: dict[str, Any] = result.json["Data"][0]
    return done
