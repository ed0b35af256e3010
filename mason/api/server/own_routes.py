"""The paths that are there whatever is registered: configurations, workflows, runs, and what jobs are doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response as HttpResponse
from starlette.responses import StreamingResponse

from mason.api.server.calls.call_queue import CallQueue
from mason.api.server.calls.daemon_pool import DaemonPool
from mason.api.server.given import read_query, refuse_rest, single_values, take_count
from mason.api.server.handlers import CallHandlers
from mason.api.server.replies import PathHider, document, json_reply, without_places
from mason.api.server.requests import current_request
from mason.api.server.routes import Handler, Route
from mason.api.server.specification.document import WORKFLOW_PATH
from mason.api.server.specification.operations import describe_resume, replies
from mason.clients.response import Response
from mason.engines.execution.models.job import JobRecord
from mason.errors import InvalidParameters
from mason.operators.registration.catalogue import LiveCatalogue
from mason.service.caller import Caller
from mason.service.service import Service
from mason.state.tokens import Scope
from mason.util.environment import MasonEnvironment
from mason.util.json_text import compact_json

JobVerb = Callable[[Service, str, str, Response], JobRecord]
JOB_PATH = "/job/{job_id}"
CANCEL_PATH = f"{JOB_PATH}/cancel"
LOOK_SECONDS = 0.5
QUIET_SECONDS = 15.0
_PARALLEL_QUESTIONS = 16
_TEXT = {"type": "string"}
_NAME_TEXT = {"type": "string", "minLength": 1}
_JOB_ID = {"name": "job_id", "in": "path", "required": True, "description": "The id of a job.", "schema": _NAME_TEXT}
_RUN_ID = {"name": "run_id", "in": "path", "required": True, "description": "The id of a run.", "schema": _NAME_TEXT}
_SET_CURRENT = {"name": "set_current", "in": "query", "required": True, "schema": _NAME_TEXT}
_NAME = {"name": "name", "in": "query", "schema": _TEXT}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}}


class OwnRoutes:
    """Makes Mason's own routes."""

    def __init__(
        self,
        env: MasonEnvironment,
        live: LiveCatalogue,
        queue: CallQueue,
        calls: CallHandlers,
        hider: Callable[[str], PathHider],
    ) -> None:
        self._env = env
        self._live = live
        self._queue = queue
        self._calls = calls
        self._hider = hider
        self._asking = DaemonPool[Callable[[], JobRecord], JobRecord](_call, _PARALLEL_QUESTIONS, "mason-ask")

    def all(self) -> list[Route]:
        set_current = {**_SET_CURRENT, "description": "The id of a configuration."}
        name = {**_NAME, "description": "Only runs of this workflow, such as `table:infer`."}
        limit = {**_LIMIT, "description": "So many at most."}
        workflow = Route(method="post", path=WORKFLOW_PATH, scope=Scope.RUN, handle=self._calls.workflow, shown={})
        return [
            Route(
                method="get",
                path="/configs",
                scope=Scope.READ,
                handle=self._list_configs,
                shown=_describe_operation("config", "The saved configurations."),
            ),
            Route(
                method="post",
                path="/config",
                scope=Scope.ADMIN,
                handle=self._choose_config,
                shown=_describe_operation("config", "Makes a configuration the current one.", set_current),
            ),
            workflow,
            Route(
                method="get",
                path="/runs",
                scope=Scope.READ,
                handle=self._list_runs,
                shown=_describe_operation("run", "The newest runs.", name, limit),
            ),
            Route(
                method="get",
                path="/run/{run_id}",
                scope=Scope.READ,
                handle=self._show_run,
                shown=_describe_operation("run", "A run with its steps.", _RUN_ID),
            ),
            Route(
                method="post",
                path="/run/{run_id}/resume",
                scope=Scope.RUN,
                handle=self._calls.resume,
                shown=describe_resume(_RUN_ID),
            ),
            *self._job_routes(),
        ]

    def _job_routes(self) -> list[Route]:
        get, cancel = self._about_job(Service.get_job), self._about_job(Service.cancel_job)
        return [
            Route(
                method="get",
                path="/job/{job_id}/log",
                scope=Scope.READ,
                handle=self._log,
                shown=_describe_operation("job", "What a job logged.", _JOB_ID),
            ),
            Route(
                method="get",
                path="/job/{job_id}/events",
                scope=Scope.READ,
                handle=self._events,
                shown=_describe_operation(
                    "job", "How far a job is, as server-sent events until it is over.", _JOB_ID, events=True
                ),
            ),
            # Where a 202 points to is there also when the operators for jobs are not registered.
            Route(
                method="get",
                path=JOB_PATH,
                scope=Scope.READ,
                handle=get,
                shown=_describe_operation("job", "A job.", _JOB_ID),
                is_fallback=True,
            ),
            Route(
                method="post",
                path=CANCEL_PATH,
                scope=Scope.RUN,
                handle=cancel,
                shown=_describe_operation("job", "Ends a job.", _JOB_ID),
                is_fallback=True,
            ),
        ]

    async def _list_configs(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        refuse_rest(_without_level(request), [])
        return json_reply(document(await asyncio.to_thread(self._service().list_configurations)))

    async def _choose_config(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        given = _without_level(request)
        config_id = given.pop("set_current", "")
        refuse_rest(given, ["set_current"])
        if not config_id:
            raise InvalidParameters(['The parameter "set_current" (the id of a configuration) is missing.'])
        return json_reply(document(info=[await asyncio.to_thread(self._service().choose_configuration, config_id)]))

    async def _list_runs(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        given = _without_level(request)
        name, limit = given.pop("name", ""), take_count(given, "limit", 100, 1000)
        refuse_rest(given, ["name", "limit"])
        found = await asyncio.to_thread(self._service().list_runs, name, limit)
        return json_reply(document([without_places(each) for each in found]))

    async def _show_run(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        refuse_rest(_without_level(request), [])
        run = await asyncio.to_thread(self._service().get_run, in_path["run_id"])
        return json_reply(document([self._hider(run["Configuration"]).in_errors(without_places(run))]))

    async def _log(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        refuse_rest(_without_level(request), [])
        job = await self._find(in_path["job_id"], current_request().caller)
        return json_reply(document([{"JobID": job.id, "Status": job.status, "Log": job.details.get("Log", [])}]))

    async def _events(self, request: Request, in_path: Mapping[str, str]) -> HttpResponse:
        refuse_rest(_without_level(request), [])
        first = await self._find(in_path["job_id"], current_request().caller)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._stream(first, current_request().caller)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _stream(self, job: JobRecord, caller: Caller) -> AsyncIterator[bytes]:
        sent, quiet = b"", 0.0
        while True:
            news = compact_json(_in_short(job))
            if job.status.is_final:
                yield b"event: end\ndata: " + news + b"\n\n"
                return
            if news != sent:
                yield b"event: progress\ndata: " + news + b"\n\n"
                sent, quiet = news, 0.0
            elif quiet >= QUIET_SECONDS:
                yield b": nothing new\n\n"  # whoever stands between does not take the connection for dead
                quiet = 0.0
            if self._queue.is_stopping:
                return
            await asyncio.sleep(LOOK_SECONDS)
            quiet += LOOK_SECONDS
            # In a thread: who answers requests is not to wait for a store on another machine.
            refusal = caller.refusal((await asyncio.to_thread(self._live.latest)).tokens)
            if refusal:
                yield b"event: refused\ndata: " + compact_json({"Errors": [refusal]}) + b"\n\n"
                return
            job = await self._find(job.id, caller)

    def _about_job(self, verb: JobVerb) -> Handler:
        async def handle(request: Request, in_path: Mapping[str, str]) -> HttpResponse:
            refuse_rest(_without_level(request), [])
            response = Response()
            job = await self._ask(verb, in_path["job_id"], current_request().caller, response)
            return json_reply(document([job.to_dict()], info=response.info))

        return handle

    async def _find(self, job_id: str, caller: Caller) -> JobRecord:
        return await self._ask(Service.get_job, job_id, caller, Response())

    async def _ask(self, verb: JobVerb, job_id: str, caller: Caller, response: Response) -> JobRecord:
        """Ask what an engine may have to answer, in threads of its own: one that hangs keeps nobody else waiting."""

        def question() -> JobRecord:
            return verb(Service(self._env, caller, self._live.now()), job_id, "", response)

        return await asyncio.wrap_future(self._asking.submit(question))

    def _service(self) -> Service:
        return Service(self._env, current_request().caller)


def _call(question: Callable[[], JobRecord]) -> JobRecord:
    return question()


def _without_level(request: Request) -> dict[str, Any]:
    given = single_values(read_query(request), {})
    given.pop("log_level", None)
    return given


def _in_short(job: JobRecord) -> dict[str, Any]:
    return {key: value for key, value in job.to_dict().items() if not isinstance(value, list | dict)}


def _describe_operation(tag: str, summary: str, *parameters: Mapping[str, Any], events: bool = False) -> dict[str, Any]:
    responses = replies(None, "What was asked for.")
    responses.pop("202")
    if events:
        responses["200"] = {"description": "Events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    return {"summary": summary, "tags": [tag], "parameters": list(parameters), "responses": responses}
