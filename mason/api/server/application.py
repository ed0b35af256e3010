"""The server as one ASGI application: it begins with the process and ends with it, whatever is registered meanwhile."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType

from starlette.responses import Response as HttpResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mason.api.processes.limits import call_limits
from mason.api.processes.pool import CallProcesses
from mason.api.processes.server_calls import ServerCalls
from mason.api.server.access import Access, token_of_environment
from mason.api.server.calls.call import Call
from mason.api.server.calls.call_queue import CallQueue
from mason.api.server.calls.execution import Execution
from mason.api.server.guard import SPECIFICATION, Guard
from mason.api.server.handlers import CallHandlers
from mason.api.server.json_log import start_logging
from mason.api.server.metrics import Metrics
from mason.api.server.own_routes import OwnRoutes
from mason.api.server.replies import JSON, PathHider, document, json_reply
from mason.api.server.router import RoutedApp, build_routed_app
from mason.api.server.routes import operator_routes, without_clashes
from mason.api.server.settings import ServerSettings
from mason.api.server.upkeep import Retention, Schedules
from mason.errors import StateFailed
from mason.operators.registration.catalogue import Catalogue, LiveCatalogue
from mason.pipeline.driving.job_progress import TOTALS
from mason.state.address import state_address
from mason.state.home import check_state, open_run_state, open_state
from mason.state.models import Kind, Name, RecordKind, Registration
from mason.util.disk_room import LEAST_ROOM, DiskRoom
from mason.util.environment import MasonEnvironment

LOG = logging.getLogger("mason.api")
SETTINGS_VARIABLE = "MASON_SERVER_SETTINGS"
SWITCH_SECONDS = 0.001
"""How long a thread may keep the others waiting: the one that answers must not wait for each of those that work."""


CHECK_SECONDS = 1.0
"""So often a server looks whether its state is still the one that it opened."""


class Application:
    """Routes requests by what is registered now. Requests that began before a change end with what there was then."""

    def __init__(self, settings: ServerSettings, env: MasonEnvironment) -> None:
        self._settings = settings
        self._env = env
        self._checked_at = float("-inf")
        self._store = open_run_state(env)
        self._live = LiveCatalogue(env, open_state(env))
        execution = Execution(env, self._live)
        self.queue = CallQueue(
            self._store,
            ServerCalls(execution, self._live, CallProcesses(settings, call_limits(env), execution.redact_for)),
            parallel=settings.parallel_jobs,
            most_queued=settings.queued_jobs,
            is_repeatable=self._is_repeatable,
        )
        calls = CallHandlers(settings, self._live, self.queue, self._store, execution.refusal)
        self._schedules = Schedules(env, settings.log_level)
        self._retention = Retention(env)
        self._own_routes = OwnRoutes(env, self._live, self.queue, calls, execution.hider)
        self._calls = calls
        self._metrics = Metrics()
        self._hide = PathHider(env)
        self._building = asyncio.Lock()
        self._registered: tuple[Mapping[Name, Registration], Sequence[Registration]] | None = None
        self._routed: RoutedApp | None = None
        own_answers = {SPECIFICATION: self._specification, "/readyz": self._readiness, "/metrics": self._metrics_page}
        self._guard = Guard(
            settings=settings,
            access=Access(settings, token_of_environment()),
            metrics=self._metrics,
            find_catalogue=self._find_catalogue,
            own_answers=own_answers,
            app_for=self._app_for,
            hide=self._hide,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live_on(receive, send)
        elif scope["type"] == "http":
            await self._guard(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    def _is_repeatable(self, call: Call) -> bool:
        found = self._live.now()
        return call.kind is Kind.OPERATOR and found.operator(call.name).spec.is_repeatable

    async def _live_on(self, receive: Receive, send: Send) -> None:
        """Begin and end with the server."""
        await receive()
        _call_on_signals(self.queue.announce_stop)
        await self._app_for(self._live.now())
        await asyncio.to_thread(self.queue.start)
        self._schedules.start()
        self._retention.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._retention.stop()
        await asyncio.to_thread(self._schedules.stop)
        await asyncio.to_thread(self.queue.stop, self._settings.stop_seconds)
        await send({"type": "lifespan.shutdown.complete"})

    async def _find_catalogue(self) -> Catalogue:
        if self._store.is_far:  # nobody else is to wait for its answer
            return await asyncio.to_thread(self._look_now)
        return self._look_now()

    def _look_now(self) -> Catalogue:
        """Return what is registered now.

        Raises:
            StateFailed: nobody can tell, or the state is not the one any more that this server began with.
        """
        moment = time.monotonic()
        if moment - self._checked_at > CHECK_SECONDS:
            check_state(self._env)
            self._checked_at = moment
        return self._live.now()

    async def _app_for(self, catalogue: Catalogue) -> ASGIApp:
        return (await self._route_for(catalogue)).app

    async def _route_for(self, catalogue: Catalogue) -> RoutedApp:
        wanted = (catalogue.operators, catalogue.workflows)
        if self._routed is None or self._registered != wanted:
            async with self._building:  # who comes meanwhile waits for the same one
                if self._routed is None or self._registered != wanted:
                    self._routed = await asyncio.to_thread(self._build, catalogue)
                    self._registered = wanted
        return self._routed

    def _build(self, catalogue: Catalogue) -> RoutedApp:
        of_operators, wrong = operator_routes(catalogue, self._calls.operator)
        routes, clashes = without_clashes(self._own_routes.all(), of_operators)
        for problem in (*wrong, *clashes):
            LOG.warning("%s", problem)
        operators = {str(name): catalogue.spec(each) for name, each in catalogue.operators.items()}
        return build_routed_app(routes, catalogue.workflows, operators)

    async def _specification(self) -> HttpResponse:
        routed = await self._route_for(self._live.now())
        return HttpResponse(routed.specification, media_type=JSON)

    async def _readiness(self) -> HttpResponse:
        try:
            counts = await asyncio.to_thread(self._store.count_records, RecordKind.CALL)
        except StateFailed as error:
            LOG.error("%s", error)
            return json_reply({"status": "the state store cannot be read"}, 503)
        if self.queue.is_stopping:
            return json_reply({"status": "stopping"}, 503)
        if full := await asyncio.to_thread(self._full_disk):
            return json_reply({"status": full}, 503)
        return json_reply({"status": "ok", "queued": counts.get("queued", 0), "running": counts.get("running", 0)})

    def _full_disk(self) -> str:
        """What is to be said of the disk of the state, if nothing more can be written there.

        Everybody may ask: where it is stands in the log.
        """
        if state_address(self._env):
            return ""  # it is on a server of its own
        room = DiskRoom.of(self._env.home)
        if room.free >= LEAST_ROOM and room.has_names:
            return ""
        LOG.error("%s", room.describe(needed=LEAST_ROOM))
        return room.describe("the file system of MASON_HOME", needed=LEAST_ROOM).rstrip(".")

    async def _metrics_page(self) -> HttpResponse:
        counts = await asyncio.to_thread(self._store.count_records, RecordKind.CALL)
        return HttpResponse(self._metrics.text(counts, TOTALS.to_dict()), media_type="text/plain; version=0.0.4")


def _call_on_signals(announce: Callable[[], None]) -> None:
    """Let whoever waits know at once that the server is asked to stop: its end comes after that of its requests."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def handle(
            sig: int, frame: FrameType | None, before: Callable[[int, FrameType | None], object] | int | None = before
        ) -> None:
            announce()
            if callable(before):
                before(sig, frame)

        signal.signal(number, handle)


class WithoutState:
    """Stands in for the application of a worker that is started while the state is gone.

    It answers, so that nobody waits for it, and ends when the state is back: its place is taken by another worker then.
    """

    def __init__(self, env: MasonEnvironment) -> None:
        self._env = env

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
        elif scope["type"] == "http" and scope["path"] == "/healthz":
            await json_reply({"status": "ok"})(scope, receive, send)
        elif scope["type"] == "http":
            await asyncio.to_thread(self._end_if_back)
            body = document(errors=["The state cannot be used. Try again later."])
            await json_reply(body, StateFailed.status)(scope, receive, send)

    def _end_if_back(self) -> None:
        with suppress(StateFailed):
            check_state(self._env)
            os.kill(os.getpid(), signal.SIGTERM)


def create_application() -> ASGIApp:
    """Return the application for a worker process, which is told what it should be in its environment."""
    settings = ServerSettings.of_json(os.environ[SETTINGS_VARIABLE])
    sys.setswitchinterval(SWITCH_SECONDS)
    start_logging(settings.log_level)
    threading.Thread(target=_end_with_parent, name="mason-parent", daemon=True).start()
    try:
        return make_application(settings)
    except StateFailed as error:
        LOG.error("%s", error)
        return WithoutState(MasonEnvironment.of())


def _end_with_parent() -> None:
    """Stop this worker when the process is gone that started it: nobody else would, and the port would stay taken."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def make_application(settings: ServerSettings) -> Application:
    """Return the application for MASON_HOME; what it reads and writes on this machine is confined."""
    return Application(settings, settings.environment())
