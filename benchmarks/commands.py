"""What Mason's commands cost in CPU time, beside a bare Python and beside DuckDB.

.venv/bin/python -m benchmarks.commands [--scale 0.01]
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Comparison, Contestant, Result, Runs, interleaved
from benchmarks.profiling import profile_command
from benchmarks.script import MASON, PROJECT, Script, script

OPERATORS = 20
FILES = 1_000
ROWS = 100
SLOW_ROUNDS = 3
MOST_SECONDS = 300

GET = ("operator", "table", "get", "-p", "database_name:shop,table_name:sales")
DESCRIBE = "import duckdb; print(duckdb.connect().execute(\"DESCRIBE SELECT * FROM read_csv('{}'{})\").fetchall())"


def main() -> None:
    with script(__doc__, rounds=20) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write operators and files and measure."""
    files = max(int(FILES * running.scale), 10)
    os.chdir(running.folder)
    write_operators(Path("operators"))
    write_files(Path("shop/sales"), files)
    run([MASON, "register", "operators"])
    comparisons = [*_small_commands(running.rounds), *_gets(running.rounds)]
    told = f"{OPERATORS} operators registered, {files:,} CSV files in the table"
    result = Result("commands", told, comparisons)
    if running.wants_profile(result):
        return replace(result, profile=profile_command(f"`mason {' '.join(GET[:3])}`", GET, running.folder))
    return result


def _small_commands(rounds: int) -> list[Comparison]:
    bare, usage, listing = interleaved(
        [
            _contestant("python -c pass", [sys.executable, "-c", "pass"]),
            _contestant("mason --help", [MASON, "--help"]),
            _contestant("mason operator", [MASON, "operator"]),
        ],
        rounds,
    )
    return [
        Comparison("`mason --help`", usage, bare, "ms", limit=5),
        Comparison("`mason operator`", listing, bare, "ms", limit=8),
    ]


def _gets(rounds: int) -> list[Comparison]:
    """`table get` looks into every file; DuckDB does so with union_by_name, and into one file without it."""
    files = "shop/sales/*.csv"
    get = _contestant("mason operator table get", [MASON, *GET])
    first = _contestant("DuckDB DESCRIBE", [sys.executable, "-c", DESCRIBE.format(files, "")])
    every = _contestant(
        "DuckDB DESCRIBE, union_by_name", [sys.executable, "-c", DESCRIBE.format(files, ", union_by_name = true")]
    )
    one_file, ours = interleaved([first, get], min(rounds, 10))
    (all_files,) = interleaved([every], min(rounds, SLOW_ROUNDS))  # seconds each, and far from the limit
    some = Runs(ours.label, ours.values[: len(all_files.values)])
    return [
        Comparison("`table get`", ours, one_file, "ms", limit=2),
        Comparison("`table get`", some, all_files, "ms", limit=2),
    ]


def _contestant(label: str, command: Sequence[str]) -> Contestant:
    return Contestant(label, lambda: 1000 * cpu_seconds(command))


def cpu_seconds(command: Sequence[str]) -> float:
    """Return the time that a process took of the processor, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=MOST_SECONDS)


def write_operators(folder: Path) -> None:
    """Write the operators that come with Mason, and more of the same kind."""
    shutil.copytree(PROJECT / "mason" / "examples" / "operators", folder)
    for number in range(OPERATORS - len(list(folder.rglob("operator.yaml")))):
        copy = folder / "bench" / f"get{number}"
        shutil.copytree(folder / "table" / "get", copy)
        definition = (copy / "operator.yaml").read_text()
        definition = definition.replace('"table"', '"bench"').replace('"get"', f'"get{number}"')
        (copy / "operator.yaml").write_text(definition)
        code = (copy / "__init__.py").read_text()
        (copy / "__init__.py").write_text(code.replace("TableGet", f"BenchGet{number}"))


def write_files(folder: Path, files: int) -> None:
    """Write a folder of small CSV files."""
    folder.mkdir(parents=True)
    for number in range(files):
        rows = (
            f"{number * ROWS + row},article {row},{row * 7 % 100}.{row % 100:02},2026-01-{row % 28 + 1:02},"
            f"2026-01-01 10:{row % 60:02}:00,{'true' if row % 2 else 'false'}\n"
            for row in range(ROWS)
        )
        (folder / f"{number:04}.csv").write_text("id,name,price,day,at,paid\n" + "".join(rows))


if __name__ == "__main__":
    main()
