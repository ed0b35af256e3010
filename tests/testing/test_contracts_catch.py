"""The suites find what is wrong with a client, and nothing wrong with one that is right."""

from pathlib import Path

import pytest

from mason.clients.local.metastore import LocalMetastoreClient
from mason.clients.local.scheduler import LocalSchedulerClient
from mason.clients.local.storage import LocalStorageClient
from tests.testing import broken_executions, broken_metastores, broken_schedulers, broken_storages
from tests.testing.trial import failed_tests

GOOD_METASTORES = [
    LocalMetastoreClient,
    broken_metastores.DeclaresWhatItLacks,
    broken_metastores.DeclaresWhatItCannotKeep,
]


@pytest.mark.parametrize("good", GOOD_METASTORES)
def test_a_metastore_without_defects_passes(good: type, tmp_path: Path) -> None:
    assert failed_tests(good, "TestMetastore", tmp_path) == set()


@pytest.mark.parametrize("good", [LocalStorageClient, broken_storages.DeclaresWhatItLacks])
def test_a_storage_without_defects_passes(good: type, tmp_path: Path) -> None:
    assert failed_tests(good, "TestStorage", tmp_path) == set()


def test_an_execution_without_defects_passes(tmp_path: Path) -> None:
    """That the local one does is shown by its own tests."""
    assert failed_tests(broken_executions.DeclaresWhatItLacks, "TestExecution", tmp_path) == set()


@pytest.mark.parametrize("broken", broken_executions.FOUND_BY, ids=lambda broken: broken.__name__)
def test_the_suite_finds_the_defect_of_an_execution(broken: type, tmp_path: Path) -> None:
    test = f"TestExecution::{broken_executions.FOUND_BY[broken]}"

    assert failed_tests(broken, test, tmp_path) == {test}


def test_an_engine_without_some_jobs_passes_if_it_says_so(tmp_path: Path) -> None:
    tests = "TestOperators::test_a_diff_says_what_was_added_removed_and_changed"

    assert failed_tests(broken_executions.RunsQueriesAlone, tests, tmp_path) == set()


@pytest.mark.parametrize("broken", broken_executions.FOUND_BY_OPERATORS, ids=lambda broken: broken.__name__)
def test_the_suite_of_operators_finds_the_defect_of_an_engine(broken: type, tmp_path: Path) -> None:
    test = f"TestOperators::{broken_executions.FOUND_BY_OPERATORS[broken]}"

    assert failed_tests(broken, test, tmp_path) == {test}


@pytest.mark.parametrize("broken", broken_metastores.FOUND_BY, ids=lambda broken: broken.__name__)
def test_the_suite_finds_the_defect_of_a_metastore(broken: type, tmp_path: Path) -> None:
    test = f"TestMetastore::{broken_metastores.FOUND_BY[broken]}"

    assert failed_tests(broken, test, tmp_path) == {test}


@pytest.mark.parametrize("broken", broken_storages.FOUND_BY, ids=lambda broken: broken.__name__)
def test_the_suite_finds_the_defect_of_a_storage(broken: type, tmp_path: Path) -> None:
    test = f"TestStorage::{broken_storages.FOUND_BY[broken]}"

    assert failed_tests(broken, test, tmp_path) == {test}


@pytest.mark.parametrize("good", [LocalSchedulerClient, broken_schedulers.DeclaresWhatItLacks])
def test_a_scheduler_without_defects_passes(good: type, tmp_path: Path) -> None:
    assert failed_tests(good, "TestScheduler", tmp_path) == set()


@pytest.mark.parametrize("broken", broken_schedulers.FOUND_BY, ids=lambda broken: broken.__name__)
def test_the_suite_finds_the_defect_of_a_scheduler(broken: type, tmp_path: Path) -> None:
    test = f"TestScheduler::{broken_schedulers.FOUND_BY[broken]}"

    assert failed_tests(broken, test, tmp_path) == {test}
