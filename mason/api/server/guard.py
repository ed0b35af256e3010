"""What every request passes before and after its handler: ids, limits, who may call, the log, the counters."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import RedirectResponse
from starlette.responses import Response as HttpResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mason.api.server.access import Access
from mason.api.server.metrics import Metrics
from mason.api.server.replies import PathHider, document, error_reply, json_reply
from mason.api.server.requests import REQUEST, RequestInfo, request_id
from mason.api.server.settings import ServerSettings
from mason.api.server.specification.fragments import BASE_PATH
from mason.api.server.specification.swagger_ui import UI
from mason.errors import BadInput, MasonError, StateFailed, TooLarge, WrongMediaType
from mason.operators.registration.catalogue import Catalogue
from mason.state.tokens import Scope as TokenScope

LOG = logging.getLogger("mason.api")
SPECIFICATION = f"{BASE_PATH}/openapi.json"
_PROBES = ("/healthz", "/readyz")
"""Who asks for these, to see whether the server lives, often calls it by its number."""

_OPEN = ("/", *_PROBES, SPECIFICATION)
_READING = ("GET", "HEAD")
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data:; frame-ancestors 'none'",
    ),
]

Answering = Callable[[Catalogue], Awaitable[ASGIApp]]


class Guard:
    """The outermost application: it lets through what may pass, and answers for itself what needs no operator."""

    def __init__(
        self,
        settings: ServerSettings,
        access: Access,
        metrics: Metrics,
        find_catalogue: Callable[[], Awaitable[Catalogue]],
        own_answers: Mapping[str, Callable[[], Awaitable[HttpResponse]]],
        app_for: Answering,
        hide: PathHider,
    ) -> None:
        self._settings = settings
        self._access = access
        self._metrics = metrics
        self._catalogue_now = find_catalogue
        self._own_answers = own_answers
        self._app_for = app_for
        self._hide = hide

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        asked = RequestInfo(id=request_id(headers.get("x-request-id", "")))
        REQUEST.set(asked)
        began = time.perf_counter()
        reply = _Reply(send, asked.id)
        try:
            await self._answer(scope, _LimitedBody(receive, self._settings), reply, headers, asked)
        except MasonError as error:
            await self._refuse(error_reply(error, self._hide), scope, receive, reply)
        except Exception:  # a bug: the client learns where to look it up
            LOG.exception("A request failed.")
            message = f"Something went wrong. The server's log says more, under the request {asked.id}."
            await self._refuse(json_reply(document(errors=[message]), 500), scope, receive, reply)
        finally:
            self._note(scope, asked, reply.status, time.perf_counter() - began)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str], asked: RequestInfo
    ) -> None:
        path = scope["path"]
        if (path in _OPEN or path in self._own_answers) and scope["method"] not in _READING:
            body = document(errors=["This path does not take this method."])
            await json_reply(body, 405, {"Allow": ", ".join(_READING)})(scope, receive, send)
            return
        asked.is_open = path in _OPEN or path == UI or path.startswith(f"{UI}/")
        self._check_size(scope, headers)
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:  # whoever stands between may go by the other one
            raise BadInput("There is more than one header Host.")
        if self._settings.is_loopback or path not in _PROBES:
            self._access.check_source(headers, is_open=asked.is_open)
        if path == "/":
            await RedirectResponse(f"{UI}/")(scope, receive, send)
            return
        if path == "/healthz":  # before the state is looked at: it says that the process lives, and no more
            await json_reply({"status": "ok"})(scope, receive, send)
            return
        catalogue = await self._find_catalogue(asked)
        if not asked.is_open:
            asked.caller = self._access.find_caller(headers, catalogue.tokens)
        if path in self._own_answers:
            asked.route = f"get {path}"
            if path == "/metrics":
                asked.caller.require(TokenScope.READ)
            await (await self._own_answers[path]())(scope, receive, send)
            return
        app = await self._app_for(catalogue)
        await app(scope, receive, send)

    async def _find_catalogue(self, asked: RequestInfo) -> Catalogue:
        """Return what is registered now, and the tokens with it.

        Raises:
            StateFailed: they cannot be read. Nobody knows who asks then, so that only the log has where the state is.
        """
        try:
            return await self._catalogue_now()
        except StateFailed as error:
            LOG.error("%s", error)
            message = f"The state cannot be used. The server's log says more, under the request {asked.id}."
            raise StateFailed(message, hint="Try again later.") from error

    def _check_size(self, scope: Scope, headers: Mapping[str, str]) -> None:
        length = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        if length > self._settings.url_bytes:
            raise TooLarge(f"The path and the query have more than {self._settings.url_bytes:,} bytes.")
        announced = headers.get("content-length", "0")
        if not announced.isdecimal():
            raise BadInput("Content-Length is not a number.")
        if int(announced) > self._settings.body_bytes:
            raise _too_large(self._settings)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind.startswith("multipart/") or kind == "application/x-www-form-urlencoded":
            raise WrongMediaType(f'The body is "{kind}".', hint="Send JSON, with Content-Type: application/json.")

    async def _refuse(self, answer: HttpResponse, scope: Scope, receive: Receive, reply: _Reply) -> None:
        if not reply.status:
            await answer(scope, receive, reply)

    def _note(self, scope: Scope, asked: RequestInfo, status: int, seconds: float) -> None:
        self._metrics.note(scope["method"], asked.route or "other", status, seconds)
        fields: dict[str, Any] = {
            "request": asked.id,
            "method": scope["method"],
            "path": scope["path"],  # without its query, which may hold what is nobody's business
            "status": status,
            "ms": round(1000 * seconds, 1),
        }
        if asked.caller.name:
            fields["token"] = asked.caller.name
        LOG.info("request", extra={"event": "request", "fields": fields})


class _Reply:
    """Adds to a reply what every one has, and knows its status."""

    def __init__(self, send: Send, asked_id: str) -> None:
        self._send = send
        self._asked_id = asked_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-request-id", self._asked_id.encode()), *_SECURITY]
            if not any(name == b"cache-control" for name, _ in message["headers"]):
                own.append((b"cache-control", b"no-store"))
            message["headers"] = [*message["headers"], *own]
        await self._send(message)


class _LimitedBody:
    """Hands on a body that is not too large and does not take too long."""

    def __init__(self, receive: Receive, settings: ServerSettings) -> None:
        self._receive = receive
        self._settings = settings
        self._size = 0
        self._end = 0.0
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._end = self._end or loop.time() + self._settings.body_seconds
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._end - loop.time()))
        except TimeoutError:
            raise BadInput(f"The body did not arrive within {self._settings.body_seconds:g} seconds.") from None
        if message["type"] == "http.disconnect":  # nobody reads the reply; the log has it, as one of a client's faults
            raise BadInput("The connection was closed before the body had arrived.")
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._size > self._settings.body_bytes:
            raise _too_large(self._settings)
        return message


def _too_large(settings: ServerSettings) -> TooLarge:
    return TooLarge(f"The body has more than {settings.body_bytes:,} bytes, which is the most that is taken.")
