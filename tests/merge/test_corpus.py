"""Hostile files, each with what a careful data engineer would want of it.

`corpus/<case>/in` holds the files, `corpus/<case>/expected.json` says why the case is there and what comes out: an
error that names the file, or the whole result. What is too large to keep is made from a recipe, `generate`: a text is
itself, `{"$repeat": text, "times": n}` is a text so many times, and `{"$count": n, "text": "c{}", "join": ","}` is a
text with each of the numbers from 0. The same words stand for large values in the expected result.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT
from tests.merge.conftest import Merge
from tests.merge.outcomes import Outcome, as_json, compare, compare_warnings, outcome_of, shorten

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(each.name for each in CORPUS.iterdir())
MOST_MEMORY = 1_500_000_000

HOSTILE = {
    "truncated gz": ["gz-truncated", "gz-truncated-within-its-first-bytes", "gz-without-its-trailer"],
    "NUL bytes": ["nul-bytes", "nul-bytes-all-over"],
    "wrong delimiter": ["wrong-delimiter-given", "wrong-delimiter-below-the-header", "delimiters-in-one-folder"],
    "ragged rows": ["ragged-shorter-and-longer", "ragged-with-quotes", "trailing-delimiters"],
    "an unterminated quote": [
        "unterminated-quote",
        "unterminated-quote-in-the-last-field",
        "header-with-an-open-quote",
    ],
    "stray quotes": ["stray-quotes", "stray-quote-in-a-ragged-record", "text-after-a-closing-quote"],
    "5,000 columns": ["five-thousand-columns"],
    "a 100 MB line": ["line-of-100-mb", "line-of-100-mb-that-is-the-header", "line-of-100-mb-in-json"],
    "mixed encodings": ["mixed-encodings-utf-8-first", "mixed-encodings-latin-1-first", "latin-1-beside-utf-8"],
    "invalid UTF-8": ["invalid-utf-8", "json-that-is-not-utf-8", "header-that-is-no-text"],
    "duplicate column names": ["duplicate-names", "parquet-with-duplicate-names", "json-with-duplicate-keys"],
    "case-differing column names": ["case-differing-names-in-one-file", "case-differing-names-in-two-files"],
    "names with dots, quotes, emoji": ["odd-names"],
    "blank lines": ["blank-lines", "blank-lines-of-one-column", "nothing-but-blank-lines"],
    "leading zeros": ["leading-zeros", "hive-folders-with-leading-zeros"],
    "20-digit integers": ["twenty-digit-integers", "json-numbers"],
    "dates that are none": ["dates-that-are-none", "times-that-are-none", "date-beyond-the-sample"],
    "zoned and naive times": ["naive-and-zoned-times", "naive-times", "zoned-times", "date-and-zoned-time"],
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_gives_what_its_expectation_says(merge: Merge, name: str) -> None:
    expected = _given(merge, name)

    assert differences(expected, outcome_of(merge, expected["options"])) == []


def test_the_corpus_has_every_hostile_thing_and_says_why() -> None:
    named = {case for cases in HOSTILE.values() for case in cases}

    assert named <= set(CASES)
    assert len(CASES) >= 40
    for name in CASES:
        expected = json.loads((CORPUS / name / "expected.json").read_text(encoding="utf-8"))
        assert expected["why"].endswith("."), name
        assert ("generate" in expected) != (CORPUS / name / "in").is_dir(), name
        assert "error" in expected or expected["rows_in"] == expected["rows_out"] + expected["quarantined"], name


WRONG: Mapping[str, tuple[Callable[[Outcome], Outcome], str]] = {
    "a dropped row": (lambda seen: replace(seen, rows=seen.rows[1:]), "rows: missing"),
    "a row twice": (lambda seen: replace(seen, rows=[*seen.rows, seen.rows[0]]), "rows: too many"),
    "a changed value": (lambda seen: replace(seen, rows=[r.replace("11", "12") for r in seen.rows]), "rows: missing"),
    "a number as text": (
        lambda seen: replace(seen, rows=[r.replace("11", '"11"') for r in seen.rows]),
        "rows: missing",
    ),
    "a whole number as a double": (
        lambda seen: replace(seen, rows=[r.replace("11", "11.0") for r in seen.rows]),
        "rows: missing",
    ),
    "a changed type": (lambda seen: replace(seen, columns=[("a", "string"), *seen.columns[1:]]), "columns"),
    "a column too many": (lambda seen: replace(seen, columns=[*seen.columns, ("d", "int64")]), "columns"),
    "columns in another order": (lambda seen: replace(seen, columns=seen.columns[::-1]), "columns"),
    "a missing reject": (lambda seen: replace(seen, rejects=seen.rejects[1:]), "rejects: missing"),
    "a reject of another place": (
        lambda seen: replace(seen, rejects=[r.replace('"record": 3', '"record": 4') for r in seen.rejects]),
        "rejects: missing",
    ),
    "a reject without its text": (
        lambda seen: replace(seen, rejects=[r.replace("6,7,8,9", "") for r in seen.rejects]),
        "rejects: missing",
    ),
    "a missing warning": (lambda seen: replace(seen, warnings=seen.warnings[1:]), "warnings: nothing says"),
    "a quarantine that is not counted": (lambda seen: replace(seen, warnings=seen.warnings[:-1]), "nothing says"),
    "a warning too many": (lambda seen: replace(seen, warnings=[*seen.warnings, "oh"]), "warnings: not expected"),
    "a conflict that is none": (lambda seen: replace(seen, conflicts=["a"]), "conflicts"),
    "wrong sums": (lambda seen: replace(seen, counts=(6, 3, 2)), "counts"),
    "an error": (lambda seen: Outcome(error="no"), "it failed"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_the_comparison_notices_a_wrong_result(merge: Merge, wrong: str) -> None:
    expected = _given(merge, "ragged-shorter-and-longer")
    seen = outcome_of(merge, expected["options"])
    falsify, complaint = WRONG[wrong]

    assert differences(expected, seen) == []
    assert any(complaint in each for each in differences(expected, falsify(seen)))


def test_the_comparison_notices_a_wrong_error(merge: Merge) -> None:
    expected = _given(merge, "duplicate-names")
    seen = outcome_of(merge, expected["options"])

    assert differences(expected, seen) == []
    assert differences(expected, replace(seen, error=seen.error.replace("twice.csv", "some file"))) != []
    assert differences(expected, replace(seen, left_behind=["out"])) != []
    assert differences(expected, replace(seen, error="")) != []


def test_a_line_of_100_mb_takes_no_gigabytes(merge: Merge) -> None:
    """In a process of its own, asked for its own peak: what the system tells when it ends counts its parent's too."""
    _given(merge, "line-of-100-mb")
    _given(merge, "line-of-100-mb-in-json")
    code = f"""
        import sys
        sys.path.insert(0, {str(PROJECT)!r})
        from pathlib import Path
        from benchmarks.kernel_worker import peak_memory
        from tests.merge.conftest import Merge
        Merge(Path({str(merge.root)!r})).run()
        print(peak_memory())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert 0 < int(done.stdout.split()[-1]) < MOST_MEMORY


def differences(expected: Mapping[str, Any], seen: Outcome) -> list[str]:
    """Return what is not as expected, in sentences of bearable length."""
    if "error" in expected:
        return list(_differences_of_error(expected["error"], seen))
    if seen.error:
        return [f"it failed: {shorten(seen.error)}"]
    return [shorten(each) for each in _differences_of_result(expected, seen)]


def _given(merge: Merge, name: str) -> dict[str, Any]:
    """Lay the files of a case where the merge looks for them, and return what is expected."""
    case = CORPUS / name
    expected: dict[str, Any] = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    if (case / "in").is_dir():
        shutil.copytree(case / "in", merge.root / "in", dirs_exist_ok=True)
    for file, parts in expected.get("generate", {}).items():
        merge.given(file, "".join(map(_expand, parts)))
    return expected


def _differences_of_error(fragments: Sequence[str], seen: Outcome) -> Iterator[str]:
    if not seen.error:
        yield f"it did not fail, but gave {seen.counts} rows in, out and quarantined"
    yield from (
        f'the error does not say "{each}": {shorten(seen.error)}' for each in fragments if each not in seen.error
    )
    if seen.left_behind:
        yield f"it failed and left behind {seen.left_behind}"


def _differences_of_result(expected: Mapping[str, Any], seen: Outcome) -> Iterator[str]:
    columns = list(_expand(expected["columns"]).items())
    if columns != list(seen.columns):
        yield f"columns: {[each for each in seen.columns if each not in columns]} instead of {columns}"
    rows = [as_json(row) for part in expected["rows"] for row in _expand_rows(part)]
    yield from compare("rows", rows, seen.rows)
    yield from compare("rejects", [as_json(_expand(each)) for each in expected["rejects"]], seen.rejects)
    yield from compare_warnings([*expected["warnings"], *_of_quarantine(expected["rejects"])], seen.warnings)
    if sorted(expected["conflicts"]) != list(seen.conflicts):
        yield f"conflicts: {seen.conflicts} instead of {expected['conflicts']}"
    counts = (expected["rows_in"], expected["rows_out"], expected["quarantined"])
    if counts != seen.counts or counts != (len(rows) + len(seen.rejects), len(seen.rows), len(seen.rejects)):
        yield f"counts of rows in, out and quarantined: {seen.counts} instead of {counts}"


def _of_quarantine(rejects: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is said of each file with records in the quarantine."""
    for file, count in Counter(each["file"] for each in rejects).items():
        yield f"{file}: {count:,} record{'s are' if count > 1 else ' is'} in the quarantine"


def _expand(value: Any) -> Any:
    """Write out what stands for something large."""
    if isinstance(value, list):
        return [_expand(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "$repeat" in value:
        return value["$repeat"] * value["times"]
    if "$join" in value:
        return "".join(_expand(value["$join"]))
    if "$count" in value and "text" in value:
        return value["join"].join(value["text"].format(number) for number in range(value["$count"]))
    if "$count" in value:
        ((name, each),) = ((name, each) for name, each in value.items() if name != "$count")
        return {name.format(number): each.format(number) for number in range(value["$count"])}
    return {name: _expand(each) for name, each in value.items()}


def _expand_rows(part: Mapping[str, Any]) -> Iterator[Any]:
    """One row, or as many as `$rows` says, in which `$number` stands for the row's number from 0."""
    if "$rows" not in part:
        yield _expand(part)
        return
    for number in range(part["$rows"]):
        yield {name: number if value == "$number" else value for name, value in part["row"].items()}
