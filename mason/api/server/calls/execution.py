"""Does what a call asks for and returns its JSON and status: the same JSON that the command line prints.

Calls that change nothing run at once, beside the queue and without a record.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mason.api.operator_api import RUNNER, Answer, get
from mason.api.processes.limits import explain_memory
from mason.api.processes.outcome import Outcome
from mason.api.server.calls.call import Call, answer_cancelled
from mason.api.server.calls.daemon_pool import DaemonPool
from mason.api.server.replies import PathHider, document, without_places
from mason.api.server.requests import REQUEST, RequestInfo
from mason.clients.response import Response
from mason.errors import BadInput, ClientFailed, InvalidConfiguration, MasonError, NotFound, StateFailed, TooMany
from mason.operators.calls.token_limits import limit_to
from mason.operators.failed_code import find_failed_code
from mason.operators.operator_definition import OperatorDefinition, is_one_job
from mason.operators.operator_response import OperatorResponse
from mason.operators.registration.catalogue import OWN_API, Catalogue, LiveCatalogue
from mason.operators.runner import OperatorCall
from mason.pipeline.driving.calls import begin_call
from mason.pipeline.driving.handover import JOB, RUN, Handover, begin_handover
from mason.pipeline.work.memory_limits import check_result, limit_memory, server_limits
from mason.service.caller import Caller
from mason.service.reply import collect
from mason.service.service import Service
from mason.state.home import read_state
from mason.state.models import Kind
from mason.state.tokens import Scope, Token
from mason.util.environment import MasonEnvironment
from mason.util.names import full_name
from mason.util.redaction import Redactor, hide_secrets

if TYPE_CHECKING:
    from mason.workflows.runs.resume import Choice
    from mason.workflows.workflow_calls import WorkflowCall

LOG = logging.getLogger("mason.api")
_PATIENCE_SECONDS = 60.0


T = TypeVar("T")
_PAUSE_SECONDS = 0.2


class Execution:
    """Runs calls in the thread that asks for it. Nothing is raised: what goes wrong is in the answer."""

    def __init__(
        self, env: MasonEnvironment, live: LiveCatalogue, memory: int | None = None, patience: float = 0
    ) -> None:
        self._env = env
        self._live = live
        self._memory = memory
        self._patience = patience
        """How many seconds a call waits for what it needs of a state that is away, before it begins."""
        self._hiders: dict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], PathHider] = {}
        self._limits = server_limits(env)

    def __call__(self, call: Call, handover: Handover) -> Answer:
        # What a call sets is not there for the next one in this thread.
        return copy_context().run(self._run, call, handover)

    def hider(self, config_id: str) -> PathHider:
        """Return what takes the folders of the server, and those of a configuration, out of messages."""
        catalogue = self._live.latest()
        try:
            roots = tuple(catalogue.configuration(config_id).roots or ())
        except MasonError:  # what is wrong with it is what the answer is about
            roots = ()
        sources = _sources(catalogue)
        if (roots, sources) not in self._hiders:
            self._hiders[roots, sources] = PathHider(self._env, roots, sources)
        return self._hiders[roots, sources]

    def redact_for(self, call: Call, text: str) -> str:
        """Return a text without the secrets that a call gives, and those of its configuration.

        Raises:
            StateFailed: nobody can tell what the secrets are.
        """
        catalogue = self._live.latest()
        redactor = Redactor(call.secrets(catalogue.secret_words()))
        try:
            text = catalogue.configuration(call.config_id).redactor(text)
        except StateFailed:  # the call may have read it before, and know its secrets
            raise
        except MasonError:  # a configuration that cannot be read has told nobody its secrets
            pass
        return redactor(text)

    def log_as_seen(self, call: Call, text: str) -> str:
        """Return what was logged while a call ran as others may read it.

        Raises:
            StateFailed: as `redacted`.
        """
        return self.hider(call.config_id)(self.redact_for(call, text))

    def refusal(self, call: Call) -> Answer | None:
        """Return the answer to a call of which is known before it runs that it cannot; nothing to any other."""

        def work(response: Response) -> OperatorResponse:
            self._check(call)
            return OperatorResponse(response)

        result, _ = collect(work, lambda error: _describe_bug(call, error))
        return self._answer(call, result) if result.response.errors else None

    def _check(self, call: Call) -> None:
        """Look at the operator or the workflow and at the configuration; the parameters of an operator are known."""
        if call.kind is Kind.OPERATOR:
            catalogue = self._live.now()
            config, operator = catalogue.configuration(call.config_id), catalogue.operator(call.name)
            if not catalogue.has_own_api(operator.registration):  # who has one may call other operators with it
                operator.spec.narrow(config)
        elif call.resumed:
            self._service(call).find_resumed(call.resumed, self._call_of_resume(call), _choice(call))
        else:
            self._service(call).find_workflow(_workflow_call(call))

    def _run(self, call: Call, handover: Handover) -> Answer:
        caller = _caller(call)
        REQUEST.set(RequestInfo(id=call.request_id, caller=caller, redact=lambda text: self.redact_for(call, text)))
        limit_memory(self._limits)
        if caller.token:
            limit_to(caller.token)
        try:
            if handover.is_cancelled:
                return self._stop_handed_over(call, handover)
            if call.kind is Kind.WORKFLOW:
                handover.kind = RUN
                begin_handover(handover)
                return self._run_workflow(call)
            # The job of an operator has the id of its call; those of steps have their own.
            begin_call(call.id, is_repeated=call.repeated)
            catalogue = self._live.latest()  # it was accepted, and is run whatever becomes of the store meanwhile
            operator = self._read_patiently(catalogue.operator(call.name).load)
            with suppress(BadInput, NotFound, InvalidConfiguration):  # whoever uses it says so
                self._read_patiently(lambda: catalogue.configuration(call.config_id))
            own = _own_api(operator)
            if is_one_job(operator) and own is None:  # of any other the job is not the whole
                handover.kind = JOB
                begin_handover(handover)
            if handover.earlier or handover.token:
                self._find_handed_over(catalogue, call, handover)
            return self._run_operator(catalogue, call, own)
        except MasonError as error:
            return document(errors=map(self.hider(call.config_id), error.messages)), error.status
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a bug, here or in an operator: the server lives on)
            LOG.error("%s", traceback.format_exc())
            return self.fail(call, error)

    def _read_patiently(self, read: Callable[[], T]) -> T:
        """Read from the state, and wait for it where it is away.

        Raises:
            StateFailed: it stays away.
        """
        end = time.monotonic() + self._patience
        while True:
            try:
                return read()
            except StateFailed:
                if time.monotonic() >= end:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def fail(self, call: Call, error: BaseException) -> Answer:
        """Return the answer to a call in whose code something went wrong that nobody foresaw."""
        return document(errors=[_describe_bug(call, error)]), MasonError.status

    def _run_operator(self, catalogue: Catalogue, call: Call, own: Callable[..., Any] | None) -> Answer:
        service = self._service(call, catalogue)
        verb = service.plan_operator if call.plan else service.run_operator

        def run(asked: OperatorCall) -> Answer:
            service.caller.require_operator(full_name(asked.namespace, asked.command))  # an `api` ends with a refusal
            chosen = asked if asked.config_id == call.config_id else replace(asked, config_id=call.config_id)

            def work(response: Response) -> OperatorResponse:
                with explain_memory(str(call.name), self._memory):
                    return verb(chosen, response)

            return self._answer(call, collect(work, lambda error: _describe_bug(call, error))[0])

        RUNNER.set(run)
        bodies = [dict(call.body)] if call.body else []
        if own is None:
            return get(call.namespace, call.command, *bodies, **call.parameters)
        with hide_secrets(Redactor(call.secrets(catalogue.secret_words()))):
            return _as_answer(own(*bodies, **call.parameters))

    def _stop_handed_over(self, call: Call, handover: Handover) -> Answer:
        """Ask an engine to stop what an earlier process handed over; what a scheduler runs, it runs to its end."""
        if call.kind is Kind.OPERATOR:
            catalogue = self._live.latest()
            accepted = catalogue.operator(call.name).spec.narrow(catalogue.configuration(call.config_id))
            accepted.execution.client.cancel_job(handover.earlier, response=Response())
        return answer_cancelled("The job was cancelled.")

    def _find_handed_over(self, catalogue: Catalogue, call: Call, handover: Handover) -> None:
        """Ask the engine whether it still knows what an earlier process handed over.

        Raises:
            StateFailed: it does not, or the operator is another one by now: nobody can tell what became of the call.
            ClientFailed: the engine cannot be reached.
        """
        if handover.kind != JOB:
            handover.is_forgotten = True
            raise StateFailed(f"The server that ran the job is gone, and {call.name} was replaced since.")
        if not handover.earlier:  # it is asked again with the token
            return
        accepted = catalogue.operator(call.name).spec.narrow(catalogue.configuration(call.config_id))
        client = accepted.execution.client
        try:
            _patiently(lambda: client.get_job(handover.earlier, response=Response()))
        except NotFound as error:
            handover.is_forgotten = True
            raise StateFailed(
                f"The server that ran the job is gone, and its engine knows no job {handover.earlier} any more."
            ) from error

    def _run_workflow(self, call: Call) -> Answer:
        def work(response: Response) -> OperatorResponse:
            service = self._service(call)
            if call.resumed:
                choice = _choice(call)
                return service.resume_workflow(call.resumed, self._call_of_resume(call), choice, response)
            return service.run_workflow(_workflow_call(call), response, deploy=call.deploy, run=not call.plan)

        return self._answer(call, collect(work, lambda error: _describe_bug(call, error))[0])

    def _call_of_resume(self, call: Call) -> WorkflowCall:
        from mason.workflows.definition.parameter_file import parameters_of_request
        from mason.workflows.runs.recorded_runs import find_run
        from mason.workflows.workflow_calls import WorkflowCall

        if not call.body and find_run(read_state(self._env), call.resumed).document["ParameterFile"]:
            raise BadInput(
                f'The run "{call.resumed}" was started with a file.', hint="Send its parameters as the body."
            )
        return WorkflowCall(
            name="", config_id=call.config_id, given=parameters_of_request(call.body) if call.body else None
        )

    def _service(self, call: Call, catalogue: Catalogue | None = None) -> Service:
        return Service(self._env, _caller(call), catalogue)

    def _answer(self, call: Call, result: OperatorResponse) -> Answer:
        body = result.to_dict()
        check_result(body["Data"])
        if call.kind is Kind.WORKFLOW:
            body["Data"] = [without_places(each) for each in body["Data"]]
        if body["Errors"]:
            body = self.hider(call.config_id).in_errors(body)
        return body, result.response.status


def _sources(catalogue: Catalogue) -> tuple[tuple[str, str], ...]:
    """Return the folders in which authors wrote what is registered, with the names of what they wrote."""
    registered = (*catalogue.operators.values(), *catalogue.workflows)
    return tuple((each.source, str(each.name)) for each in registered)


def _patiently(ask: Callable[[], object]) -> None:
    """Ask an engine until it can be reached, for a while: after a restart the network may come last."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            ask()
            return
        except ClientFailed:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def _workflow_call(call: Call) -> WorkflowCall:
    from mason.workflows.definition.parameter_file import parameters_of_request
    from mason.workflows.workflow_calls import WorkflowCall

    given = parameters_of_request(call.body)
    return WorkflowCall(
        name=str(call.name),
        digest="",
        parameter_file=None,
        config_id=call.config_id,
        schedule_name=call.schedule_name,
        given=given,
        caller=call.caller,
    )


def _choice(call: Call) -> Choice:
    from mason.workflows.runs.resume import Choice

    return Choice(call.first, call.only)


def _own_api(operator: OperatorDefinition) -> Callable[..., Any] | None:
    """Return the function `api` that the author of an operator wrote beside it, if there is one."""
    return getattr(sys.modules.get(type(operator).__module__), OWN_API, None)


def _as_answer(returned: Any) -> Answer:
    """Return what an author's own function gave as data and a status, in the form that every answer has."""
    value, status = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, 200)
    if isinstance(value, dict) and "Errors" in value:
        return value, status
    return document([value]), status


def _caller(call: Call) -> Caller:
    return Caller(Token(call.caller, Scope.RUN, "", operators=call.operators, configurations=call.configurations))


def _describe_bug(call: Call, error: BaseException) -> str:
    place = find_failed_code(error)
    kind = type(error).__name__  # what it says may be of the server's own, and nobody's business
    failed = (
        f"{place.owner} failed in its own code ({place.in_folder}, {kind})."
        if place
        else f"Something went wrong inside of {call.name} ({kind})."
    )
    return f"{failed} The server's log says more, under the request {call.request_id}."


_PARALLEL_READS = 16
_MOST_READS = 256


class Reads:
    """A bounded number of such calls."""

    def __init__(self, run: Callable[[Call], Answer]) -> None:
        self._pool = DaemonPool(run, _PARALLEL_READS, "mason-read")
        self._count = 0
        self._lock = threading.Lock()
        self._waiting: list[tuple[Call, Future[Answer]]] = []

    def submit(self, call: Call) -> Future[Answer]:
        """Run a call.

        Raises:
            TooMany: too many such calls wait already.
        """
        if self._count >= _MOST_READS:
            raise TooMany("Too many requests wait already.", hint="Try again in a moment.")
        self._add(1)
        future: Future[Answer] = Future()
        future.add_done_callback(self._end)
        self._waiting.append((call, future))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._begin)  # when the requests are read that came with this one
        return future

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._pool.submit_all(waiting)

    def _end(self, _: Future[Answer]) -> None:
        self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._count += number


class CallRunner(Protocol):
    """What runs the calls of a queue, in whichever thread asks for it. Nothing is raised."""

    def start(self) -> None:
        """Get ready for the first call."""

    def run(self, call: Call, handover: Handover) -> Outcome:
        """Run a call and return what came of it."""

    def cancel(self, must_end: Callable[[str, str], bool]) -> None:
        """End the calls that are to end. `must_end` is told the id of a call and who began it."""

    def close(self) -> None:
        """End whatever still runs."""
