"""How long the server waits for the head of a request, and how much of one it reads: slow clients hold nothing up."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mason.api.server.replies import document
from mason.api.server.requests import request_id
from mason.util.json_text import compact_json

LOG = logging.getLogger("mason.api")
HEAD_SECONDS = 15.0
HEAD_BYTES = 64 * 1024


class PatientProtocol(HttpToolsProtocol):
    """Speaks HTTP with a client, and hangs up on one that does not get to the point."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._unfinished_bytes = 0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._patience is not None:  # a head goes on, perhaps with one header that does not end
            self._unfinished_bytes += len(data)
            if self._unfinished_bytes > HEAD_BYTES:
                self._hang_up()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP as everything else is answered: in JSON, with an id that is in the log."""
        asked = request_id("")
        body = compact_json(document(errors=[msg]))
        head = [
            b"HTTP/1.1 400 Bad Request",
            b"content-type: application/json",
            b"content-length: %d" % len(body),
            b"x-request-id: " + asked.encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()
        LOG.info("request", extra={"event": "request", "fields": {"request": asked, "status": 400, "message": msg}})

    def _unsupported_upgrade_warning(self) -> None:
        """Who asks for another protocol is answered in this one; uvicorn would advise to install the other."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = self._unfinished_bytes = 0
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that come behind a body are counted as well."""
        super().on_header(name, value)
        self._count(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._rest()
        if not self.transport.is_closing():
            super().on_headers_complete()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            self._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _rest(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _hang_up(self) -> None:
        self._rest()
        if not self.transport.is_closing():
            self.transport.close()
