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
    """The files that a contestant wrote, and how DuckDB reads them."""

    label: str
    folder: Path
    source: str = "read_parquet('{}/*.parquet')"


def proven_equal(written: Sequence[Written], columns: Mapping[str, str], but: Collection[str] = ()) -> list[Output]:
    """Return what each wrote. `columns` says how every column is made comparable: a price may be decimal or double.

    The columns of `but` are not compared, since a rival mangles or loses them.

    Raises:
        Different: columns or rows differ.
    """
    compared = {name: how for name, how in columns.items() if name not in but}
    for each in written:
        _check_columns(each, columns, compared)
    outputs = [_output(each, list(compared.values())) for each in written]
    if len({(each.rows, each.digest) for each in outputs}) != 1:
        raise Different("\n".join(f"{each.label}: {each.rows:,} rows, digest {each.digest}" for each in outputs))
    return outputs


def _check_columns(written: Written, allowed: Collection[str], needed: Collection[str]) -> None:
    with duckdb.connect() as db:
        found = {name for name, *_ in db.execute(f"DESCRIBE FROM {_files(written)}").fetchall()}
    if not set(needed) <= found <= set(allowed):
        raise Different(f"{written.label} has the columns {', '.join(sorted(found))}.")


def _output(written: Written, compared: Sequence[str]) -> Output:
    row = f"hash({', '.join(compared)})"
    with duckdb.connect() as db:
        query = f"SELECT count(*), sum({row}::HUGEINT), bit_xor({row}) FROM {_files(written)}"
        ((rows, total, parity),) = db.execute(query).fetchall()
    size = sum(file.stat().st_size for file in written.folder.glob("*.*"))
    return Output(written.label, rows, f"{total:x}-{parity:x}", size)


def _files(written: Written) -> str:
    return written.source.format(written.folder)
