"""Questions to every engine that knows SQL, and the answers that Spark gave: types, names and rows.

`scripts/compare_engines.py` writes the answers down, and compares Spark and the local engine in full.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mason.engines.storage.models.location import LOCAL
from mason.pipeline.sql.query import SqlQuery, SqlTable
from mason.pipeline.sql.rendering import render_for_spark
from mason.pipeline.sql.statement import parse_statement
from mason.pipeline.types.evidence_json import encode_schema

FOLDER = Path(__file__).parent
ANSWERS = FOLDER / "answers.json"
REFUSED = FOLDER / "refused.sql"
TOGETHER = 80  # expressions that are asked in one query

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Expression:
    """An expression, and the query that asks for it."""

    text: str
    frame: str
    """A query with a place for columns."""

    @property
    def statement(self) -> str:
        return self.frame.format(f"{self.text} as x")


def lines(name: str) -> Sequence[str]:
    """Return the questions of a file."""
    texts = (FOLDER / name).read_text().splitlines()
    return [each for each in texts if each and not each.startswith("--")]


def values() -> Sequence[Expression]:
    """Return expressions over the rows of a table."""
    return [Expression(each, "select id, {} from t order by id") for each in lines("values.sql")]


def groups() -> Sequence[Expression]:
    """Return aggregates of groups, of all rows, and of none."""
    frames = (
        "select ok, {} from t group by ok order by ok",
        "select count(*) as n, {} from t",
        "select count(*) as n, {} from t where id > 100",
    )
    return [Expression(each, frame) for frame in frames for each in lines("groups.sql")]


def failures() -> Sequence[Expression]:
    """Return expressions that are errors."""
    return [Expression(each, "select id, {} from t order by id") for each in lines("failures.sql")]


def together(expressions: Sequence[Expression]) -> Iterator[Sequence[Expression]]:
    """Return the expressions in lots that one query can ask for."""
    for frame in dict.fromkeys(each.frame for each in expressions):
        same = [each for each in expressions if each.frame == frame]
        for start in range(0, len(same), TOGETHER):
            yield same[start : start + TOGETHER]


def ask_together(lot: Sequence[Expression], ask: Callable[[str], pa.Table]) -> Mapping[str, Answer]:
    """Return the answers of a lot by their statements, asked in one query."""
    columns = ", ".join(f"{each.text} as x{number}" for number, each in enumerate(lot))
    table = ask(lot[0].frame.format(columns))
    first = table.column_names[0]
    return {
        each.statement: encoded(table.select([first, f"x{number}"]).rename_columns([first, "x"]))
        for number, each in enumerate(lot)
    }


def recorded() -> Mapping[str, Answer]:
    """Return the answers of Spark by their statements."""
    found: Mapping[str, Answer] = json.loads(ANSWERS.read_text())
    return found


def refused() -> Collection[str]:
    """Return the statements that the local engine refuses though Spark has an answer."""
    return set(REFUSED.read_text().splitlines())


def encoded(table: pa.Table) -> Answer:
    """Return rows as JSON has them; of floating points as many digits as no order of adding changes."""
    return {
        "columns": [f"{each.name}: {each.type}" for each in table.schema],
        "rows": [[_told(value) for value in row.values()] for row in table.to_pylist()],
    }


def _told(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, list | tuple):
        return [_told(each) for each in value]
    if isinstance(value, dict):
        return {key: _told(each) for key, each in value.items()}
    return str(value)


def query_of(statement: str, tables: Sequence[SqlTable]) -> SqlQuery:
    """Return a statement as `table query` asks it."""
    names = parse_statement(statement).names
    return SqlQuery(statement=statement, tables=tables, names=names, rendered=render_for_spark(statement))


def write_tables(folder: Path) -> Sequence[SqlTable]:
    """Write the tables that the questions are about."""
    return [_written(folder, "t", every_type()), _written(folder, "u", _others()), _written(folder, "odd", _odd())]


def _written(folder: Path, name: str, table: pa.Table) -> SqlTable:
    path = folder / name
    path.mkdir(parents=True)
    pq.write_table(table, path / "part.parquet")
    return SqlTable(
        name=name, path=str(path), storage=LOCAL, files=[str(path / "part.parquet")], schema=encode_schema(table.schema)
    )


def every_type() -> pa.Table:
    """Return the table `t`, which has a column of every type."""
    moments = [
        *[datetime(2026, 1, 1, 10, 20, 30, 250_000), datetime(2024, 2, 29, 23, 59, 59)],
        *[None, datetime(1969, 12, 31, 23, 59, 59, 999_000), datetime(2026, 12, 31)],
    ]
    prices = [[("a", 1), ("b", None)], [("a", 5)], None, [], [("c", 7)]]
    columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
        "id": ([1, 2, 3, 4, 5], pa.int64()),
        "i8": ([1, -2, None, 7, 3], pa.int8()),
        "i16": ([300, -2, None, 7, 1], pa.int16()),
        "i32": ([1, 5, None, -7, 12], pa.int32()),
        "i64": ([10_000_000_000, 5, None, -7, 12], pa.int64()),
        "f32": ([0.5, -1.25, None, 0.1, 3.0], pa.float32()),
        "f64": ([1.5, -2.5, None, 0.1, 12345.678], pa.float64()),
        "d5": (_decimals("1.10", "-0.01", None, "999.99", "3.00"), pa.decimal128(5, 2)),
        "d10": (_decimals("10.50", "-3.25", None, "0.01", "12345678.90"), pa.decimal128(10, 2)),
        "d18": (_decimals("1.234567", "-0.000001", None, "2.500000", "123456789012.345678"), pa.decimal128(18, 6)),
        "d38": (_decimals("1.5000000000", "-2.25", None, "0.0000000001", "1234567.89"), pa.decimal128(38, 10)),
        "s": (["abc", "Zoë 🙂", None, "a_b c", " x "], pa.string()),
        "digits": (["12", "7", None, "-3", "0"], pa.string()),
        "day": ([date(2026, 1, 1), date(2024, 2, 29), None, date(1969, 12, 31), date(2026, 12, 31)], pa.date32()),
        "at": (moments, pa.timestamp("us")),
        "seen": ([each and each.replace(tzinfo=UTC) for each in moments], pa.timestamp("us", "UTC")),
        "ok": ([True, False, None, True, False], pa.bool_()),
        "raw": ([b"\x00\xff", b"ab", None, b"", b"z"], pa.binary()),
        "tags": ([["a", None], ["b", "c"], None, [], ["a"]], pa.list_(pa.string())),
        "nums": ([[1, 2], [3, None, 1], None, [2], [5, 2]], pa.list_(pa.int32())),
        "place": (
            [{"city": "Wien", "zip": 1010}, {"zip": 1}, None, {"city": ""}, {"city": "Wien"}],
            pa.struct([("city", pa.string()), ("zip", pa.int32())]),
        ),
        "prices": (prices, pa.map_(pa.string(), pa.int64())),
    }
    return pa.table({name: pa.array(cells, kind) for name, (cells, kind) in columns.items()})


def _odd() -> pa.Table:
    """Numbers that are none, zeros with a sign, and texts with line ends."""
    nan, inf = float("nan"), float("inf")
    pairs = [(1, -0.0), (1, 0.0), None, (None, nan), (2, None), (3, nan), (3, nan), (0, 1.0)]
    structs = [pair and {"x": pair[0], "f": pair[1]} for pair in pairs]
    columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
        "id": (range(1, 9), pa.int64()),
        "f": ([nan, nan, -0.0, 0.0, None, 1.5, inf, -inf], pa.float64()),
        "g": ([nan, 1.0, -0.0, 0.0, None, -0.0, 2.0, nan], pa.float64()),
        "f32": ([nan, nan, -0.0, 0.0, None, 0.5, inf, -1.5], pa.float32()),
        "s": (["a", "a.b", "a\rb", "a\nb", None, "", "a b\t", "\va"], pa.string()),
        "st": (structs, pa.struct([("x", pa.int64()), ("f", pa.float64())])),
        "li": ([[1.0, None], [], None, [nan, -0.0], [0.0, nan], [None], [-0.0], [0.0]], pa.list_(pa.float64())),
    }
    return pa.table({name: pa.array(cells, kind) for name, (cells, kind) in columns.items()})


def _others() -> pa.Table:
    return pa.table(
        {
            "id": pa.array([1, 2, 2, 9], pa.int64()),
            "name": pa.array(["one", "two", "zwei", None]),
            "weight": pa.array(_decimals("1.0", "5.0", "2.5", None), pa.decimal128(4, 1)),
        }
    )


def _decimals(*texts: str | None) -> list[Decimal | None]:
    return [None if each is None else Decimal(each) for each in texts]
