"""Figures: how they are taken, what they say beside a rival's, and the file that keeps them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("pyspark", "pyarrow", "duckdb")
LARGEST_SIZE_DIFFERENCE = 0.1


@dataclass(frozen=True)
class Runs:
    """The figures of one contestant, one of each round."""

    label: str
    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def minimum(self) -> float:
        return min(self.values)

    @property
    def maximum(self) -> float:
        return max(self.values)


@dataclass(frozen=True)
class Comparison:
    """Mason beside a rival. A cost is Mason ÷ rival and has an upper limit, a speed-up is rival ÷ Mason and a lower."""

    job: str
    ours: Runs
    rival: Runs
    unit: str = "s"
    limit: float | None = None
    ratio_is: Literal["cost", "speed-up"] = "cost"

    @property
    def ratio(self) -> float:
        return self._of(self.ours.median, self.rival.median)

    @property
    def ratios(self) -> Sequence[float]:
        """The ratio of each round by itself: how far they lie apart is how far the ratio can be trusted."""
        return [self._of(ours, rival) for ours, rival in zip(self.ours.values, self.rival.values, strict=True)]

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.limit is None:
            return None
        return self.ratio <= self.limit if self.ratio_is == "cost" else self.ratio >= self.limit

    def _of(self, ours: float, rival: float) -> float:
        return ours / rival if self.ratio_is == "cost" else rival / ours


@dataclass(frozen=True)
class Output:
    """What a contestant wrote: the digest is over all columns of all rows, whatever their order."""

    label: str
    rows: int
    digest: str
    bytes: int


@dataclass(frozen=True)
class HotSpot:
    """A function of a profile: the seconds within it and not within what it calls."""

    function: str
    calls: int
    seconds: float


@dataclass(frozen=True)
class Profile:
    """Where the time goes."""

    what: str
    seconds: float
    functions: Sequence[HotSpot]


@dataclass(frozen=True)
class Result:
    """What a script found out."""

    name: str
    data: str
    comparisons: Sequence[Comparison]
    outputs: Sequence[Output] = ()
    notes: Sequence[str] = ()
    profile: Profile | None = None
    scale: float = 1.0
    date: str = ""
    machine: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Result:
        profile = value["profile"]
        read: dict[str, Any] = {
            "comparisons": [_comparison(each) for each in value["comparisons"]],
            "outputs": [Output(**each) for each in value["outputs"]],
            "profile": profile and Profile(**{**profile, "functions": [HotSpot(**f) for f in profile["functions"]]}),
        }
        return cls(**{**value, **read})

    @property
    def all_met(self) -> bool:
        return all(each.met is not False for each in self.comparisons)


def _comparison(value: Mapping[str, Any]) -> Comparison:
    return Comparison(**{**value, "ours": Runs(**value["ours"]), "rival": Runs(**value["rival"])})


def read_results(folder: Path) -> dict[str, Result]:
    """Return the results that a folder keeps, by their names."""
    files = sorted(folder.glob("*.json"))
    return {file.stem: Result.of(json.loads(file.read_text(encoding="utf-8"))) for file in files}


@dataclass(frozen=True)
class Contestant:
    """One of those that do the same job. `before` is what a run needs done first; it is not measured."""

    label: str
    measure: Callable[[], float]
    before: Callable[[], None] = lambda: None


def seconds(work: Callable[[], object]) -> Callable[[], float]:
    """Return a measure of the wall time that something takes."""

    def measured() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return measured


def interleaved(contestants: Sequence[Contestant], rounds: int, *, warm_ups: int = 1) -> list[Runs]:
    """Let the contestants run in turn, so that a slow minute of the machine hits all of them alike."""
    found: list[list[float]] = [[] for _ in contestants]
    for number in range(-warm_ups, rounds):
        for contestant, values in zip(contestants, found, strict=True):
            contestant.before()
            os.sync()  # what the one before wrote is not for this one to wait for
            value = contestant.measure()
            if number >= 0:
                values.append(value)
            print(f"{'warm-up' if number < 0 else f'round {number + 1}'}: {contestant.label}: {value:.3f}", flush=True)
    return [Runs(contestant.label, values) for contestant, values in zip(contestants, found, strict=True)]


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = {package: version(package) for package in PACKAGES}
    return {"cores": cores, "memory_gib": round(memory / 2**30, 1), "python": platform.python_version(), **versions}


def today() -> str:
    return datetime.now(UTC).date().isoformat()
