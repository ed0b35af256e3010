"""The data: the same bytes every time, made by columns and not row by row, so that a gigabyte takes seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 5_000
"""How many rows are made at once."""

FILES = 16
JSON_FILES = 8
APART = 10**7
"""How far the numbers of the rows of one file are from those of the next."""

LONGEST_PERIOD = 10_000

Piece: TypeAlias = str | pa.Array
Lines: TypeAlias = Callable[[np.ndarray], Sequence[Piece]]
"""Gives the pieces, columns and what stands between them, that the lines of some row numbers consist of."""

COLUMNS = "id,customer,city,price,qty,day,at,flag,code,ratio,note"
NOTES = (
    "plain words {}",
    '"a comma, in note {}"',
    '"two lines:\nthe second of note {}"',
    '"he said ""yes"" to {}, twice"',
    '"""quoted"" at once\n\nand an empty line in {}"',
)


def write_csv_files(folder: Path, size: int) -> None:
    """Write 16 CSV files, two of them with a column more than the others."""
    folder.mkdir(parents=True)
    for number in range(FILES):
        extra = ["extra", "x"] if number >= FILES - 2 else []
        header = ",".join([COLUMNS, *extra[:1]]) + "\n"
        ending = "".join(f",{each}" for each in extra[1:]) + "\n"
        _write_text(folder / f"{number:02}.csv", header, size // FILES, number * APART, _csv_lines(ending))


def write_csv_file(file: Path, size: int) -> None:
    """Write one CSV file of the same columns."""
    file.parent.mkdir(parents=True)
    _write_text(file, COLUMNS + "\n", size, 0, _csv_lines("\n"))


def write_quoted_csv(file: Path, size: int) -> None:
    """Write one CSV file with line ends, commas and doubled quotes inside quotes."""
    file.parent.mkdir(parents=True)
    notes = [NOTES[number % len(NOTES)].format(number) for number in range(1000)]
    lines = _delimited([_customers(), _prices(), _days(), notes, _ratios()], "\n")
    _write_text(file, "id,customer,price,day,note,ratio\n", size, 0, lines)


def write_json_files(folder: Path, size: int) -> None:
    """Write eight files of nested JSON lines."""
    for number in range(JSON_FILES):
        write_json_file(folder / f"{number}.jsonl", size // JSON_FILES, number * APART)


def write_json_file(file: Path, size: int, first: int = 0) -> None:
    """Write a file of nested JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    values = {
        "user": pa.array([_user(number) for number in range(5000)]),
        "items": pa.array([_items(number) for number in range(1000)]),
        "at": pa.array([f'"{each}"' for each in _times()]),
        "score": pa.array(_ratios()),
        "paid": pa.array(["true", "false", "null"]),
    }

    def lines(rows: np.ndarray) -> Sequence[Piece]:
        named = [piece for name in values for piece in (f', "{name}": ', _cycle(values[name], rows))]
        return ['{"id": ', _text(rows), *named, "}\n"]

    _write_text(file, "", size, first, lines)


def write_parquet_files(folder: Path, size: int) -> None:
    """Write 16 Parquet files of together this size before compression.

    A number is int32 in every other file and int64 in the rest, and four files have a column more.
    """
    folder.mkdir(parents=True)
    sample = _parquet_rows(np.arange(100_000), wide=False)
    rows = max(int(size / FILES / (sample.nbytes / 100_000)), 1000)
    for number in range(FILES):
        numbers = np.arange(rows) + number * APART
        table = _parquet_rows(numbers, wide=number % 2 == 1)
        if number >= FILES - 4:
            table = table.append_column("extra", _cycle(pa.array(_customers()), numbers))
        pq.write_table(table, folder / f"{number:02}.parquet", compression="snappy")


def write_parquet_file(file: Path, size: int) -> None:
    """Write one Parquet file of about this size on disk; its numbers are random, which no codec makes smaller."""
    file.parent.mkdir(parents=True)
    random = np.random.default_rng(1)
    rows = 256 * 1024
    with pq.ParquetWriter(file, _random_rows(random, 1).schema, compression="snappy", use_dictionary=False) as writer:
        while file.stat().st_size < size:
            writer.write_table(_random_rows(random, rows), row_group_size=rows)


def write_small_files(folder: Path) -> None:
    """Write three CSV files of a hundred rows."""
    folder.mkdir(parents=True)
    for number in range(3):
        lines = pc.binary_join_element_wise(*_csv_lines("\n")(np.arange(100) + number * 100), "")
        (folder / f"{number}.csv").write_text(COLUMNS + "\n" + "".join(lines.to_pylist()), encoding="utf-8")


def folder_bytes(folder: Path, pattern: str = "*") -> int:
    """Return how large the files of a folder are together."""
    return sum(file.stat().st_size for file in folder.glob(pattern) if file.is_file())


def _write_text(file: Path, header: str, size: int, first: int, lines: Lines) -> None:
    with open(file, "wb") as stream:
        stream.write(header.encode())
        rows = np.arange(first, first + ROWS)
        while stream.tell() < size:
            joined = pc.binary_join_element_wise(*lines(rows), "")
            stream.write(joined.buffers()[2])  # the texts of an Arrow array stand there one after the other
            rows = rows + ROWS


def _csv_lines(ending: str) -> Lines:
    columns = [_customers(), [f"{each}-town" for each in "abcdefgh"], _prices(), [str(each) for each in range(50)]]
    columns += [_days(), _times(), ["false", "true"], [f"{each:05}" for each in range(1000)], _ratios()]
    columns += [[f"some note {each}" for each in range(100)]]
    return _delimited(columns, ending)


def _delimited(columns: Sequence[Sequence[str]], ending: str) -> Lines:
    """Lines of the row's number and, after commas, the columns' values."""
    arrays = [pa.array(values) for values in _united(columns)]

    def lines(rows: np.ndarray) -> Sequence[Piece]:
        return [*_between(",", [_text(rows), *(_cycle(values, rows) for values in arrays)]), ending]

    return lines


def _united(columns: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Join neighbours whose values come round together soon enough: fewer pieces, the same lines."""
    united = [columns[0]]
    for values in columns[1:]:
        period = math.lcm(len(united[-1]), len(values))
        if period <= LONGEST_PERIOD:
            last = united.pop()
            united.append([f"{last[row % len(last)]},{values[row % len(values)]}" for row in range(period)])
        else:
            united.append(values)
    return united


def _parquet_rows(numbers: np.ndarray, *, wide: bool) -> pa.Table:
    integer = np.int64 if wide else np.int32
    random = np.random.default_rng(int(numbers[0]))
    return pa.table(
        {
            "id": pa.array(numbers.astype(np.int64)),
            "customer": _cycle(pa.array(_customers()), numbers),
            "qty": pa.array((numbers * 7 % 1000).astype(integer)),
            "price": pa.array(random.integers(0, 10**6, len(numbers)) / 100),
            "ratio": pa.array(random.random(len(numbers))),
            "day": pa.array((20454 + numbers % 365).astype(np.int32), pa.date32()),
            "at": pa.array(1767225600_000000 + numbers * 1_000_000, pa.timestamp("us")),
            "flag": pa.array(numbers % 2 == 0),
            "note": _cycle(pa.array([f"some note {each}" for each in range(100)]), numbers),
        }
    )


def _random_rows(random: np.random.Generator, rows: int) -> pa.Table:
    numbers = {f"n{column}": random.integers(0, 2**62, rows) for column in range(4)}
    return pa.table({**numbers, **{f"x{column}": random.random(rows) for column in range(4)}})


def _user(number: int) -> str:
    address = f'{{"city": "{"abcdefgh"[number % 8]}-town", "zip": "{number % 100000:05}", "floor": {number % 9}}}'
    return f'{{"name": "customer {number}", "address": {address}, "tags": ["t{number % 7}", "t{number % 11}"]}}'


def _items(number: int) -> str:
    return "[{}]".format(
        ", ".join(
            f'{{"sku": "A-{number * 31 % 997:04}-{each}", "qty": {number % 9 + each}, "price": {number / 8:.3f}}}'
            for each in range(number % 4)
        )
    )


def _customers() -> list[str]:
    return [f"customer {number}" for number in range(5000)]


def _prices() -> list[str]:
    return [f"{number * 37 % 10000 / 100:.2f}" for number in range(10_000)]


def _days() -> list[str]:
    return [f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}" for number in range(84)]


def _times() -> list[str]:
    return [f"2026-01-01 {number % 24:02}:{number % 60:02}:00" for number in range(120)]


def _ratios() -> list[str]:
    return [f"{number / 7919:.6f}" for number in range(7919)]


def _cycle(values: pa.Array, rows: np.ndarray) -> pa.Array:
    """The values over and over again: of each row the one that its number falls on."""
    return values.take(pa.array(rows % len(values)))


def _text(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _between(separator: str, fields: Sequence[pa.Array]) -> list[Piece]:
    return [piece for field in fields for piece in (separator, field)][1:]
