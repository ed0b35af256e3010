"""What all scripts have in common: options, a temporary folder, an end that leaves nothing behind, and saving."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.measure import RESULTS, Result, machine, today

PROJECT = Path(__file__).resolve().parent.parent
MASON = str(Path(sys.executable).parent / "mason")
MOST_SECONDS = 2 * 3600
BUSY = 0.5


@dataclass(frozen=True)
class Script:
    """A script that is running: where its data lie, and how much of everything is wanted."""

    folder: Path
    options: argparse.Namespace

    @property
    def scale(self) -> float:
        return float(self.options.scale)

    @property
    def rounds(self) -> int:
        return int(self.options.rounds)

    @property
    def results(self) -> Path | None:
        """Where the results go: to the page's own only if they are of the whole data."""
        given: Path | None = self.options.results
        return given or (RESULTS if self.scale == 1 else None)

    def bytes(self, whole: float) -> int:
        return int(whole * self.scale)

    def wants_profile(self, result: Result) -> bool:
        return self.options.profile or not result.all_met

    def save(self, result: Result) -> None:
        """Print what was found out; keep it unless it is only a try."""
        from benchmarks.report import render_result

        result = replace(result, scale=self.scale, date=today(), machine=machine())
        print("\n" + "\n".join(render_result(result)), flush=True)
        if self.results:
            self.results.mkdir(parents=True, exist_ok=True)
            (self.results / f"{result.name}.json").write_text(result.to_json(), encoding="utf-8")
        else:
            print("Not saved: the scale is not 1. Say where with --results.")


@contextmanager
def script(description: str | None, *, rounds: int, parser: argparse.ArgumentParser | None = None) -> Iterator[Script]:
    """Read the options and give a folder for the data; at the end, however it comes, folder and servers are gone."""
    parser = parser or argparse.ArgumentParser()
    parser.description = description
    parser.add_argument("--scale", type=float, default=1.0, help="how much data, 1 is what the page shows")
    parser.add_argument("--rounds", type=int, default=rounds, help="how often each contestant runs")
    parser.add_argument("--profile", action="store_true", help="take a profile though all targets are met")
    parser.add_argument("--results", type=Path, help="the folder of the results; the page's own for scale 1")
    options = parser.parse_args()
    _end_properly()
    if os.getloadavg()[0] > BUSY:
        print(f"warning: this machine is busy (load {os.getloadavg()[0]:.1f}): the figures will not be worth much")
    with tempfile.TemporaryDirectory(prefix="mason-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.environ["MASON_HOME"] = str(folder / "home")
        os.environ["MASON_RUNTIME_DIR"] = str(folder / "runtime")
        os.environ["MASON_CONFIG"] = ""
        try:
            yield Script(folder, options)
        finally:
            from mason.clients.spark.server.status import stop_servers

            stop_servers()


def _end_properly() -> None:
    """Turn the signals that would end this process at once into errors: then what it has begun is tidied up."""

    def end(number: int, _: object) -> None:
        raise SystemExit(f"ended by {signal.Signals(number).name}")

    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(each, end)
    signal.alarm(MOST_SECONDS)
