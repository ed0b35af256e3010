"""The suite of the execution role."""

from __future__ import annotations

from mason.testing.execution.answers import AnswerTests
from mason.testing.execution.cancelling import CancelTests
from mason.testing.execution.plans import PlanTests
from mason.testing.execution.records import RecordTests
from mason.testing.execution.submitting import SubmitTests
from mason.testing.execution.verbs import VerbTests


class ExecutionContract(VerbTests, PlanTests, AnswerTests, RecordTests, SubmitTests, CancelTests):
    """What Mason expects of an execution client.

        class TestMyExecution(ExecutionContract):
            @pytest.fixture
            def client(self) -> ExecutionClient:
                return MyExecutionClient({"url": "http://localhost:8080"})

    `client` is the one fixture that a subclass must have. The others have a default for a client that reads local files
    and are there to be overridden: `make_table` (how the suite makes a table of which the engine is asked, and where it
    lies), `storage` (the address of the storage in which it does), `database`.

    The engine must run jobs of the type `query`: what it answers is compared with golden rows and types. Jobs are run
    in this process; `elsewhere` is the client that looks at them as another process would.

    A verb that the client declares unsupported is not skipped: its tests demand that it is refused with its reason.
    """
