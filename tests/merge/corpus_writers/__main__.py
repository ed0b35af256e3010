"""Writes all small files of the corpus: python -m tests.merge.corpus_writers."""

from __future__ import annotations

from itertools import chain

from tests.merge.corpus_writers.archived import archived_cases
from tests.merge.corpus_writers.case import write_cases
from tests.merge.corpus_writers.delimited import delimited_cases
from tests.merge.corpus_writers.encoded import encoded_cases
from tests.merge.corpus_writers.heads import head_cases
from tests.merge.corpus_writers.records import record_cases
from tests.merge.corpus_writers.sheets import sheet_cases
from tests.merge.corpus_writers.typed import typed_cases
from tests.merge.corpus_writers.wild import wild_cases

_WRITERS = (
    delimited_cases,
    head_cases,
    wild_cases,
    record_cases,
    typed_cases,
    encoded_cases,
    archived_cases,
    sheet_cases,
)

if __name__ == "__main__":
    print(write_cases(chain.from_iterable(writer() for writer in _WRITERS)))  # noqa: T201
