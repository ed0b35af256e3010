"""What Mason's commands cost in CPU time, beside a bare Python and beside DuckDB, all measured in one run.

Run it with the project's environment: .venv/bin/python benchmarks/cli.py
Every figure is the minimum of several runs of a whole process, user and system time.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
MASON = str(Path(sys.executable).parent / "mason")
RUNS = 20
OPERATORS = 20
FILES = 1_000
ROWS = 100

DESCRIBE = "import duckdb; print(duckdb.connect().execute(\"DESCRIBE SELECT * FROM read_csv('{}'{})\").fetchall())"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        os.environ["MASON_HOME"] = str(Path(folder) / "home")
        os.chdir(folder)
        run([MASON, "register", "operators"])
        bare = cpu_ms([sys.executable, "-c", "pass"])
        print(f"python -c pass: {bare:.1f} ms\n")
        report("mason --help", cpu_ms([MASON, "--help"]), "python -c pass", bare, 6)
        report(f"mason operator, {OPERATORS} registered", cpu_ms([MASON, "operator"]), "python -c pass", bare, 8)
        compare_with_duckdb()


def compare_with_duckdb() -> None:
    """`table get` looks into every file; DuckDB does so with union_by_name, and into one file without it."""
    get = cpu_ms([MASON, "operator", "table", "get", "-p", "database_name:shop,table_name:sales"], runs=10)
    files = "shop/sales/*.csv"
    one_file = cpu_ms([sys.executable, "-c", DESCRIBE.format(files, "")], runs=10)
    all_files = cpu_ms([sys.executable, "-c", DESCRIBE.format(files, ", union_by_name = true")], runs=3)
    name = f"table get, {FILES:,} CSV files"
    report(name, get, "DuckDB DESCRIBE, the first file's schema for all", one_file, 2)
    report(name, get, "DuckDB DESCRIBE, union_by_name", all_files, 2)


def report(name: str, ours: float, rival: str, theirs: float, limit: float) -> None:
    verdict = "ok" if ours / theirs <= limit else "OVER"
    print(f"{name}: {ours:.1f} ms = {ours / theirs:.2f} × {rival} ({theirs:.1f} ms); at most {limit} ×: {verdict}")


def cpu_ms(command: Sequence[str], runs: int = RUNS) -> float:
    return 1000 * min(cpu_seconds(command) for _ in range(runs))


def cpu_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def write_operators(folder: Path) -> None:
    shutil.copytree(PROJECT / "mason" / "examples" / "operators", folder)
    for number in range(OPERATORS - len(list(folder.rglob("operator.yaml")))):
        copy = folder / "bench" / f"get{number}"
        shutil.copytree(folder / "table" / "get", copy)
        definition = (copy / "operator.yaml").read_text()
        definition = definition.replace('"table"', '"bench"').replace('"get"', f'"get{number}"')
        (copy / "operator.yaml").write_text(definition)
        code = (copy / "__init__.py").read_text()
        (copy / "__init__.py").write_text(code.replace("TableGet", f"BenchGet{number}"))


def prepare(folder: Path) -> None:
    """Write a folder of CSV files and some operators: those that come with Mason, and more of the same kind."""
    write_operators(folder / "operators")
    sales = folder / "shop" / "sales"
    sales.mkdir(parents=True)
    for number in range(FILES):
        rows = (
            f"{number * ROWS + row},article {row},{row * 7 % 100}.{row % 100:02},2026-01-{row % 28 + 1:02},"
            f"2026-01-01 10:{row % 60:02}:00,{'true' if row % 2 else 'false'}\n"
            for row in range(ROWS)
        )
        (sales / f"{number:04}.csv").write_text("id,name,price,day,at,paid\n" + "".join(rows))


if __name__ == "__main__":
    main()
