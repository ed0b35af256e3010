"""Sends events. Nothing that goes wrong here is worth a job: it is said once, and left alone for a minute."""

from __future__ import annotations

import fcntl
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from mason.errors import InvalidConfiguration
from mason.lineage.settings import LineageSettings, lineage_settings
from mason.lineage.stories import NOTHING, Moment, Said, Subject
from mason.util.environment import MasonEnvironment

QUIET_SECONDS = 60.0
HOW_TO_INSTALL = "openlineage-python is not installed. Run: pip install 'mason-data[openlineage]'"


def tell(env: MasonEnvironment, moment: Moment, subject: Subject, said: Said = NOTHING) -> str:
    """Tell what happened, if that is wanted, and return why it could not be told, once."""
    try:
        settings = lineage_settings(env)
    except InvalidConfiguration as error:
        return _once(f"No lineage is sent. {error}")
    return _sender(settings).send(moment, subject, said) if settings else ""


def is_wanted(env: MasonEnvironment) -> bool:
    """Say whether somebody wants lineage to be told."""
    try:
        return lineage_settings(env) is not None
    except InvalidConfiguration:
        return True  # and who tells it will say what is wrong


_said_already: set[str] = set()


def _once(message: str) -> str:
    if message in _said_already:
        return ""
    _said_already.add(message)
    return message


@lru_cache(maxsize=8)
def _sender(settings: LineageSettings) -> Sender:
    return Sender(settings)


class Sender:
    """One place that events go to, for all threads of this process."""

    def __init__(self, settings: LineageSettings) -> None:
        self._settings = settings
        self._transport: Any = None
        self._lock = threading.Lock()
        self._quiet_until = 0.0

    def send(self, moment: Moment, subject: Subject, said: Said) -> str:
        """Send an event; return what is wrong, unless that was said less than a minute ago."""
        with self._lock:
            if time.monotonic() < self._quiet_until:
                return ""
            try:
                self._emit(moment, subject, said)
            except Exception as error:  # noqa: BLE001 (a package of others, a disk, a network: a job outlives them all)
                self._quiet_until = time.monotonic() + QUIET_SECONDS
                return f"No lineage is sent for {QUIET_SECONDS:.0f} seconds: {self._reason(error)}"
        return ""

    def _emit(self, moment: Moment, subject: Subject, said: Said) -> None:
        from mason.lineage.events import event

        if self._transport is None:
            self._transport = _http(self._settings) if self._settings.url else _file(self._settings)
        happened = event(moment, subject, said, self._settings.namespace)
        if self._settings.url:
            self._transport.emit(happened)
            return
        Path(self._settings.file).parent.mkdir(parents=True, exist_ok=True)
        with open(self._settings.file, "a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # a long line is written in pieces, and other processes write as well
            self._transport.emit(happened)

    def _reason(self, error: Exception) -> str:
        place, name = self._settings.place, type(error).__name__
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("openlineage"):
            return HOW_TO_INSTALL
        if isinstance(error, OSError) and not self._settings.url:
            return f"{place}: {error.strerror or error}."
        if "Timeout" in name:
            return f"{place} does not answer within {self._settings.timeout:g} seconds."
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status:
            return f"{place} answers {status}."
        return f"nothing answers at {place}." if "Connection" in name else f"{place}: {name}."


def _http(settings: LineageSettings) -> Any:
    from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport, TokenProvider

    auth = ApiKeyTokenProvider({"api_key": settings.api_key}) if settings.api_key else TokenProvider({})
    once = {"total": 0}  # a job waits for this
    config = HttpConfig(settings.url, settings.endpoint, settings.timeout, auth=auth, retry=once)
    return HttpTransport(config)


def _file(settings: LineageSettings) -> Any:
    from openlineage.client.transport.file import FileConfig, FileTransport

    return FileTransport(FileConfig(settings.file, append=True))
