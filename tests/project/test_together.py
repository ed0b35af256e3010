"""Tests that share a server are kept in one process."""

from __future__ import annotations

import pytest

from tests.conftest import PROJECT
from tests.together import FILES, SERVERS, group_of

seen: set[int] = set()


@pytest.mark.parametrize("place", [*FILES, *(place for places in SERVERS.values() for place in places)])
def test_what_is_kept_together_is_there(place: str) -> None:
    assert (PROJECT / place).exists()


def test_the_tests_of_such_a_file_are_one_group_and_others_are_not() -> None:
    one, other = "tests/merge/test_kills.py::test_a", "tests/merge/test_kills.py::test_b[x]"
    assert group_of(one) == group_of(other)
    assert group_of("tests/merge/test_cluster.py::test_a") == group_of("tests/spark/test_submit.py::test_b")
    assert group_of("tests/util/test_ids.py::test_a") != group_of("tests/util/test_ids.py::test_b")
    on_spark = "tests/sql/test_query.py::test_a[spark]", "tests/sql/test_dedupe.py::test_b[by a query-spark]"
    assert group_of(on_spark[0]) == group_of(on_spark[1]) != group_of("tests/sql/test_query.py::test_a[here]")


@pytest.mark.parametrize("number", range(4))
def test_the_plugin_keeps_to_it(number: int) -> None:
    """These are such tests themselves: the process that runs one of them has run those before it."""
    seen.add(number)
    assert seen == set(range(number + 1))
