"""The values that occur most often, in bounded memory (Misra and Gries)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mason.pipeline.jobs.summary.sketches.arrays import decode_array, encode_array
from mason.pipeline.jobs.summary.sketches.hashing import Numbers
from mason.pipeline.types.evidence_json import decode_schema, encode_schema


@dataclass(frozen=True)
class Tally:
    """The different values of some rows by their hashes, how often each occurs, and how to get the values themselves.

    `take` returns the values at some places as they are kept; few are ever asked for.
    """

    hashes: Numbers
    counts: Numbers
    take: Callable[[Numbers], pa.Array]


class FrequentValues:
    """At most `size` values with their counts.

    When there are more, the count of the first that has no room is taken from all, and who has none left goes. So no
    count is too high, and each is too low by `error` at most, which is at most one of `size` of all. Up to `size`
    different values all are here, and exact.
    """

    def __init__(self, size: int, kind: pa.DataType) -> None:
        self.size = size
        self.error = 0
        self.hashes: Numbers = np.zeros(0, np.uint64)
        self.counts: Numbers = np.zeros(0, np.int64)
        self.values: pa.Array = pa.array([], kind)

    def add(self, tally: Tally) -> None:
        """Take the different values of some rows."""
        values, counts = self._cut_to_room(tally.counts)
        if len(values):
            self._put(tally.hashes[values], counts, tally.take(values))

    def merge(self, other: FrequentValues) -> None:
        """Take what another one has seen."""
        self.size = min(self.size, other.size)
        self.error += other.error
        self._put(other.hashes, other.counts, other.values)

    @property
    def is_complete(self) -> bool:
        """Whether these are all values with their exact counts."""
        return self.error == 0

    def most(self, limit: int) -> list[tuple[Any, int]]:
        """Return the values that occur most often: only those that occur more often than any other can."""
        ranks = np.argsort(pc.sort_indices(self.values).to_numpy())
        order = np.lexsort((ranks, -self.counts))[:limit]
        order = order[self.counts[order] > self.error]
        return list(zip(self.values.take(pa.array(order)).to_pylist(), self.counts[order].tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        return {
            "size": self.size,
            "error": self.error,
            "hashes": encode_array(self.hashes),
            "counts": encode_array(self.counts),
            "kind": encode_schema(pa.schema([pa.field("", self.values.type)])),
            "values": _encode_values(self.values),
        }

    @classmethod
    def of(cls, value: dict[str, Any]) -> FrequentValues:
        kind = decode_schema(value["kind"]).field(0).type
        frequent = cls(value["size"], kind)
        frequent.error = value["error"]
        frequent.hashes, frequent.counts = decode_array(value["hashes"]), decode_array(value["counts"])
        frequent.values = _decode_values(value["values"], kind)
        return frequent

    def _put(self, hashes: Numbers, counts: Numbers, values: pa.Array) -> None:
        known, first, places = np.unique(np.concatenate([self.hashes, hashes]), return_index=True, return_inverse=True)
        sums = np.zeros(len(known), np.int64)
        np.add.at(sums, places, np.concatenate([self.counts, counts]))
        chosen, self.counts = self._cut_to_room(sums)
        self.hashes = known[chosen]
        self.values = pa.concat_arrays([self.values, values]).take(pa.array(first[chosen]))

    def _cut_to_room(self, counts: Numbers) -> tuple[Numbers, Numbers]:
        """The places of the counts that have room, and what is left of them; `error` grows by what was taken."""
        if len(counts) <= self.size:
            return np.arange(len(counts)), counts
        several = counts[counts > 1]  # most often so few that there is nothing to look for
        over = int(np.partition(several, -self.size - 1)[-self.size - 1]) if len(several) > self.size else 1
        self.error += over
        frequent = np.flatnonzero(counts > over)
        return frequent, counts[frequent] - over


def _encode_values(values: pa.Array) -> Any:
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return encode_array(values.to_numpy(zero_copy_only=False))
    if pa.types.is_binary(values.type):
        return [each.hex() for each in values.to_pylist()]
    return values.to_pylist()


def _decode_values(value: Any, kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.array(decode_array(value), kind)
    if pa.types.is_binary(kind):
        return pa.array(map(bytes.fromhex, value), kind)
    return pa.array(value, kind)
