"""A chain of tasks in Luigi with its local scheduler; what is done is recorded by files, as Luigi does it."""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from pathlib import Path

import luigi

from benchmarks.child import answer


class Step(luigi.Task):
    folder = luigi.Parameter()
    number = luigi.IntParameter()

    def requires(self) -> list[Step]:
        return [Step(self.folder, self.number - 1)] if self.number else []

    def output(self) -> luigi.LocalTarget:
        return luigi.LocalTarget(f"{self.folder}/{self.number}")

    def run(self) -> None:
        Path(self.output().path).touch()


def main(home: str, *_: str) -> None:
    """Run a chain of as many steps as each line of stdin says."""
    runs = 0

    def work(word: str) -> object:
        nonlocal runs
        if word == "version":
            return version("luigi")
        runs += 1
        folder = Path(home) / str(runs)
        folder.mkdir()
        began = time.perf_counter()
        assert luigi.build([Step(str(folder), int(word) - 1)], local_scheduler=True, log_level="ERROR")
        took = time.perf_counter() - began
        assert len(list(folder.iterdir())) == int(word)
        return took

    answer(work)


if __name__ == "__main__":
    main(*sys.argv[1:])
