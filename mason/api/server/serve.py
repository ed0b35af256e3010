"""Starts the server, and stops it in good order."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.supervisors import Multiprocess

from mason.api.server.application import SETTINGS_VARIABLE, SWITCH_SECONDS, Application, make_application
from mason.api.server.json_log import start_logging
from mason.api.server.patience import PatientProtocol
from mason.api.server.settings import ServerSettings
from mason.errors import ClientFailed, PathNotFound

FACTORY = "mason.api.server.application:create_application"


def serve(settings: ServerSettings, tell: Callable[[ServerSettings], None]) -> None:
    """Serve until somebody asks for the end (SIGINT, SIGTERM). `tell` is called when the port is known.

    Raises:
        ClientFailed: the port is taken.
    """
    listener = listen(settings)
    settings = _with_port(settings, listener)
    tell(settings)
    sys.setswitchinterval(SWITCH_SECONDS)
    start_logging(settings.log_level)
    if settings.workers > 1:
        os.environ[SETTINGS_VARIABLE] = settings.to_json()
        config = _config(FACTORY, settings, factory=True)
        Multiprocess(config, sockets=[listener]).run()
        return
    CalmServer(_config(make_application(settings), settings)).run(sockets=[listener])


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
