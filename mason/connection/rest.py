"""The REST API of a server, as one caller uses it.

httpx and not the standard library: it keeps the connection for the next request, which asking after a job lives by, and
its timeouts hold for every phase of a request.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from mason.api.server.settings import is_loopback
from mason.connection.call_response import CallResponse
from mason.errors import BadInput, ClientFailed

BASE_PATH = "/api"
ACCEPTED = 202
_PATIENCE = 30.0
"""So long a server may take to answer beyond what it was asked to wait, and to come back when it was there before."""

_CUT_OFF = httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError
"""The server was there and went away. Whatever the connection sends may be sent twice: a call has its key."""

_CONNECT_SECONDS = 10.0
_PAUSE = 0.25


class RestApi:
    """Sends requests and reads replies. Every reply is a response, whatever its status."""

    def __init__(self, url: str, token: str, ca_file: str) -> None:
        self.url = url
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        through_proxies = not is_loopback(urlsplit(url).hostname or "")  # no proxy leads back to this machine
        self._http = httpx.Client(
            base_url=url, headers=headers, verify=_certificates(url, ca_file), trust_env=through_proxies
        )

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        *,
        key: str = "",
        wait: float = 0,
    ) -> CallResponse:
        """Send a request and return the response.

        Args:
            key: makes a repeated request one.
            wait: how long the server was asked to wait.

        Raises:
            ClientFailed: nobody answers, or not as Mason does.
            BadInput: there is something in it that no request can carry.
        """
        limits = httpx.Timeout(wait + _PATIENCE, connect=_CONNECT_SECONDS)
        headers = {"Idempotency-Key": key} if key else {}

        def once() -> CallResponse:
            try:
                reply = self._http.request(
                    method, BASE_PATH + path, params=dict(query or {}), json=body, headers=headers, timeout=limits
                )
            except (httpx.TransportError, httpx.InvalidURL) as error:
                raise _unreachable(self.url, error) from error
            except UnicodeEncodeError as error:
                raise BadInput("A name or a value has half a character in it, which no request can carry.") from error
            return self._response(reply)

        try:
            return once()
        except ClientFailed as error:
            if not isinstance(error.__cause__, _CUT_OFF):
                raise
        return self.send_again(once)

    def send_again(self, send: Callable[[], CallResponse]) -> CallResponse:
        """Send a request that may be repeated to a server that was there a moment ago: it may be starting anew.

        Raises:
            ClientFailed: it does not come back.
        """
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return send()
            except ClientFailed as error:
                if not isinstance(error.__cause__, httpx.NetworkError | _CUT_OFF) or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)

    def specification(self) -> Mapping[str, Any]:
        """Return the paths of the server's specification with their operations."""
        try:
            reply = self._http.get(f"{BASE_PATH}/openapi.json", timeout=httpx.Timeout(_PATIENCE))
            paths: Mapping[str, Any] = reply.json()["paths"]
        except httpx.TransportError as error:
            raise _unreachable(self.url, error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise _no_mason(self.url, reply.status_code) from error
        return paths

    def _response(self, reply: httpx.Response) -> CallResponse:
        try:
            document = reply.json()
        except ValueError:
            document = None
        if not isinstance(document, dict) or not {"Errors", "Info", "Warnings", "Data"} <= document.keys():
            raise _no_mason(self.url, reply.status_code)
        return CallResponse(document, reply.status_code)


def _certificates(url: str, ca_file: str) -> ssl.SSLContext | bool:
    if not ca_file:
        return url.startswith("https:")  # reading the machine's certificates takes longer than a request
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise BadInput(f"{ca_file} has no certificates: {error.strerror or error}.") from error


def _unreachable(url: str, error: Exception) -> ClientFailed:
    if isinstance(error, httpx.TimeoutException):
        return ClientFailed(f"{url} does not answer in time.", hint="Ask there whether the server is well.")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):  # httpx keeps no cause of the kind
        return ClientFailed(
            f"The certificate of {url} is not trusted here.",
            hint="Give it, or the one that it was signed with, as ca_file; check the name in the address.",
        )
    return ClientFailed(f"Nobody answers at {url}: {str(error).rstrip('.')}.", hint="Is `mason run` running there?")


def _no_mason(url: str, status: int) -> ClientFailed:
    return ClientFailed(f"{url} does not answer as Mason does (HTTP {status}).", hint="Check the address.")
