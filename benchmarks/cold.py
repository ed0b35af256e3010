"""Commands that start Spark, with an archive of its classes, beside bare Spark and beside Mason before it had one.

.venv/bin/python -m benchmarks.cold [--rounds 5] [--before COMMIT]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.contestants import remove
from benchmarks.measure import Comparison, Contestant, Result, interleaved, seconds
from benchmarks.script import MASON, PROJECT, Script, script
from benchmarks.small_merge import run
from mason.clients.spark.class_archive import FOLDER_VARIABLE, OFF, ClassArchive
from mason.clients.spark.java_home import java_home

BESIDE_BARE = 1.4
BESIDE_BEFORE = 0.55
FIRST_WARM = 0.6
BEFORE = "6eafffc"
ROWS = 3
CONFIGURATION = """\
id: {warm}
metastore_engine: local
storage_engine: local
execution_engine: spark
clients: {{spark: {{configuration: {{runner: {{type: local, warm: {warm}}}}}}}}}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with")
    with script(__doc__, rounds=7, parser=parser) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write the files, make the archive, and measure."""
    folder = running.folder
    (folder / "in").mkdir()
    (folder / "in" / "orders.csv").write_text("id,amount\n1,5\n2,7\n3,9\n", encoding="utf-8")
    for warm in ("never", "always"):
        file = folder / f"{warm}.yaml"
        file.write_text(CONFIGURATION.format(warm=warm), encoding="utf-8")
        run([MASON, "config", str(file)])
    run([MASON, "register", str(PROJECT / "mason" / "examples" / "operators" / "table" / "merge")])
    archive = ClassArchive.of(java_home(), {FOLDER_VARIABLE: str(folder / "classes")})
    if archive is None or not archive.make():
        raise RuntimeError("There is no archive of Spark's classes.")
    before = checkout(running.options.before, folder / "before")

    bare = [sys.executable, str(Path(__file__).parent / "bare_rdd.py"), str(archive.file)]
    places = (str(folder / "in"), str(folder / "bare.parquet"))
    forget = tidied(folder)
    cold = [
        Contestant("bare Spark, archive, RDD", seconds(lambda: run([*bare, *places], plain(java_home()))), forget),
        Contestant("Mason", seconds(lambda: merge(PROJECT, folder, "never", str(archive.file.parent))), forget),
        Contestant("Mason before", seconds(lambda: merge(before, folder, "never", OFF)), forget),
    ]
    rival, ours, former = interleaved(cold, running.rounds, warm_ups=1)
    first = [
        Contestant("Mason", seconds(lambda: merge(PROJECT, folder, "always", str(archive.file.parent))), forget),
        Contestant("Mason before", seconds(lambda: merge(before, folder, "always", OFF)), forget),
    ]
    warm, warm_before = interleaved(first, running.rounds, warm_ups=1)
    return Result(
        "cold",
        f"{ROWS} rows in a CSV file; Spark is started for each command",
        [
            Comparison("cold merge, beside bare Spark", ours, rival, limit=BESIDE_BARE),
            Comparison("cold merge, beside the version before", ours, former, limit=BESIDE_BEFORE),
            Comparison(
                "the first command of a warm server, beside the version before", warm, warm_before, limit=FIRST_WARM
            ),
        ],
    )


def checkout(commit: str, folder: Path) -> Path:
    """Return the project as it was at a commit."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit, "mason"], cwd=PROJECT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def tidied(folder: Path) -> Callable[[], None]:
    """Return what makes the next command a first one: no output, and no server."""

    def tidy() -> None:
        from mason.clients.spark.server.status import stop_servers

        stop_servers()
        remove(folder / "out")

    return tidy


def merge(project: Path, folder: Path, warm: str, archives: str) -> None:
    """Merge with the code of a project."""
    parameters = f"input_path:{folder / 'in'},output_path:{folder / 'out'}"
    command = [sys.executable, "-m", "mason", "operator", "table", "merge", "-c", warm, "-p", parameters]
    told = run(command, {**os.environ, "PYTHONPATH": str(project), FOLDER_VARIABLE: archives, "CI": ""})
    if f'"RowsOut": {ROWS}' not in told:
        raise RuntimeError(f"Not {ROWS} rows: {told}")


def plain(java: Path) -> dict[str, str]:
    """Return the environment of a bare Spark."""
    return {**os.environ, "JAVA_HOME": str(java), "PYSPARK_PYTHON": sys.executable}


if __name__ == "__main__":
    main()
