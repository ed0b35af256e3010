"""A proxy before an emulated AWS that speaks JSON: it counts, cuts answers into pages, and says what AWS would say."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.http_server import serving

Answer = tuple[int, Mapping[str, Any]]
Says = Callable[[str, Mapping[str, Any]], Answer | None]
"""What the proxy says to an operation and its request of its own accord; nothing lets the request through."""

PAGED = {
    "GetTables": "TableList",
    "GetDatabases": "DatabaseList",
    "GetPartitions": "Partitions",
    "GetCrawlers": "Crawlers",
}


@dataclass
class AwsProxy:
    """A proxy that runs; `says`, `page` and `date` may be changed at any time."""

    endpoint: str
    requests: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    says: Says = lambda operation, request: None
    page: int = 100
    """How many items an answer has at most, as AWS itself limits it; the emulator knows no pages."""
    date: str = ""
    """What the answers say it is; the time of this machine unless told."""

    def reset(self) -> None:
        """Forget what was asked, and what was to be said."""
        self.requests.clear()
        self.says, self.page, self.date = AwsProxy.says, AwsProxy.page, AwsProxy.date

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.requests]


def error(kind: str, message: str, status: int = 400) -> Answer:
    """Return an error as Glue writes it."""
    return status, {"__type": kind, "Message": message}


@contextmanager
def running_aws_proxy(target: str) -> Iterator[AwsProxy]:
    """Start a proxy before a server, and stop it at the end."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            operation, request = self.headers["X-Amz-Target"].rpartition(".")[2], json.loads(body or b"{}")
            proxy.requests.append((operation, request))
            said = proxy.says(operation, request)
            status, answer = said or _forwarded(urlsplit(target).netloc, self.headers, body)
            if said is None and operation in PAGED:
                answer = _page(answer, PAGED[operation], request, proxy.page)
            self._reply(status, json.dumps(answer).encode())

        def _reply(self, status: int, content: bytes) -> None:
            self.send_response_only(status)
            self.send_header("Date", proxy.date or self.date_time_string())
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    with serving(Handler) as endpoint:
        proxy = AwsProxy(endpoint)
        yield proxy


def _forwarded(host: str, headers: Any, body: bytes) -> Answer:
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        kept = {name: value for name, value in headers.items() if name.lower() not in ("connection", "content-length")}
        connection.request("POST", "/", body, kept)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")
    finally:
        connection.close()


def _page(answer: Mapping[str, Any], items: str, request: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    everything = answer.get(items)
    if everything is None:
        return answer
    start, size = int(request.get("NextToken") or 0), min(int(request.get("MaxResults") or most), most)
    token = {"NextToken": str(start + size)} if start + size < len(everything) else {}
    return {**answer, items: everything[start : start + size], **token}
