"""Starts the server, and stops it in good order."""

from __future__ import annotations

import errno
import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from mason.api.server.application import SETTINGS_VARIABLE, SWITCH_SECONDS, Application, make_application
from mason.api.server.json_log import start_logging
from mason.api.server.patience import PatientProtocol
from mason.api.server.settings import ServerSettings
from mason.errors import BadInput, ClientFailed, PathNotFound

FACTORY = "mason.api.server.application:create_application"


def serve(settings: ServerSettings, tell: Callable[[ServerSettings], None]) -> None:
    """Serve until somebody asks for the end (SIGINT, SIGTERM). `tell` is called when the port is known.

    Raises:
        ClientFailed: the port is taken.
    """
    listener = listen(settings)  # who calls from now on waits until the rest is there
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
        PathNotFound, BadInput: the files for TLS are not there, or are none.
    """
    if settings.certificate:
        _check_certificate(settings)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = _start_listening(socket.socket(family, kind, protocol), address)
    except OSError as error:
        raise ClientFailed(
            f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}.",
            hint=_ANOTHER_HOST if _is_no_address(error) else _ANOTHER_PORT,
        ) from error
    listener.set_inheritable(True)
    return listener


_MOST_WAITING = 2048


def _start_listening(listener: socket.socket, address: Any) -> socket.socket:
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_MOST_WAITING)  # now: a port that is only bound can be another's as well, and refuses clients
    except OSError:
        listener.close()
        raise
    return listener


_ANOTHER_PORT = "Choose another port with --port, or 0 for any that is free."
_ANOTHER_HOST = "Choose an address of this machine with --host: 127.0.0.1, or 0.0.0.0 for all that it has."


def _is_no_address(error: OSError) -> bool:
    return isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL


class CalmServer(uvicorn.Server):
    """Ends well when it is asked to stop: uvicorn would end as if the signal had killed it."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _check_certificate(settings: ServerSettings) -> None:
    """Look at the files for TLS as the server will, before anybody is told that there is one."""
    for file in (settings.certificate, settings.key):
        if not Path(file).is_file():
            raise PathNotFound(file)
    try:
        # A key that is locked gets no password, rather than a question on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key, password="")
    except OSError as error:
        raise BadInput(f"{settings.certificate} and {settings.key} are no files for TLS: {_why(error)}.") from error


def _why(error: OSError) -> str:
    if not isinstance(error, ssl.SSLError):
        return str(error.strerror or error)
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key is that of another certificate"
    return "they must be a certificate and its key, as PEM, the key without a password"


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
