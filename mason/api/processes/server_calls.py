"""Where a call runs: in the server itself if it only asks, else in a child."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mason.api.processes.outcome import Outcome
from mason.api.processes.pool import CallProcesses
from mason.api.server.calls.call import Call
from mason.api.server.calls.execution import Execution
from mason.api.server.replies import document
from mason.errors import MasonError
from mason.operators.registration.catalogue import LiveCatalogue
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.pipeline.driving.handover import Handover
from mason.pipeline.driving.job_log import JobLog
from mason.state.models import Kind
from mason.util.packaged import folder_of_examples


class ServerCalls:
    """Runs the calls of a server. Nothing is raised: what goes wrong is in the answer."""

    def __init__(self, execution: Execution, live: LiveCatalogue, processes: CallProcesses) -> None:
        self._execution = execution
        self._live = live
        self._processes = processes

    def start(self) -> None:
        _digests_of_own_operators()
        self._processes.start()

    def run(self, call: Call, handover: Handover) -> Outcome:
        """Run a call and return what came of it."""
        is_shipped = self._is_shipped(call)
        if is_shipped and self._only_asks(call):
            return self._run_here(call, handover)
        try:
            return self._processes.run(call, handover, reuse=is_shipped)
        except MasonError as error:
            return Outcome((document(errors=error.messages), error.status))

    def cancel(self, must_end: Callable[[str, str], bool]) -> None:
        """End the calls that are to end; one that only asks ends by itself."""
        self._processes.cancel(must_end)

    def close(self) -> None:
        self._processes.close()

    def _is_shipped(self, call: Call) -> bool:
        """Say whether a call runs nothing but code that ships with Mason."""
        found = self._live.latest().operators.get(call.name) if call.kind is Kind.OPERATOR else None
        return found is not None and found.digest in _digests_of_own_operators()

    def _only_asks(self, call: Call) -> bool:
        return self._live.latest().operator(call.name).load().only_asks

    def _run_here(self, call: Call, handover: Handover) -> Outcome:
        log = JobLog(lambda text: self._execution.log_as_seen(call, text))
        try:
            return Outcome(self._execution(call, handover), log.lines())
        finally:
            log.close()


@cache
def _digests_of_own_operators() -> frozenset[str]:
    found = read_definitions(folder_of_examples() / "operators", [OPERATORS])
    return frozenset(each.registration.digest for each in found.valid)
