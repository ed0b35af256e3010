"""Proves that contestants wrote the same rows: a digest over all columns, in which the order of rows does not count."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.measure import Output


class Different(Exception):
    """The contestants did not do the same job, so that their times say nothing."""


@dataclass(frozen=True)
class Written:
    """The Parquet files that a contestant wrote; `lacks` are columns that it is known to lose."""

    label: str
    folder: Path
    lacks: frozenset[str] = frozenset()


def proven_equal(written: Sequence[Written], columns: Mapping[str, str], but: Collection[str] = ()) -> list[Output]:
    """Return what each wrote. `columns` says how every column is made comparable: a price may be decimal or double.

    The columns of `but` are not compared, since a rival mangles them.

    Raises:
        Different: columns or rows differ.
    """
    compared = [how for name, how in columns.items() if name not in but]
    outputs = [_output(each, columns, compared) for each in written]
    if len({(each.rows, each.digest) for each in outputs}) != 1:
        raise Different("\n".join(f"{each.label}: {each.rows:,} rows, digest {each.digest}" for each in outputs))
    return outputs


def _output(written: Written, columns: Mapping[str, str], compared: Sequence[str]) -> Output:
    files = f"read_parquet('{written.folder}/*.parquet')"
    with duckdb.connect() as db:
        found = {name for name, *_ in db.execute(f"DESCRIBE FROM {files}").fetchall()}
        if found != columns.keys() - written.lacks:
            raise Different(f"{written.label} has the columns {', '.join(sorted(found))}.")
        row = f"hash({', '.join(compared)})"
        (counts,) = db.execute(f"SELECT count(*), sum({row}::HUGEINT), bit_xor({row}) FROM {files}").fetchall()
    size = sum(file.stat().st_size for file in written.folder.glob("*.parquet"))
    return Output(written.label, counts[0], f"{counts[1]:x}-{counts[2]:x}", size)
