"""What the list of a project's operators costs in CPU time, beside a bare Python.

.venv/bin/python -m benchmarks.projects [--scale 0.01]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.commands import cpu_seconds
from benchmarks.measure import Comparison, Contestant, Result, interleaved
from benchmarks.script import MASON, PROJECT, Script, script

OPERATORS = 200


def main() -> None:
    with script(__doc__, rounds=20) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Write a project and measure its list, which has what comes with Mason behind it."""
    count = max(int(OPERATORS * running.scale), 10)
    os.chdir(running.folder)
    write_project(Path(), count)
    bare, listing = interleaved(
        [
            Contestant("python -c pass", lambda: 1000 * cpu_seconds([sys.executable, "-c", "pass"])),
            Contestant("mason operator", lambda: 1000 * cpu_seconds([MASON, "operator"])),
        ],
        running.rounds,
    )
    told = f"a project of {count} operators"
    return Result("projects", told, [Comparison(f"`mason operator`, {told}", listing, bare, "ms", limit=10)])


def write_project(folder: Path, count: int) -> None:
    """Write a project whose operators are copies of one of Mason's."""
    (folder / "mason.yaml").write_text("name: bench\noperators: [operators]\n")
    original = PROJECT / "mason" / "examples" / "operators" / "table" / "get"
    definition = (original / "operator.yaml").read_text().replace('"table"', '"bench"')
    code = (original / "__init__.py").read_text()
    for number in range(count):
        copy = folder / "operators" / "bench" / f"get{number}"
        copy.mkdir(parents=True)
        (copy / "operator.yaml").write_text(definition.replace('"get"', f'"get{number}"'))
        (copy / "__init__.py").write_text(code.replace("TableGet", f"BenchGet{number}"))


if __name__ == "__main__":
    main()
