"""What answers a request for an operator or a workflow: at once, or as a job when that takes longer than is waited."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response as HttpResponse

from mason.api.operator_api import Answer
from mason.api.server.calls.call import Call, answer_of
from mason.api.server.calls.call_queue import CallQueue
from mason.api.server.calls.daemon_pool import Alarm
from mason.api.server.declared_checks import DeclaredChecks, GivenValues
from mason.api.server.given import (
    check_given,
    read_body,
    read_query,
    refuse_rest,
    single_values,
    take_flag,
    take_number,
)
from mason.api.server.replies import document, json_reply
from mason.api.server.requests import current_request
from mason.api.server.routes import Handler
from mason.api.server.settings import ServerSettings
from mason.api.server.specification.fragments import BASE_PATH, Declared
from mason.api.server.specification.operations import DEFAULT_WAIT, WITH_BODY, workflow_options
from mason.engines.execution.models.job import JobStatus
from mason.errors import AlreadyExists, BadInput, Conflict, InvalidParameters
from mason.operators.calls.records import call_status
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.catalogue import LiveCatalogue
from mason.service.caller import Caller
from mason.service.service import Service
from mason.state.models import Kind, Record, RecordKind, Registration
from mason.state.store import StateStore
from mason.workflows.runs.recorded_runs import find_run

_KEY = "idempotency-key"
_LONGEST_KEY = 200
_JOB_PATHS = ("/job/{job_id}", "/job/{job_id}/cancel", "/job/", "/job/cancel")
_POLL_SECONDS = 0.5
_LOOK_SECONDS = 1.0
"""A caller that waits so long for a call that needs no turn is told what is wrong by the call itself."""


class CallHandlers:
    """Makes calls out of requests, and replies out of answers."""

    def __init__(
        self,
        settings: ServerSettings,
        live: LiveCatalogue,
        queue: CallQueue,
        store: StateStore,
        refusal: Callable[[Call], Answer | None],
    ) -> None:
        self._settings = settings
        self._live = live
        self._queue = queue
        self._store = store
        self._refusal = refusal

    def operator(self, registration: Registration, spec: OperatorSpec, declared: Declared) -> Handler:
        """Return what answers for an operator at a path."""
        name = registration.name
        types = {word: each.type for each in spec.parameters.all for word in (each.name, *each.aliases)}
        secrets = {word for word, kind in types.items() if kind == "secret"}
        at_once = declared.method == "get" or declared.at_once
        checks = DeclaredChecks(declared)

        async def handle(request: Request, in_path: Mapping[str, str]) -> HttpResponse:
            caller = current_request().caller
            _check_key(request)
            given = single_values(read_query(request), types)
            body = await read_body(request) if declared.method in WITH_BODY else {}
            own_job = await self._find_own_job(caller, declared.path, {**body, **given, **in_path})
            if own_job is None:
                caller.require_operator(str(name))
            checks.check(GivenValues(given, in_path, request.headers, body))
            wait = self._wait(given, types)
            plan = "plan" not in types and take_flag(given, "plan")
            config_id = self._config_id(caller, given, types, own_job)
            if "log_level" not in types:
                given.pop("log_level", None)
            _refuse_secrets(given, secrets)
            if not declared.has_own_api and not (at_once and wait >= _LOOK_SECONDS):  # it is told so soon enough
                check_given(spec.parameters, body, {**given, **in_path})
            parameters = {**given, **in_path}
            asked_by = _describe_caller(caller, str(name) if own_job else "")
            call = Call(
                kind=Kind.OPERATOR,
                namespace=name.namespace,
                command=name.command,
                parameters=parameters,
                body=body,
                config_id=config_id,
                plan=plan,
                **asked_by,
            )
            if at_once:
                return await self._read(call, wait)
            return await self._accept(request, call, wait, keep=not secrets & set(body))

        return handle

    async def workflow(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        """Answer for a workflow: its plan, or with `run_now` what became of it."""
        caller = current_request().caller
        _check_key(request)
        given = single_values(read_query(request), {})
        wait = self._wait(given, {})
        run_now, deploy = take_flag(given, "run_now"), take_flag(given, "deploy")
        schedule_name = given.pop("schedule_name", "")
        config_id = self._config_id(caller, given, {})
        given.pop("log_level", None)
        refuse_rest(given, [*(each["name"] for each in workflow_options()), "config_id", "wait"])
        call = Call(
            kind=Kind.WORKFLOW,
            namespace=in_path["namespace"],
            command=in_path["command"],
            body=await read_body(request),
            config_id=config_id,
            plan=not run_now,
            schedule_name=schedule_name,
            deploy=deploy,
            **_describe_caller(caller),
        )
        if not run_now and not deploy:
            return await self._read(call, wait)
        return await self._accept(request, call, wait, keep=not call.secrets(self._live.now().secret_words()))

    async def resume(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        """Answer for a run that is to be resumed; what the body does not say is as it was then."""
        caller = current_request().caller
        _check_key(request)
        given = single_values(read_query(request), {})
        wait = self._wait(given, {})
        first, only = given.pop("from", ""), given.pop("only", "")
        given.pop("log_level", None)
        refuse_rest(given, ["from", "only", "wait"])
        body = await read_body(request)
        run = await asyncio.to_thread(find_run, self._store, in_path["run_id"])
        config_id = run.document["Configuration"]
        caller.require_configuration(config_id)
        resumed = {"resumed": in_path["run_id"], "first": first, "only": only}
        call = Call(
            kind=Kind.WORKFLOW,
            namespace="run",
            command="resume",
            body=body,
            config_id=config_id,
            **resumed,
            **_describe_caller(caller),
        )
        return await self._accept(request, call, wait, keep=not call.secrets(self._live.now().secret_words()))

    async def _find_own_job(self, caller: Caller, path: str, given: Mapping[str, Any]) -> Record | None:
        """Return the caller's own job that an operator is asked for: where a 202 points to, its caller may go.

        Raises:
            Forbidden: it is a job of others with a configuration that the token is not for.
        """
        if path not in _JOB_PATHS or "job_id" not in given or not caller.is_limited:
            return None
        service = Service(self._live.now().env, caller, self._live.now())
        return await asyncio.to_thread(service.find_own_job, str(given["job_id"]))

    def _wait(self, given: dict[str, Any], types: Mapping[str, str]) -> float:
        if "wait" in types:  # a parameter of the operator's own
            return DEFAULT_WAIT
        return take_number(given, "wait", DEFAULT_WAIT, self._settings.most_wait)

    def _config_id(
        self, caller: Caller, given: dict[str, Any], types: Mapping[str, str], own_job: Record | None = None
    ) -> str:
        chosen = "" if "config_id" in types else str(given.pop("config_id", ""))
        by_default = own_job.document["Configuration"] if own_job else self._live.now().current_config_id
        config_id = chosen or by_default
        caller.require_configuration(config_id)
        return config_id

    async def _read(self, call: Call, wait: float) -> HttpResponse:
        if wait < _LOOK_SECONDS and (refused := await asyncio.to_thread(self._refusal, call)):
            return json_reply(*refused)
        future = self._queue.read(call)
        answer = await self._within(future, wait)
        if answer is not None:
            return json_reply(*answer)
        await asyncio.to_thread(self._queue.keep_reading, call, future)
        return _goes_on(call.id, JobStatus.RUNNING)

    async def _accept(self, request: Request, call: Call, wait: float, *, keep: bool) -> HttpResponse:
        key = request.headers.get(_KEY)
        call = call if key is None else replace(call, id=_id_of_key(call, key))
        add = self._add if key is None else partial(self._add_once, fingerprint=_fingerprint(call, key))
        answer_or_future = await asyncio.to_thread(add, call, keep)
        if isinstance(answer_or_future, tuple):
            return json_reply(*answer_or_future)
        answer = await self._within(answer_or_future, wait)
        return json_reply(*answer) if answer is not None else _goes_on(call.id, self._queue.status(call.id))

    def _add(self, call: Call, keep: bool, fingerprint: str = "") -> Future[Answer] | Answer:
        """Accept a call, unless it is known before it runs that it cannot."""
        return self._refusal(call) or self._queue.add(call, keep=keep, fingerprint=fingerprint)

    def _add_once(self, call: Call, keep: bool, fingerprint: str) -> Future[Answer] | Answer:
        """Accept a call unless its key was used before: then the answer is what that call's was, or will be.

        Raises:
            Conflict: the key was used for something else, or its call was lost. To send it again would not help, and to
                run it again might do twice what it had done.
        """
        record = self._store.get_record(RecordKind.CALL, call.id)
        if record is None:
            try:
                return self._add(call, keep, fingerprint)
            except AlreadyExists:  # somebody else used the key just now
                record = self._store.get_record(RecordKind.CALL, call.id)
        if record and record.document.get("Fingerprint") != fingerprint:
            raise Conflict(
                "This Idempotency-Key was used for another request.", hint="Use a new key for a new request."
            )
        status = call_status(self._store, record) if record else JobStatus.QUEUED
        if status is JobStatus.LOST:
            raise Conflict(
                f"The job {call.id} of this Idempotency-Key was lost with its server: how far it came is not known.",
                hint="See what it has done; to run it again, use a new key.",
            )
        if status.is_final:
            return answer_of(record)
        return self._queue.attach(call.id)

    async def _within(self, future: Future[Answer], seconds: float) -> Answer | None:
        """Wait for an answer, but not when the server is about to stop; who does not wait at all gets none."""
        if seconds <= 0:
            return None
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        alarm = Alarm(loop)
        future.add_done_callback(alarm.ring_from_elsewhere)
        while not future.done() and not self._queue.is_stopping:
            left = end - loop.time()
            if left <= 0:
                break
            await alarm.within(min(left, _POLL_SECONDS))
        return future.result() if future.done() else None


def _describe_caller(caller: Caller, besides: str = "") -> dict[str, Any]:
    """Return what a call says of who asks for it, and of what that caller may use; `besides` is one more operator."""
    token = caller.token
    operators, configurations = (token.operators, token.configurations) if token else ((), ())
    if besides and operators:
        operators = (*operators, besides)
    about = {"request_id": current_request().id, "caller": caller.name}
    return {**about, "operators": operators, "configurations": configurations}


def _goes_on(call_id: str, status: JobStatus) -> HttpResponse:
    place = f"{BASE_PATH}/job/{call_id}"
    body = document([{"JobID": call_id, "Status": status}], info=[f"It goes on as a job: GET {place} says how it is."])
    return json_reply(body, 202, {"Location": place, "Retry-After": "1"})


def _refuse_secrets(given: Mapping[str, Any], secrets: set[str]) -> None:
    """Refuse secrets in the query, which stands in logs of proxies and in the histories of browsers."""
    found = sorted(secrets & set(given))
    if found:
        raise InvalidParameters([f'The parameter "{name}" is a secret: give it in the body.' for name in found])


def _check_key(request: Request) -> None:
    key = request.headers.get(_KEY)
    if key is not None and not 1 <= len(key) <= _LONGEST_KEY:
        raise BadInput(f"An Idempotency-Key has 1 to {_LONGEST_KEY} characters.")


def _id_of_key(call: Call, key: str) -> str:
    """Return the id of the call that a key stands for: keys of two callers, or for two operators, are two keys."""
    return hashlib.sha256(json.dumps([call.caller, str(call.name), key]).encode()).hexdigest()[:16]


def _fingerprint(call: Call, key: str) -> str:
    """Return what tells a request from others with its key, which is kept nowhere: no secret can be guessed from it."""
    asked = [key, call.parameters, call.body, call.config_id, call.plan, call.deploy, call.schedule_name]
    asked += [call.resumed, call.first, call.only]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
