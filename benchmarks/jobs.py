"""The merges that are measured: their data, the rival's way to read them, and how far Mason may be from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data

GB = 1e9


@dataclass(frozen=True)
class MergeBenchmark:
    """One merge. In `tells` and `source` the folder, the gigabytes and the number of files are filled in."""

    name: str
    tells: str
    size: float
    write: Callable[[Path, int], None]
    source: str
    at_most: float
    columns: Mapping[str, str]
    tuned_source: str = ""
    """The source for the tuned rival, where it is another."""

    def describe(self, folder: Path) -> str:
        size, files = data.folder_bytes(folder), len(list(folder.iterdir()))
        return self.tells.format(size=f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB", files=files)


def _plain(names: str, **casts: str) -> dict[str, str]:
    return {name: f'CAST("{name}" AS {casts[name]})' if name in casts else f'"{name}"' for name in names.split(",")}


CSV = MergeBenchmark(
    "merge_csv",
    "{size} in {files} CSV files, two of them with a column more",
    1.07 * GB,
    data.write_csv_files,
    "read_csv('{}/*.csv', union_by_name = true)",
    0.85,
    {
        **_plain(data.COLUMNS + ",extra", id="BIGINT", qty="BIGINT", price="DOUBLE", ratio="DOUBLE"),
        **_plain("day,at,flag", day="DATE", at="TIMESTAMP", flag="BOOLEAN"),
    },
)
QUOTED = MergeBenchmark(
    "merge_quoted_csv",
    '{size} in one CSV file with line ends and "" inside quotes',
    2 * GB,
    lambda folder, size: data.write_quoted_csv(folder / "all.csv", size),
    "read_csv('{}/all.csv')",
    1.05,
    _plain("id,customer,price,day,note,ratio", price="DOUBLE", ratio="DOUBLE"),
)
PARQUET = MergeBenchmark(
    "merge_parquet",
    "{size} in {files} Parquet files (1 GB before compression), int32 and int64 mixed, four with a column more",
    1 * GB,
    data.write_parquet_files,
    "read_parquet('{}/*.parquet', union_by_name = true)",
    1.0,
    _plain("id,customer,qty,price,ratio,day,at,flag,note,extra"),
)
JSON = MergeBenchmark(
    "merge_json",
    "{size} in {files} files of nested JSON lines",
    0.3 * GB,
    data.write_json_files,
    "read_json('{}/*.jsonl')",
    1.4,
    {
        **_plain("id,items,at,score,paid", at="TIMESTAMP"),
        # Field by field, so that the order of fields within a struct does not count.
        "user": '"user".name, "user".address.city, "user".address.zip, "user".address.floor, "user".tags',
        "items": "[i.sku FOR i IN items], [i.qty FOR i IN items], [CAST(i.price AS DOUBLE) FOR i IN items]",
    },
    "read_ndjson('{}/*.jsonl')",
)
JOBS = {each.name: each for each in (CSV, QUOTED, PARQUET, JSON)}
