"""Runs statements on one engine, for `scripts/attack_queries.py` to watch: `python -m … ENGINE FOLDER checked`."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mason.clients.spark.in_process import InProcessRunner as SparkRunner
from mason.clients.spark.settings import RunnerSettings
from mason.engines.storage.models.location import LOCAL
from mason.pipeline.driving.execution import InProcessRunner as LocalRunner
from mason.pipeline.sql.query import SqlQuery, SqlTable, fetch_rows
from mason.pipeline.sql.rendering import render_for_spark
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.work.tasks import TaskRunner

ORDERS = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "tags": [["x"], [], None]})
PEOPLE = pa.table({"id": [1, 2], "user": ["ada", "bob"]})
WARM_UP = (
    "select *, count(*) over (partition by name order by id) as n from orders order by id",
    "select o.name, sum(p.id) as s, max(user) as u from orders o left join people p on o.id = p.id group by 1",
    "select explode(tags) as tag from orders union select upper(name) from orders",
    "select regexp_replace(name, 'a', 'b') as r, date_format(timestamp'2026-01-01 00:00:00', 'yyyy') as d from orders",
    "select from_json('{\"a\":1}', 'a int').a as j, parse_url('http://a/b', 'HOST') as h from orders",
    "select sha2(name, 256) as s, decode(encode(name, 'utf-8'), 'utf-8') as e from orders",
    "select transform(tags, x -> x || 'y') as t, interval 1 day 2 hours as i from orders",
    "select /*+ broadcast(orders) */ exists (select 1 from people) as e from orders",
    "select get_json_object('{\"a\":1}', '$.a') as g, nosuchcolumn as n from orders",
    "select 1/0 as x from orders",
)


def main(engine: str, folder: Path, checked: bool) -> None:
    """Warm the engine up, wait to be watched, and ask everything."""
    tables = [_written(folder, "orders", ORDERS), _written(folder, "people", PEOPLE)]
    statements = json.loads((folder / "statements.json").read_text())
    runner: TaskRunner = LocalRunner() if engine == "local" else SparkRunner(RunnerSettings(conf=_scratch(folder)))
    for _ in range(3):  # until what is loaded late, such as compilers, is there
        for statement in WARM_UP:
            _ask(runner, statement, tables, checked=True)
    (folder / "ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.1)
    answered = 0
    for number, statement in enumerate(statements):
        with suppress(OSError), open(f"{folder}/attack-number-{number}"):
            pass  # tells the watcher whose turn it is
        answered += _ask(runner, statement, tables, checked=checked)
    draft = folder / "done.draft"
    draft.write_text(json.dumps({"answered": answered, "refused": len(statements) - answered}))
    draft.rename(folder / "done")
    time.sleep(600)


def _ask(runner: TaskRunner, statement: str, tables: list[SqlTable], *, checked: bool) -> bool:
    try:
        rendered = render_for_spark(statement) if checked else ""
        fetch_rows(runner, SqlQuery(statement=statement, tables=tables, rendered=rendered, limit=5))
    except Exception:  # noqa: BLE001 (an answer or an error: what it got to is seen from outside)
        return False
    return True


def _scratch(folder: Path) -> dict[str, str]:
    """All that Spark writes down for itself lies in the folder, too.

    With its first heartbeat Spark asks the machine for the size of a page: that is over before anybody watches.
    """
    return {
        "spark.executor.heartbeatInterval": "500ms",
        "spark.local.dir": str(folder),
        "spark.python.unix.domain.socket.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} -Duser.home={folder}",
    }


def _written(folder: Path, name: str, table: pa.Table) -> SqlTable:
    path = folder / "tables" / name
    path.mkdir(parents=True)
    pq.write_table(table, path / "part.parquet")
    return SqlTable(
        name=name, path=str(path), storage=LOCAL, files=[str(path / "part.parquet")], schema=encode_schema(table.schema)
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "checked")
