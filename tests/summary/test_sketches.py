"""The sketches themselves: what they say is within the error that they state, however the values are cut and mixed."""

from __future__ import annotations

import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.pipeline.jobs.summary.leaves import Leaf
from mason.pipeline.jobs.summary.sketches.columns import ColumnSketch, column_sketch, column_sketch_of
from mason.pipeline.jobs.summary.sketches.distinct import DistinctSet, DistinctSketch
from mason.pipeline.jobs.summary.sketches.frequent import FrequentValues, Tally
from mason.pipeline.jobs.summary.sketches.hashing import hash_numbers, hash_texts
from mason.pipeline.jobs.summary.sketches.moments import Moments
from mason.pipeline.jobs.summary.sketches.quantiles import QuantileSketch, quantiles
from mason.pipeline.jobs.summary.sketches.sketch import Sizes
from mason.pipeline.jobs.summary.summaries import summarize

KNOWN = (
    0x9CA066F1A4AB2EEA,
    0x3F8805A87949ECB3,
    0xFE1452252E56D43B,
    0x0000000000000000,
    0xB456BCFC34C2CB2C,
    0x64B5720B4B825F21,
)
USUAL = Sizes()
NUMBERS = st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=200)
TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=30)), max_size=200)
FLOATS = st.lists(st.one_of(st.none(), st.floats()), max_size=200)


def sketched(kind: pa.DataType, parts: Sequence[Sequence[Any]], sizes: Sizes = USUAL) -> ColumnSketch:
    """What the driver makes of tasks that got these parts: each result goes through JSON."""
    merged = column_sketch(kind, sizes)
    for number, part in enumerate(parts):
        task = column_sketch(kind, sizes, number)
        task.add(pa.array(part, kind))
        merged.merge(column_sketch_of(kind, sizes, json.loads(json.dumps(task.to_dict()))))
    return merged


def said(kind: pa.DataType, parts: Sequence[Sequence[Any]], sizes: Sizes = USUAL) -> dict[str, Any]:
    return summarize(Leaf("c", "c", "", kind), sketched(kind, parts, sizes), 10).to_dict()


def cut(values: list[Any], seed: int) -> list[list[Any]]:
    chance = random.Random(seed)
    mixed = chance.sample(values, len(values))
    places = sorted(chance.randint(0, len(values)) for _ in range(chance.randint(0, 5)))
    return [mixed[begin:end] for begin, end in zip([0, *places], [*places, len(values)], strict=True)]


@pytest.mark.parametrize(("kind", "values"), [(pa.int64(), NUMBERS), (pa.string(), TEXTS)], ids=["numbers", "texts"])
def test_few_values_give_the_same_summary_in_any_order_and_any_number_of_tasks(kind: pa.DataType, values: Any) -> None:
    @settings(deadline=None)
    @given(values, st.integers(0, 1000))
    def check(rows: list[Any], seed: int) -> None:
        whole, parts = said(kind, [rows]), said(kind, cut(rows, seed))
        deviations = [each.pop("StandardDeviation", 0.0) for each in (whole, parts)]
        means = [each.get("Lengths", {}).pop("Mean", 0.0) for each in (whole, parts)]
        assert whole == parts
        assert deviations[0] == pytest.approx(deviations[1], rel=1e-9)
        assert means[0] == pytest.approx(means[1])

    check()


@settings(deadline=None)
@given(FLOATS, st.integers(0, 1000))
def test_floats_of_any_kind_are_counted_however_they_are_cut(rows: list[Any], seed: int) -> None:
    found = said(pa.float64(), cut(rows, seed))
    present = [each for each in rows if each is not None]
    plain = [each for each in present if not math.isnan(each)]
    assert (found["Count"], found["Nulls"]) == (len(present), len(rows) - len(present))
    assert found["NaNs"] == len(present) - len(plain)
    assert found["Distinct"] == len(set(plain)) + (len(plain) < len(present))
    if plain:
        assert (found["Min"], found["Max"]) == (min(plain), max(plain))
        assert sum(each["Count"] for each in found["Histogram"] or []) == sum(map(math.isfinite, plain))


@settings(deadline=None)
@given(st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=100), st.integers(0, 1000))
def test_the_mean_of_decimals_is_exact(numbers: list[int], seed: int) -> None:
    exact = Context(prec=60)
    for digits, scale in ((38, 4), (18, 4)):
        whole = [each % 10**digits if digits == 18 else each for each in numbers]
        values = [Decimal(each).scaleb(-scale, exact) for each in whole]
        found = said(pa.decimal128(digits, scale), cut(values, seed))
        mean = exact.divide(Decimal(sum(whole)), Decimal(len(values))).scaleb(-scale, exact)
        assert abs(exact.subtract(found["Mean"], mean)) <= Decimal(1).scaleb(-scale - 6)
        assert (found["Min"], found["Max"]) == (min(values), max(values))
        assert found["Distinct"] == len(set(values))


@settings(deadline=None)
@given(NUMBERS, st.integers(0, 1000))
def test_moments_are_those_of_the_standard_library(numbers: list[int | None], seed: int) -> None:
    present = [each for each in numbers if each is not None]
    moments = Moments()
    for part in cut(present, seed):
        moments.add(np.sort(np.array(part, np.int64)))
    assert (moments.count, moments.total) == (len(present), sum(present))
    if len(present) > 1:
        assert moments.deviation == pytest.approx(statistics.stdev(present), rel=1e-9)


def test_a_small_spread_around_a_large_mean_is_not_lost() -> None:
    moments = Moments()
    for part in (np.array([1e15, 1e15 + 1]), np.array([1e15 + 2, 1e15 + 3])):
        moments.add(part)
    assert moments.deviation == pytest.approx(statistics.stdev([0, 1, 2, 3]))


def test_numbers_whose_sum_is_infinite_have_a_finite_mean() -> None:
    moments = Moments()
    moments.add(np.array([1e308, 1.2e308]))
    assert moments.mean == pytest.approx(1.1e308)


@pytest.mark.parametrize("size", [1024, 4096])
@pytest.mark.parametrize("count", [5_000, 100_000, 1_000_000])
def test_distinct_is_within_its_stated_error_nearly_always(size: int, count: int) -> None:
    outside = 0
    for seed in range(20):
        sketch = DistinctSketch(size)
        sketch.add(hash_numbers(np.arange(count, dtype=np.int64) + seed * 10**9))
        assert sketch.error == pytest.approx(3 / math.sqrt(size - 2))
        outside += abs(sketch.count - count) > sketch.error * count
    assert outside <= 1  # three of a thousand are allowed: two of twenty would be a chance of one in a thousand


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), max_size=300), st.integers(0, 1000))
def test_distinct_is_the_same_in_any_order_and_any_number_of_tasks_also_beyond_what_is_kept(
    numbers: list[int], seed: int
) -> None:
    sketches = []
    for parts in ([numbers], cut(numbers, seed)):
        merged = DistinctSketch(16)
        for part in parts:
            task = DistinctSketch(16)
            task.add(hash_numbers(np.array(part, np.int64)))
            merged.merge(DistinctSketch.of(task.to_dict()))
        sketches.append(merged)
    assert sketches[0].count == sketches[1].count
    assert not sketches[0].is_exact or sketches[0].count == len(set(numbers))


@settings(deadline=None)
@given(TEXTS, st.integers(0, 1000))
def test_on_request_distinct_is_exact_beyond_what_is_kept(texts: list[str | None], seed: int) -> None:
    found = said(pa.string(), cut(texts, seed), Sizes(values=16, quantiles=64, exact=True))
    assert (found["Distinct"], found["DistinctError"]) == (len(set(texts) - {None}), 0.0)


def test_many_values_are_counted_one_by_one_on_request() -> None:
    known = DistinctSet()
    for part in range(30):
        known.add(np.arange(part * 90_000, part * 90_000 + 100_000, dtype=np.int64).view(np.uint64))
    assert known.count == 29 * 90_000 + 100_000


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_values_of_two_numbers_are_told_apart_by_both(pairs: list[tuple[int, int]]) -> None:
    known = DistinctSet()
    known.add(np.array(pairs, np.uint64).reshape(-1, 2))
    assert known.count == len(set(pairs))


SPREADS = {
    "even": lambda chance, count: chance.integers(0, 10**9, count),
    "in order": lambda chance, count: np.arange(count),
    "backwards": lambda chance, count: np.arange(count)[::-1],
    "few": lambda chance, count: chance.integers(0, 40, count),
    "skewed": lambda chance, count: (chance.pareto(1.0, count) * 1000).astype(np.int64),
    "mostly one": lambda chance, count: np.where(chance.random(count) < 0.9, 7, chance.integers(0, 10**9, count)),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("tasks", [1, 7])
@pytest.mark.parametrize("size", [256, 2048])
def test_the_ranks_of_quantiles_are_within_their_stated_error(spread: str, tasks: int, size: int) -> None:
    shares = [0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999]
    tried = outside = 0
    for seed in range(5):
        numbers = SPREADS[spread](np.random.default_rng(seed), 300_000).astype(np.int64)
        merged = QuantileSketch(size, "i8")
        for task, part in enumerate(np.array_split(numbers, tasks)):
            sketch = QuantileSketch(size, "i8", task + 100 * seed)
            for batch in np.array_split(part, 4):
                sketch.add(*np.unique(batch, return_counts=True))
            merged.merge(QuantileSketch.of(json.loads(json.dumps(sketch.to_dict()))))
        values, counts = merged.points()
        assert counts.sum() == merged.count == len(numbers)
        assert len(values) < 4 * size
        ordered = np.sort(numbers)
        for share, value in zip(shares, quantiles(values, counts, shares), strict=True):
            first, last = np.searchsorted(ordered, value), np.searchsorted(ordered, value, side="right")
            tried += 1
            outside += not first / len(ordered) - merged.error <= share <= last / len(ordered) + merged.error
    assert outside <= tried * 0.05  # one of a hundred is allowed


def test_quantiles_of_few_values_are_exact() -> None:
    values, counts = np.array([1, 2, 10]), np.array([1, 2, 1])
    assert quantiles(values, counts, [0.0, 0.25, 0.26, 0.75, 0.76, 1.0]).tolist() == [1, 1, 2, 2, 10, 10]


@settings(deadline=None)
@given(st.lists(st.integers(0, 60), max_size=400), st.integers(0, 1000))
def test_the_counts_of_frequent_values_are_within_their_error(numbers: list[int], seed: int) -> None:
    merged = FrequentValues(16, pa.int64())
    for part in cut(numbers, seed):
        task = FrequentValues(16, pa.int64())
        for batch in (part[::2], part[1::2]):
            different, counts = np.unique(np.array(batch, np.int64), return_counts=True)
            task.add(Tally(hash_numbers(different), counts, lambda places, kept=different: pa.array(kept[places])))
        merged.merge(FrequentValues.of(json.loads(json.dumps(task.to_dict()))))
    real = Counter(numbers)
    known = dict(zip(merged.values.to_pylist(), merged.counts.tolist(), strict=True))
    assert len(known) <= 16
    assert merged.error <= len(numbers) / 16
    assert all(real[value] - merged.error <= known.get(value, 0) <= real[value] for value in real)
    if len(real) <= 16:
        assert (known, merged.error) == (dict(real), 0)


@settings(deadline=None)
@given(st.lists(st.text(max_size=400), min_size=1), st.integers(0, 5))
def test_texts_have_the_same_hash_wherever_they_lie_and_other_texts_another(texts: list[str], before: int) -> None:
    alone = [int(hash_texts(pa.array([each]))[0]) for each in texts]
    placed = pa.array(["x" * number for number in range(before)] + texts).slice(before)
    assert hash_texts(placed).tolist() == alone
    assert hash_texts(placed.cast(pa.large_string())).tolist() == alone
    assert len(set(alone)) == len(set(texts))
    assert set(hash_texts(placed, seed=1).tolist()).isdisjoint(alone)


def test_hashes_do_not_change_from_one_version_to_the_next() -> None:
    """Tasks of one job may run on machines that are brought up to date one after the other."""
    assert hash_texts(pa.array(["", "a", "Mason " * 60])).tolist() == [*KNOWN[:3]]
    assert hash_numbers(np.array([0, 1, -1])).tolist() == [*KNOWN[3:]]


def test_what_is_said_of_many_values_differs_between_cuts_no_more_than_the_stated_errors() -> None:
    chance = np.random.default_rng(5)
    numbers = chance.integers(0, 10**6, 200_000)
    one, many = (said(pa.int64(), np.array_split(numbers, tasks)) for tasks in (1, 13))
    ordered = np.sort(numbers)
    for exact in ("Count", "Nulls", "Distinct", "DistinctError", "Min", "Max", "Mean"):
        assert one[exact] == many[exact]
    for found in (one, many):
        assert found["QuantileError"] < 0.003
        for name, share in (("P5", 0.05), ("P50", 0.5), ("P99", 0.99)):
            assert np.searchsorted(ordered, found["Quantiles"][name]) / len(ordered) == pytest.approx(share, abs=0.003)
