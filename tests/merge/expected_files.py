"""The corpus of small files: `<file>` beside `<file>.expected.json`, which says why it is there and what it holds.

| key | |
|---|---|
| `why` | a sentence |
| `options` | parameters of the merge; those of delimited text below `csv` |
| `columns`, `rows` | the names, and the values of each row in their order; numbers that JSON lacks and dates are text |
| `rejects` | the text of each record that is set aside |
| `warnings` | a fragment of each warning; what is said of the quarantine follows from `rejects` |
| `error` | fragments of the error, where the file is refused |
| `or_error` | fragments of the error by which such a file may be refused as long as Mason does not read its kind |
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mason.engines.storage.models.infer_options import DelimitedOptions
from tests.merge.conftest import Merge
from tests.merge.corpus_writers.case import CORPUS_FILES
from tests.merge.outcomes import Outcome, as_json, compare, compare_warnings, outcome_of, shorten

EXPECTED = ".expected.json"


def corpus_files(folder: Path = CORPUS_FILES) -> Sequence[Path]:
    """Return the files of a corpus, without what is expected of them."""
    return sorted(each for each in folder.rglob("*") if each.is_file() and not each.name.endswith(EXPECTED))


def expectation_of(file: Path) -> dict[str, Any] | None:
    """Return what is expected of a file; None if nobody says."""
    beside = file.with_name(file.name + EXPECTED)
    return json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else None


def merge_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a merge as an expectation states them."""
    csv = given.get("csv", {})
    known = DelimitedOptions(**{**csv, "widths": tuple(csv.get("widths", ()))})
    return {**{name: value for name, value in given.items() if name != "csv"}, "csv": known}


def outcome_of_file(file: Path, room: Path, options: Mapping[str, Any]) -> Outcome:
    """Merge one file alone, in an empty folder."""
    (room / "in").mkdir(parents=True)
    shutil.copyfile(file, room / "in" / file.name)
    return outcome_of(Merge(room), merge_options(options))


def differences(name: str, expected: Mapping[str, Any], seen: Outcome) -> list[str]:
    """Return in which ways the outcome is not the expected one."""
    wanted = expected.get("error") or (expected.get("or_error") if seen.error else None)
    if wanted:
        return [f'the error does not say "{each}": {shorten(seen.error)}' for each in wanted if each not in seen.error]
    if seen.error:
        return [f"it failed: {shorten(seen.error)}"]
    return list(map(shorten, _differences_of_result(name, expected, seen)))


def _differences_of_result(name: str, expected: Mapping[str, Any], seen: Outcome) -> Iterator[str]:
    columns = [column for column, _ in seen.columns]
    if columns != expected["columns"]:
        yield f"columns: {columns} instead of {expected['columns']}"
    rows = [as_json(dict(zip(expected["columns"], row, strict=True))) for row in expected["rows"]]
    yield from compare("rows", rows, seen.rows)
    rejects = [json.loads(each)["raw"] for each in seen.rejects]
    yield from compare("rejects", expected["rejects"], rejects)
    counted = [f"{name}: {len(rejects):,} record"] if expected["rejects"] else []
    yield from compare_warnings([*expected.get("warnings", ()), *counted], seen.warnings)
    counts = (len(rows) + len(expected["rejects"]), len(rows), len(expected["rejects"]))
    if counts != seen.counts:
        yield f"counts of rows in, out and quarantined: {seen.counts} instead of {counts}"
