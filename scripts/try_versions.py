"""Runs the core of the tests on other versions of Python and PySpark, and writes what came of it to docs/versions.md.

scripts/try_versions.py --python python3.12 --python ~/.pyenv/versions/3.13.0/bin/python --pyspark 4.2.1

Each Python gets an environment of its own below .venv/versions, with the locked packages. Each PySpark is tried on the
Python that runs this script. `--only tests/util` runs less; what was run stands in the table.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

CORE = (
    *(f"tests/{each}" for each in ("parameters", "util", "state", "operators", "pipeline", "format", "explode", "sql")),
    *("tests/merge/test_options.py", "tests/jobs/test_golden_jobs.py", "tests/spark/test_in_process.py"),
)
"""What works by itself, in some minutes: no servers of others, no clouds, and a few starts of Spark."""

PAGE = """\
# Versions of Python and PySpark

Mason is developed and tested as a whole on Python 3.11 with the packages of its lock files. `scripts/try_versions.py`
runs the core of the tests on others. The versions of PySpark beside the locked one are outside what `pyproject.toml`
allows: they are tried to know what is coming.

| Python | PySpark | tests | result | day |
|---|---|---|---|---|
{rows}
"""
_PROJECT = Path(__file__).parent.parent
_PLACE = _PROJECT / "docs" / "versions.md"
_ROW = re.compile(r"\| (\d\S*) \| (\d\S*) \|.*\|")


@dataclass(frozen=True)
class Trial:
    """A Python, and a PySpark that is not the locked one; "" for that."""

    interpreter: str
    pyspark: str = ""


@dataclass(frozen=True)
class Environment:
    """The virtual environment of a trial."""

    python: Path

    @classmethod
    def prepare(cls, trial: Trial) -> Environment:
        """Make the environment and install what is locked, but for a PySpark that is tried."""
        version = _ask(trial.interpreter, "import platform; print(platform.python_version())")
        folder = _PROJECT / ".venv" / "versions" / "-".join(filter(None, [version, trial.pyspark]))
        made = cls(folder / "bin" / "python")
        if not made.python.exists():
            subprocess.run([trial.interpreter, "-m", "venv", folder], check=True)
        made.install("--require-hashes", "-r", "requirements-build.lock")
        made.install("--require-hashes", "-r", "requirements-dev.lock")
        made.install("--no-deps", "--editable", ".")
        if trial.pyspark:
            made.install(f"pyspark[connect]=={trial.pyspark}")
        return made

    def install(self, *arguments: str) -> None:
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation"]
        subprocess.run([*pip, *arguments], cwd=_PROJECT, check=True)

    def version_of(self, package: str) -> str:
        return _ask(str(self.python), f"from importlib.metadata import version; print(version({package!r}))")

    def run_tests(self, tests: Sequence[str]) -> str:
        """Run tests and return the last line of what pytest says: how many passed and failed."""
        # What a test starts by name, it finds in this environment.
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, "PATH": path, "MASON_CLASS_ARCHIVES": "off"}
        command = [self.python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadscope", *tests]
        done = subprocess.run(command, cwd=_PROJECT, env=variables, stdout=subprocess.PIPE, text=True, check=False)
        sys.stdout.write(done.stdout)
        return re.sub(r" in [0-9.]+s.*", "", done.stdout.strip().splitlines()[-1]).strip("= ")


def _ask(interpreter: str, code: str) -> str:
    return subprocess.run([interpreter, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def read_rows(page: str) -> dict[tuple[str, str], str]:
    """Return the rows of the page by their versions."""
    found = (_ROW.fullmatch(line) for line in page.splitlines())
    return {(match[1], match[2]): match[0] for match in found if match}


def write_page(rows: Mapping[tuple[str, str], str]) -> str:
    """Return the page with these rows, the oldest versions first."""
    ordered = sorted(rows, key=lambda versions: [[int(each) for each in re.findall(r"\d+", one)] for one in versions])
    return PAGE.format(rows="\n".join(rows[each] for each in ordered))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="an interpreter; may be given several times")
    parser.add_argument("--pyspark", action="append", default=[], help="a version; may be given several times")
    parser.add_argument("--only", action="append", default=[], help="tests to run in place of the core")
    given = parser.parse_args()
    trials = [Trial(each) for each in given.python] + [Trial(sys.executable, each) for each in given.pyspark]
    tests = given.only or CORE
    named = "core" if not given.only else ", ".join(f"`{each}`" for each in given.only)
    is_well = True
    for trial in trials:
        environment = Environment.prepare(trial)
        python = _ask(str(environment.python), "import platform; print(platform.python_version())")
        pyspark = environment.version_of("pyspark")
        came = environment.run_tests(tests)
        is_well = is_well and "failed" not in came and "error" not in came
        rows = read_rows(_PLACE.read_text(encoding="utf-8") if _PLACE.exists() else "")
        row = f"| {python} | {pyspark} | {named} | {came} | {datetime.now(UTC):%Y-%m-%d} |"
        _PLACE.write_text(write_page({**rows, (python, pyspark): row}), encoding="utf-8")
        sys.stdout.write(f"{row}\n")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
