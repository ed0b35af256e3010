"""Small files of every kind that is found in the wild, each with what it holds by a reader other than Mason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.merge.corpus_writers.case import CORPUS_FILES, MOST_BYTES
from tests.merge.expected_files import EXPECTED, corpus_files, differences, expectation_of, outcome_of_file

LEAST_FILES = 400
FILES = [str(each.relative_to(CORPUS_FILES)) for each in corpus_files()]


@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_rows_that_it_holds(tmp_path: Path, name: str) -> None:
    file = CORPUS_FILES / name
    expected = expectation_of(file)
    assert expected is not None, f"{name} has no {EXPECTED} beside it"

    assert differences(file.name, expected, outcome_of_file(file, tmp_path, expected.get("options", {}))) == []


def test_the_corpus_is_large_and_each_of_its_files_is_small_and_says_why() -> None:
    expectations = {str(each.relative_to(CORPUS_FILES)) for each in CORPUS_FILES.rglob(f"*{EXPECTED}")}

    assert len(FILES) >= LEAST_FILES
    assert expectations == {name + EXPECTED for name in FILES}
    for name in FILES:
        assert (CORPUS_FILES / name).stat().st_size <= MOST_BYTES, name
        expected = expectation_of(CORPUS_FILES / name)
        assert expected is not None
        assert expected["why"].endswith("."), name
