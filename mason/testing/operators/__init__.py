"""One behaviour, several clients: the operators on a whole configuration."""

from __future__ import annotations

from mason.testing.operators.catalog import CatalogTests
from mason.testing.operators.jobs import JobTests
from mason.testing.operators.queries import QueryTests


class OperatorContract(CatalogTests, QueryTests, JobTests):
    """What Mason's operators do on any configuration, with golden data and what must come of them.

        class TestMyStack(OperatorContract):
            @pytest.fixture
            def configuration(self) -> Mapping[str, Any]:
                return {"metastore_engine": "mine", "storage_engine": "mine", "execution_engine": "mine", …}

            @pytest.fixture
            def base_path(self) -> str:
                return f"my://a-bucket/{uuid4()}"

    A subclass must have both fixtures: the configuration as its file would say it, and a path as a user would write it,
    below which there is nothing yet and the suite may write. `database` is for a metastore in which databases
    have other names, or cannot be created.

    What an execution engine has no jobs for is not skipped: the test demands that the operator says so.
    """
