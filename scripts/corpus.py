"""Runs Mason, DuckDB and (where it is installed) Polars over a folder of files, and counts who reads them right.

python -m scripts.corpus FOLDER           the table
python -m scripts.corpus FOLDER --list    and each file that Mason reads otherwise than the oracle

What a file holds is said by `<file>.expected.json` beside it, as in tests/merge/corpus_files. Without one, two
independent readers that agree are the oracle: for delimited text Python's csv, pandas and DuckDB, for Parquet and ORC
pyarrow, for Avro fastavro, for JSON Python's json. A file on which no two agree is left out of the count. Whether the
first record of delimited text is a header none of them knows: it is one if it has a letter that is part of no number,
or begins with an empty cell.

right: the oracle's rows, and no record set aside that the oracle has · refused: an error, or records set aside with a
word about the file · silently wrong: other rows or values, and no warning that names the file · warned: other rows or
values, and a warning that does · crash: anything but an error that is meant.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import duckdb
import fastavro
import pandas as pd
import pyarrow.parquet as pq
from pyarrow import orc

from mason.pipeline.formats.delimited.headers import is_number
from tests.merge.expected_files import corpus_files, expectation_of, outcome_of_file

VERDICTS = ("right", "refused", "warned", "silently wrong", "crash")
DELIMITED = (".csv", ".tsv", ".txt", ".psv", ".tab")
_DELIMITERS = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_EXACT = Context(prec=1000)

Rows = Sequence[tuple[str, ...]]
"""Rows in no order, each value as a text in which 1, 1.0 and 1.00 are the same."""


@dataclass(frozen=True)
class Verdict:
    """How somebody read a file, and what is to say of it."""

    what: str
    about: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="name each file that is not read right")
    given = parser.parse_args()
    tallies, listed = run(corpus_files(given.folder))
    print(render_table(tallies))  # noqa: T201
    if given.list:
        print("\n".join(listed))  # noqa: T201
    sys.exit(int(tallies["Mason"]["silently wrong"] + tallies["Mason"]["crash"] > 0))


def run(files: Sequence[Path]) -> tuple[dict[str, Counter[str]], list[str]]:
    """Return how often each reader did what, and the files that Mason did not read right."""
    readers: dict[str, Callable[[Path, Rows, dict[str, Any]], Verdict]] = {
        "Mason": _judge_mason,
        "DuckDB": _judge_duckdb,
    }
    if _polars():
        readers["Polars"] = _judge_polars
    tallies = {name: Counter[str]() for name in readers}
    listed = []
    for file in files:
        expected = expectation_of(file)
        oracle = _rows_of_expectation(expected) if expected else oracle_of(file)
        if oracle is None:
            tallies["Mason"]["without an oracle"] += 1
            continue
        for name, judge in readers.items():
            verdict = judge(file, oracle, expected or {})
            tallies[name][verdict.what] += 1
            if name == "Mason" and verdict.what != "right":
                listed.append(f"{verdict.what}: {file}: {verdict.about}")
    return tallies, listed


def render_table(tallies: dict[str, Counter[str]]) -> str:
    lines = [f"| reader | tried | {' | '.join(VERDICTS)} |", f"|---|---|{'---|' * len(VERDICTS)}"]
    for name, tally in tallies.items():
        tried = sum(tally[each] for each in VERDICTS)
        lines.append(f"| {name} | {tried:,} | {' | '.join(f'{tally[each]:,}' for each in VERDICTS)} |")
    left_out = tallies["Mason"]["without an oracle"]
    return "\n".join(
        [*lines, *([f"{left_out:,} files on which no two readers agree are left out."] if left_out else [])]
    )


# The oracle


def _rows_of_expectation(expected: dict[str, Any]) -> Rows:
    return [] if "error" in expected else normalize(expected["rows"])


def oracle_of(file: Path) -> Rows | None:
    """Return the rows on which two independent readers agree; None if no two do."""
    seen: list[Rows] = []
    for read in _readers_of(file):
        try:
            rows = normalize(read(file))
        except Exception:  # noqa: BLE001 a reader that fails has no say
            continue
        if rows in seen or len(_readers_of(file)) == 1:
            return rows
        seen.append(rows)
    return None


def _readers_of(file: Path) -> Sequence[Callable[[Path], Sequence[Sequence[Any]]]]:
    suffix = Path(_plain_name(file)).suffix
    if suffix in DELIMITED:
        return (_by_python, _by_duckdb, _by_pandas)
    single = {".parquet": _by_arrow, ".orc": _by_orc, ".avro": _by_fastavro, ".json": _by_json, ".jsonl": _by_json}
    return (single[suffix],) if suffix in single else ()


def _plain_name(file: Path) -> str:
    return file.stem if file.suffix in (".gz", ".bz2") else file.name


def _content(file: Path) -> bytes:
    unpack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}
    return unpack.get(file.suffix, bytes)(file.read_bytes())


def _by_python(file: Path) -> Sequence[Sequence[Any]]:
    text = _content(file).decode("utf-8-sig")
    suffix = Path(_plain_name(file)).suffix
    delimiter = _DELIMITERS.get(suffix) or csv.Sniffer().sniff(text[:20_000], ",;\t|").delimiter
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    if len(set(map(len, rows))) != 1:
        raise ValueError("its records are not alike")
    return _without_header(rows)


def _by_duckdb(file: Path) -> Sequence[Sequence[Any]]:
    with duckdb.connect() as connection:
        return _without_header(
            connection.read_csv(str(file), all_varchar=True, header=False, sample_size=-1).fetchall()
        )


def _by_pandas(file: Path) -> Sequence[Sequence[Any]]:
    options = {"dtype": str, "keep_default_na": False, "encoding": "utf-8-sig", "header": None}
    frame = pd.read_csv(file, sep=None, engine="python", **options)
    return _without_header(list(frame.itertuples(index=False, name=None)))


def _without_header(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    first = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    is_header = not first[0] or any(any(map(str.isalpha, cell)) and not is_number(cell) for cell in first)
    return rows[1:] if is_header else rows


def _by_arrow(file: Path) -> Sequence[Sequence[Any]]:
    return [tuple(row.values()) for row in pq.ParquetFile(file).read().to_pylist()]


def _by_orc(file: Path) -> Sequence[Sequence[Any]]:
    return [tuple(row.values()) for row in orc.ORCFile(file).read().to_pylist()]


def _by_fastavro(file: Path) -> Sequence[Sequence[Any]]:
    with file.open("rb") as stream:
        return [tuple(row.values()) for row in fastavro.reader(stream)]  # type: ignore[union-attr]


def _by_json(file: Path) -> Sequence[Sequence[Any]]:
    text = _content(file).decode("utf-8-sig")
    try:
        records = json.loads(text, parse_float=Decimal)
    except ValueError:
        records = [json.loads(line, parse_float=Decimal) for line in text.split("\n") if line.strip()]
    names = list(dict.fromkeys(name for each in records for name in each))
    return [[each.get(name) for name in names] for each in records]


# The readers


def _judge_mason(file: Path, oracle: Rows, expected: dict[str, Any]) -> Verdict:
    with tempfile.TemporaryDirectory() as room:
        try:
            seen = outcome_of_file(file, Path(room) / "room", expected.get("options", {}))
        except Exception as error:  # noqa: BLE001 whatever it is, it is a crash
            return Verdict("crash", f"{type(error).__name__}: {error}")
    if seen.error:
        return Verdict("right" if "error" in expected else "refused", seen.error)
    rows = normalize([list(json.loads(row).values()) for row in _in_order(seen.rows, seen.columns)])
    if rows == oracle and "error" not in expected:
        return Verdict("right")
    told = [each for each in seen.warnings if file.name in each]
    about = f"{len(rows):,} rows, the oracle has {len(oracle):,}; {' '.join(told) or _first_difference(rows, oracle)}"
    if seen.rejects and len(rows) + len(seen.rejects) == len(oracle):
        return Verdict("refused", about)
    return Verdict("warned" if told else "silently wrong", about)


def _in_order(rows: Sequence[str], columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Rows with their values in the order of the columns: the comparison sorts them by name."""
    for row in rows:
        values = json.loads(row)
        yield json.dumps({name: values[name] for name, _ in columns})


def _judge_duckdb(file: Path, oracle: Rows, expected: dict[str, Any]) -> Verdict:
    functions = {".parquet": "read_parquet", ".json": "read_json_auto", ".jsonl": "read_json_auto"}
    suffix = Path(_plain_name(file)).suffix
    function = functions.get(suffix, "read_csv" if suffix in DELIMITED else "")
    if not function:
        return Verdict("refused", "no such format")
    with duckdb.connect() as connection:
        try:
            rows = connection.execute(f"select * from {function}(?)", [str(file)]).fetchall()  # noqa: S608
        except (duckdb.Error, OverflowError) as error:
            return Verdict("right" if "error" in expected else "refused", str(error))
    return Verdict("right" if normalize(rows) == oracle and "error" not in expected else "silently wrong")


def _judge_polars(file: Path, oracle: Rows, expected: dict[str, Any]) -> Verdict:
    polars = _polars()
    suffix = Path(_plain_name(file)).suffix
    readers = {".parquet": "read_parquet", ".json": "read_json", ".jsonl": "read_ndjson", ".avro": "read_avro"}
    name = readers.get(suffix, "read_csv" if suffix in DELIMITED else "")
    if not name:
        return Verdict("refused", "no such format")
    try:
        rows = getattr(polars, name)(file).rows()
    except Exception as error:  # noqa: BLE001 it has no one class of errors
        return Verdict("right" if "error" in expected else "refused", str(error))
    return Verdict("right" if normalize(rows) == oracle and "error" not in expected else "silently wrong")


def _polars() -> Any:
    try:
        import polars
    except ModuleNotFoundError:
        return None
    return polars


# The comparison


def normalize(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows that can be compared, whoever read them: an empty field and a null are the same."""
    return sorted(tuple(map(_as_text, row)) for row in rows)


def _as_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date):
        return _moment(value.isoformat())
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict) and list(value) == ["bytes"]:  # so the outcome of a merge shows them
        return str(value["bytes"])
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, default=_as_text, sort_keys=True)
    text = str(value).replace("\r\n", "\n").replace("\r", "\n")
    if text in ("True", "False", "TRUE", "FALSE"):
        return text.lower()
    return _number(text) if any(char.isdigit() for char in text) else text


def _number(text: str) -> str:
    """Numbers that are equal are the same text; so are times, with a T or a space between their halves."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return _moment(text)
    if not number.is_finite() or abs(number.adjusted()) > 400:
        return text
    return f"{_EXACT.normalize(number):f}" if number else "0"  # -0.00 is 0


def _moment(text: str) -> str:
    if len(text) < 10 or text[4:5] != "-" or text[7:8] != "-":
        return text
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return text


def _first_difference(rows: Rows, oracle: Rows) -> str:
    ours, theirs = Counter(rows), Counter(oracle)
    return f"{next(iter(ours - theirs), '')!r:.150} instead of {next(iter(theirs - ours), '')!r:.150}"


if __name__ == "__main__":
    main()
