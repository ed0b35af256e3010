"""Runs a conformance suite on a client, in this process, and says which of its tests failed."""

from __future__ import annotations

from pathlib import Path

import pytest

_SUITES = """
from mason.testing import ExecutionContract, MetastoreContract, OperatorContract, SchedulerContract, StorageContract
from mason.testing.operators.fixtures import Operators

import pytest


class TestMetastore(MetastoreContract):
    @pytest.fixture
    def client(self, client_class, tmp_path):
        self.refuses = getattr(client_class, "cannot_keep", {})
        return client_class({"root": str(tmp_path)})


class TestExecution(ExecutionContract):
    @pytest.fixture
    def client(self, client_class):
        return client_class({})


class TestOperators(OperatorContract):
    @pytest.fixture
    def configuration(self, tmp_path):
        roles = dict.fromkeys(("metastore_engine", "storage_engine", "execution_engine"), "local")
        return {**roles, "clients": {"local": {"configuration": {"root": str(tmp_path / "root")}}}}

    @pytest.fixture
    def base_path(self, tmp_path):
        return str(tmp_path / "contract")

    @pytest.fixture
    def operators(self, config, env, client_class):
        config.execution._built["local"] = client_class({})
        return Operators(env, config)


class TestStorage(StorageContract):
    @pytest.fixture
    def client(self, client_class, tmp_path):
        return client_class({"root": str(tmp_path)})

    @pytest.fixture
    def base_path(self, tmp_path):
        return str(tmp_path / "contract")


class TestScheduler(SchedulerContract):
    @pytest.fixture
    def client(self, client_class, tmp_path, monkeypatch):
        monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
        return client_class({})
"""


def failed_tests(client_class: type, tests: str, folder: Path) -> set[str]:
    """Return the names of the tests that fail for a client.

    `tests` is a suite, such as `TestMetastore` or `TestScheduler`, or one test of it:
    `TestStorage::test_schemes_are_named`.
    """
    file = folder / "test_suites.py"
    file.write_text(_SUITES)
    trial = _Trial(client_class)
    quiet = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:logging", "--capture=no"]
    # At its end a session looks for garbage several times: in a process with thousands of tests that takes seconds.
    quiet += ["-p", "no:unraisableexception", "-p", "no:threadexception"]
    alone = ["-c", "/dev/null", f"--rootdir={folder}", f"--basetemp={folder / 'tmp'}", "--import-mode=importlib"]
    alone += [f"--confcutdir={folder}"]  # else every folder of every other test is looked at
    with pytest.MonkeyPatch.context() as patch:
        # What is installed besides would interfere with the session that runs this one: timers, workers, caches.
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.delenv("PYTEST_ADDOPTS", raising=False)
        patch.delenv("PYTEST_PLUGINS", raising=False)
        status = pytest.main([*quiet, *alone, f"{file}::{tests}"], plugins=[trial])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), "no such test"
    return trial.failed


class _Trial:
    def __init__(self, client_class: type) -> None:
        self._client_class = client_class
        self.failed: set[str] = set()

    @pytest.fixture
    def client_class(self) -> type:
        return self._client_class

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid.partition("::")[2])
