"""Conformance suites: a client that passes the one of its role does what Mason expects of it.

Subclass a suite in a test module of your client and give it the fixtures that its docstring names. pytest is needed.
"""

from pathlib import Path

import pytest

# Before they are imported: a failing assert then shows its values, as it does in a test module.
pytest.register_assert_rewrite(*(f"mason.testing.{file.stem}" for file in sorted(Path(__file__).parent.iterdir())))

from mason.testing.execution import ExecutionContract  # noqa: E402
from mason.testing.metastore import MetastoreContract  # noqa: E402
from mason.testing.operators import OperatorContract  # noqa: E402
from mason.testing.place import Place  # noqa: E402
from mason.testing.scheduler import SchedulerContract  # noqa: E402
from mason.testing.storage import StorageContract  # noqa: E402

__all__ = [
    "ExecutionContract",
    "MetastoreContract",
    "OperatorContract",
    "Place",
    "SchedulerContract",
    "StorageContract",
]
