"""What the REST API costs beside a bare Starlette application and beside a server that re-reads everything.

.venv/bin/python -m benchmarks.api [--scale 0.1]
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

from benchmarks.measure import Comparison, Result, Runs
from benchmarks.script import MASON, PROJECT, Script, script

CONNECTIONS = 8
REQUESTS = 4_000
FLASK_REQUESTS = 400
TARGET = "/api/table/orders?database_name=shop"
FIRST = {"mason": "/api/tables?database_name=shop"}
"""What is asked first: of Mason, an operator that need not load a library for the schemas of files."""
CONFIGURATION = """\
id: files
metastore_engine: local
storage_engine: local
execution_engine: local
scheduler_engine: local
"""


def main() -> None:
    with script(__doc__, rounds=5) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Start the servers, ask each in turn, and measure how soon they answer after they were started."""
    os.chdir(running.folder)
    _prepare(running.folder)
    starts = _starts(running.rounds)
    with ExitStack() as servers:
        ports = {name: servers.enter_context(_Server(name)) for name in ("mason", "starlette", "flask")}
        requests = {name: max(int(REQUESTS * running.scale), CONNECTIONS * 5) for name in ("mason", "starlette")}
        requests["flask"] = max(int(FLASK_REQUESTS * running.scale), CONNECTIONS * 5)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in ports}
        for number in range(-1, running.rounds):
            for name, server in ports.items():
                seconds, p99 = _load(server.port, requests[name])
                if number >= 0:
                    found[name].append((seconds, p99))
                print(f"{name}: {1 / seconds:,.0f} requests/s, p99 {1000 * p99:.1f} ms", flush=True)
    ours, bare, original = (
        Runs(label, [1000 * seconds for seconds, _ in found[name]])
        for label, name in (("Mason", "mason"), ("bare Starlette", "starlette"), ("Flask, re-reading", "flask"))
    )
    p99s = [Runs(label, [1000 * p99 for _, p99 in found[name]]) for label, name in _LABELS]
    comparisons = [
        Comparison("a request for a table, 8 connections", ours, bare, "ms a request", limit=1 / 0.7),
        Comparison("the slowest 1 % of them", *p99s, "ms a request", limit=3),
        Comparison("the same as it was done originally", ours, original, "ms a request", limit=20, ratio_is="speed-up"),
        Comparison("start to first answer", *starts, "s", limit=1.5),
    ]
    notes = [f"Mason: {1000 / ours.median:,.0f} requests/s, bare Starlette: {1000 / bare.median:,.0f}."]
    return Result("api", f"{CONNECTIONS} connections, one table of one CSV file", comparisons, notes=notes)


_LABELS = (("Mason", "mason"), ("bare Starlette", "starlette"))


def _prepare(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "orders.csv").write_text("id,price\n1,2.5\n2,3.5\n")
    (folder / "files.yaml").write_text(CONFIGURATION)
    for arguments in (
        ["config", "files.yaml"],
        ["register", str(PROJECT / "mason" / "examples" / "operators")],
        ["operator", "table", "infer", "-p", "database_name:shop,storage_path:shop/orders.csv,table_name:orders"],
    ):
        subprocess.run([MASON, *arguments], check=True, capture_output=True)


def _starts(rounds: int) -> list[Runs]:
    values: dict[str, list[float]] = {name: [] for _, name in _LABELS}
    for number in range(-1, rounds):
        for name, of_name in values.items():
            began = time.perf_counter()
            with _Server(name):
                if number >= 0:
                    of_name.append(time.perf_counter() - began)
    return [Runs(label, values[name]) for label, name in _LABELS]


class _Server:
    """A server in a process of its own, from its start to its first good answer, and until it is stopped."""

    def __init__(self, name: str) -> None:
        self.port = _free_port()
        self._command = _command(name, self.port)
        self._first = FIRST.get(name, TARGET)

    def __enter__(self) -> _Server:
        path = {**os.environ, "PYTHONPATH": str(PROJECT)}
        with open(os.devnull, "wb") as nowhere:
            self._process = subprocess.Popen(self._command, stdout=nowhere, stderr=nowhere, env=path)
        end = time.monotonic() + 60
        while True:
            try:
                with urlopen(f"http://127.0.0.1:{self.port}{self._first}", timeout=10) as answer:
                    assert answer.status == 200
                    return self
            except OSError:
                assert time.monotonic() < end and self._process.poll() is None, self._command
                time.sleep(0.005)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(60)


def _command(name: str, port: int) -> Sequence[str]:
    if name == "mason":
        return [sys.executable, "-m", "mason", "run", "--root", ".", "--port", str(port)]
    return [sys.executable, "-m", "benchmarks.api_rivals", name, str(port)]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _load(port: int, requests: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.api_load", "127.0.0.1", str(port), TARGET]
    done = subprocess.run(
        [*command, str(CONNECTIONS), str(requests)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    return told["seconds"] / told["requests"], told["p99"]


if __name__ == "__main__":
    main()
