"""A command as a user would start it: `KERNEL TASK…` on a local runner, `query SQL`, `attacks SQL…`, or `count PATH` of
Parquet files.

MASON_TEST_RUNNER has the runner as JSON. What happened is printed as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from mason.clients.spark.runners import build_runner
from mason.clients.spark.runners.local import LocalRunner, connect
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.settings import RunnerSettings
from mason.errors import MasonError
from mason.pipeline.sql.query import SqlQuery, fetch_rows
from mason.pipeline.work.tasks import without_beats


def main(kernel: str, *tasks: str) -> dict[str, object]:
    runner = json.loads(os.environ.get("MASON_TEST_RUNNER", "{}"))
    settings = RunnerSettings.of({"runner": {"type": "local", "warm": "always", **runner}})
    if kernel == "count":
        return _count(settings, tasks[0])
    if kernel == "attacks":
        return _attacks({"type": "local", **runner}, tasks)
    local = LocalRunner(settings)
    if kernel == "query":
        rows = fetch_rows(local, SqlQuery(statement=tasks[0], tables=[]))
        return {"rows": rows.to_pylist()}
    try:
        done = list(without_beats(local.run(f"spark_kernels:{kernel}", [task.encode() for task in tasks])))
    except MasonError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    told: dict[str, object] = {"results": [[number, result.decode()] for number, result in sorted(done)]}
    if local._held:
        session = local._held.session
        told |= {"session": session.lease.id, "server": session.server.server.pid, "key": session.server.key}
    return told


def _attacks(runner: dict[str, object], statements: tuple[str, ...]) -> dict[str, object]:
    """Ask any runner statements that nobody has checked, and what the environment of its Java is."""
    asked = build_runner({"runner": runner})
    answers: list[object] = []
    for statement in statements:
        try:
            answers.append(fetch_rows(asked, SqlQuery(statement=statement, tables=[])).to_pylist())
        except MasonError as error:
            answers.append(str(error))
    ((_, environments),) = without_beats(asked.run("spark_kernels:java_environments", [b""]))
    asked.close()
    return {"answers": answers, "environments": environments.decode().split("\0")}


def _count(settings: RunnerSettings, path: str) -> dict[str, object]:
    from mason.clients.spark.java_home import java_home

    held = connect(Launch.of(settings, java_home()))
    counted = held.spark.read.parquet(path).count()
    told = {"rows": counted, "session": held.session.lease.id, "server": held.session.server.server.pid}
    held.release()
    return dict(told)


if __name__ == "__main__":
    logging.basicConfig(format="%(levelname)s %(message)s")
    json.dump(main(*sys.argv[1:]), sys.stdout)
