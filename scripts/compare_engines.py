"""Asks Spark and the local engine the same questions, and tells where their answers differ.

python scripts/compare_engines.py             where the local engine answers otherwise than Spark did
python scripts/compare_engines.py --refused   and what it refuses
python scripts/compare_engines.py --record    write down the answers of the Spark on this machine
python scripts/compare_engines.py --composed 2000 --seed 1
                                              ask both of them what is put together at random
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from mason.errors import MasonError
from mason.pipeline.sql.duckdb_engine import run_query
from mason.pipeline.sql.query import decode_rows
from mason.pipeline.work.tasks import without_beats
from tests.sql.answers.book import (
    ANSWERS,
    REFUSED,
    Answer,
    Expression,
    ask_together,
    encoded,
    failures,
    groups,
    lines,
    query_of,
    recorded,
    together,
    values,
    write_tables,
)
from tests.sql.answers.composed import composed

Ask = Callable[[str], pa.Table]


def main() -> None:
    """Record the answers of Spark, or compare those of the local engine with them."""
    with tempfile.TemporaryDirectory() as folder:
        if "--composed" in sys.argv:
            asked = composed(_number("--composed", 1000), _number("--seed", 0))
            verdicts = compare_composed(asked, _here(Path(folder) / "here"), _spark(Path(folder) / "spark"))
            print(verdicts)  # noqa: T201
            sys.exit(int(verdicts["different"] > 0))
        elif "--record" in sys.argv:
            _record(_spark(Path(folder)))
        else:
            sys.exit(_compare(_here(Path(folder)), note="--refused" in sys.argv))


def compare_composed(asked: Sequence[Expression], here: Ask, there: Ask) -> Counter[str]:
    """Ask both engines, show where they differ, and return how often they do what."""
    verdicts = Counter[str]()
    for lot in together(asked):
        expected = _answers(lot, there)
        verdicts.update(_compared(each.statement, expected[each.statement], here) for each in lot)
    return verdicts


def _number(option: str, otherwise: int) -> int:
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else otherwise


def _spark(folder: Path) -> Ask:
    from pyspark.sql import SparkSession

    from mason.clients.spark.queries import query_frame
    from mason.pipeline.sql.query import canonical

    tables = write_tables(folder)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sql.shuffle.partitions", 1)

    def ask(statement: str) -> pa.Table:
        rows = query_frame(spark, query_of(statement, tables)).toArrow()
        return rows.cast(canonical(rows.schema))

    return ask


def _here(folder: Path) -> Ask:
    tables = write_tables(folder)

    def ask(statement: str) -> pa.Table:
        (found,) = [content for _, content in without_beats(run_query(query_of(statement, tables).to_bytes()))]
        return decode_rows(found)

    return ask


def _record(ask: Ask) -> None:
    answers: dict[str, Answer] = {}
    for lot in together([*values(), *groups(), *failures()]):
        answers.update(_answers(lot, ask))
    for statement in lines("queries.sql"):
        answers[statement] = _answer(statement, ask)
    told = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items())
    ANSWERS.write_text(f"{{\n{told}\n}}\n")
    print(f"{len(answers)} answers, {sum('error' in each for each in answers.values())} of them errors")  # noqa: T201


def _answers(lot: Sequence[Expression], ask: Ask) -> dict[str, Answer]:
    """The answers of a lot; where one of it fails, those of its halves."""
    if len(lot) == 1:
        return {lot[0].statement: _answer(lot[0].statement, ask)}
    try:
        return dict(ask_together(lot, ask))
    except Exception:  # noqa: BLE001 (what it is shows when it is asked alone)
        half = len(lot) // 2
        return _answers(lot[:half], ask) | _answers(lot[half:], ask)


def _answer(statement: str, ask: Ask) -> Answer:
    try:
        return encoded(ask(statement))
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the answer)
        return {"error": str(error).strip().splitlines()[0][:200]}


def _compare(ask: Ask, *, note: bool) -> int:
    verdicts = {statement: _compared(statement, expected, ask) for statement, expected in recorded().items()}
    if note:
        REFUSED.write_text("".join(f"{each}\n" for each, verdict in verdicts.items() if verdict == "refused"))
    print(Counter(verdicts.values()))  # noqa: T201
    return int("different" in verdicts.values())


def _compared(statement: str, expected: Answer, ask: Ask) -> str:
    try:
        found = encoded(ask(statement))
    except MasonError as error:
        found = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 (a defect: it is shown as one)
        found = {"error": f"{type(error).__name__}: {error}", "rows": []}
    verdict = _verdict(expected, found)
    if verdict != "same":
        print(f"{verdict}: {statement}\n  Spark {expected}\n  here  {found}")  # noqa: T201
    return verdict


def _verdict(expected: Answer, found: Answer) -> str:
    if expected == found or ("error" in expected and set(found) == {"error"}):
        return "same"
    return "refused" if set(found) == {"error"} else "different"


if __name__ == "__main__":
    main()
