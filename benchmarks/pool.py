"""What a child for a call costs on a server: the call in a child from the pool, beside the same call without one.

.venv/bin/python -m benchmarks.pool [--rounds 50]

Imports stand in functions: each child imports this module, which is what it was started from.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measure import Result
    from benchmarks.script import Script

MOST_MILLISECONDS = 60.0
DEFINITION = "type: operator\nnamespace: bench\ncommand: nothing\ndescription: Does nothing\n"
CODE = """\
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class BenchNothing(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        return OperatorResponse(resp)
"""


def main() -> None:
    from benchmarks.script import script

    with script(__doc__, rounds=50) as running:
        running.save(measure(running))


def measure(running: Script) -> Result:
    """Run the call of an operator that is not Mason's own, which has a child for itself, again and again."""
    from benchmarks.measure import Comparison, Result, Runs
    from benchmarks.script import MASON
    from mason.api.processes.limits import CallLimits
    from mason.api.processes.pool import CallProcesses
    from mason.api.server.calls.call import Call
    from mason.api.server.calls.execution import Execution
    from mason.api.server.settings import ServerSettings
    from mason.operators.registration.catalogue import LiveCatalogue
    from mason.pipeline.driving.handover import Handover
    from mason.state.home import open_state
    from mason.state.models import Kind
    from mason.util.environment import MasonEnvironment

    os.chdir(running.folder)
    operator = running.folder / "nothing"
    operator.mkdir()
    (operator / "operator.yaml").write_text(DEFINITION, encoding="utf-8")
    (operator / "__init__.py").write_text(CODE, encoding="utf-8")
    subprocess.run([MASON, "register", str(operator)], check=True, capture_output=True)
    env = MasonEnvironment.of()
    here = Execution(env, LiveCatalogue(env, open_state(env)))
    processes = CallProcesses(ServerSettings(), CallLimits(), lambda _, text: text)
    processes.start()

    def milliseconds_apart() -> float:
        began = time.perf_counter()
        outcome = processes.run(Call(kind=Kind.OPERATOR, namespace="bench", command="nothing"), Handover(), reuse=False)
        assert outcome.answer[1] == 200, outcome
        return 1000 * (time.perf_counter() - began)

    def milliseconds_here() -> float:
        began = time.perf_counter()
        answer = here(Call(kind=Kind.OPERATOR, namespace="bench", command="nothing"), Handover())
        assert answer[1] == 200, answer
        return 1000 * (time.perf_counter() - began)

    try:
        for _ in range(3):
            milliseconds_apart(), milliseconds_here()
        pairs = [(milliseconds_apart(), milliseconds_here()) for _ in range(running.rounds)]
    finally:
        processes.close()
    cost = Runs("Mason", [apart - alone for apart, alone in pairs])
    allowed = Runs("allowed", [MOST_MILLISECONDS] * len(pairs))
    return Result(
        "pool",
        "a call that does nothing, of an operator that is not Mason's own",
        [Comparison("what a child costs beside the call itself", cost, allowed, "ms", limit=1.0)],
    )


if __name__ == "__main__":
    main()
