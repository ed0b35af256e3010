"""A proxy before a real S3: it counts the requests, and answers some with what AWS itself would say."""

from __future__ import annotations

import http.client
import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.http_server import serving

Answer = tuple[int, str]
"""A status and the body of an error."""
RESET = (0, "reset")
"""The connection is cut before there is an answer."""
HALF = (0, "half")
"""The answer of the server, but only half of its body; then the connection is cut."""
Says = Callable[[str, str], Answer | None]
"""What the proxy says to a method and a path of its own accord; nothing lets the request through."""


@dataclass
class Proxy:
    """A proxy that runs; `says` and `date` may be changed at any time."""

    endpoint: str
    requests: list[str] = field(default_factory=list)
    says: Says = lambda method, path: None
    date: str = ""
    """What the answers say it is; the time of this machine unless told."""
    hides: tuple[str, ...] = ()
    """What the answers leave out: headers such as `Last-Modified`, and what lists have of the same (`LastModified`)."""


def error_body(code: str, message: str, **more: str) -> str:
    """Return an error as AWS writes it."""
    others = "".join(f"<{name}>{value}</{name}>" for name, value in more.items())
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}<Error><Code>{code}</Code><Message>{message}</Message>{others}<RequestId>44425</RequestId></Error>"


@contextmanager
def running_proxy(target: str) -> Iterator[Proxy]:
    """Start a proxy before a server, and stop it at the end."""
    host = urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a body would wait 40 ms for the head to be acknowledged

        def handle_one(self) -> None:
            body = self._body()
            proxy.requests.append(f"{self.command} {self.path}")
            said = proxy.says(self.command, self.path)
            if said == RESET:
                self._cut()
                return
            if said and said != HALF:
                self._reply(said[0], said[1].encode(), {"Content-Type": "application/xml"})
                return
            # The headers go on as they came: the name of the host is part of what is signed.
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("transfer-encoding", "expect", "content-length"):
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            content = answer.read()
            hidden = [name.lower() for name in proxy.hides]
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in (*_OWN, *hidden)}
            connection.close()
            if hidden and "list-type" in self.path:
                for name in proxy.hides:
                    word = name.replace("-", "").encode()
                    content = re.sub(b"<%b>.*?</%b>" % (word, word), b"", content)
                self._reply(answer.status, content, kept)
                return
            if said == HALF:
                self._reply(answer.status, content[: len(content) // 2], kept, str(len(content)))
                self._cut()
                return
            self._reply(answer.status, content, kept, answer.getheader("Content-Length"))

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_one

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)

        def _reply(self, status: int, content: bytes, headers: dict[str, str], length: str | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", length or str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _cut(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            # At once and without a goodbye, as when a cable is pulled out.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        def date_time_string(self, timestamp: float | None = None) -> str:
            return proxy.date or super().date_time_string(timestamp)

        def log_message(self, *arguments: object) -> None:
            pass

    with serving(Handler) as endpoint:
        proxy = Proxy(endpoint)
        yield proxy


_OWN = ("content-length", "connection", "transfer-encoding", "date", "server")
