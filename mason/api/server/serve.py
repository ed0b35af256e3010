"""Starts the server, and stops it in good order."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.supervisors import Multiprocess

from mason.api.server.access import TOKEN_VARIABLE, given_token
from mason.api.server.application import SETTINGS_VARIABLE, Application, make_application
from mason.api.server.json_log import start_logging
from mason.api.server.patience import PatientProtocol
from mason.api.server.settings import ServerSettings
from mason.errors import BadInput, ClientFailed, PathNotFound
from mason.state.home import open_state
from mason.state.tokens import Scope, create_token, list_tokens
from mason.util.environment import MasonEnvironment

FACTORY = "mason.api.server.application:create_application"
FIRST_TOKEN = "first"


def serve(settings: ServerSettings, tell: Callable[[ServerSettings], None]) -> None:
    """Serve until somebody asks for the end (SIGINT, SIGTERM). `tell` is called when the port is known.

    Raises:
        BadInput: the host may not be listened on without a token.
        ClientFailed: the port is taken.
    """
    require_token(settings, MasonEnvironment.of())
    listener = listen(settings)
    settings = _with_port(settings, listener)
    tell(settings)
    start_logging(settings.log_level)
    if settings.workers > 1:
        os.environ[SETTINGS_VARIABLE] = settings.to_json()
        config = _config(FACTORY, settings, factory=True)
        Multiprocess(config, sockets=[listener]).run()
        return
    CalmServer(_config(make_application(settings), settings)).run(sockets=[listener])


def require_token(settings: ServerSettings, env: MasonEnvironment) -> None:
    """Check that a server which others can reach has a token.

    Raises:
        BadInput: it has none.
    """
    if settings.is_loopback or given_token() or list_tokens(open_state(env)):
        return
    raise BadInput(
        f"{settings.host} can be reached from other machines, and there is no token yet.",
        hint=f"Make one with `mason token create --name NAME --scope admin`, set {TOKEN_VARIABLE}, use --create-token, "
        "or listen on 127.0.0.1.",
    )


def create_first_token(env: MasonEnvironment) -> str:
    """Make a token for everything if there is none yet, and return it; else nothing."""
    store = open_state(env)
    if given_token() or list_tokens(store):
        return ""
    return create_token(store, FIRST_TOKEN, Scope.ADMIN)


def listen(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens where the settings say.

    Raises:
        ClientFailed: somebody else does, or there is no such address here.
    """
    for file in filter(None, (settings.certificate, settings.key)):
        if not Path(file).is_file():
            raise PathNotFound(file)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise ClientFailed(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}.",
            hint="Choose another port with --port, or 0 for any that is free.",
        ) from error
    listener.set_inheritable(True)
    return listener


class CalmServer(uvicorn.Server):
    """Ends well when it is asked to stop: uvicorn would end as if the signal had killed it."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _config(application: Application | str, settings: ServerSettings, *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        factory=factory,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(settings.stop_seconds),
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.key or None,
    )


def _with_port(settings: ServerSettings, listener: socket.socket) -> ServerSettings:
    return replace(settings, port=listener.getsockname()[1])
