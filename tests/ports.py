"""Ports for servers that are told theirs, and that take it only seconds later."""

from __future__ import annotations

import random
import socket

_PORTS = range(11_000, 21_000)
"""Below those that the system gives to who asks for any, and to connections: nobody has one by chance before its server
does. So are those that are `FAR` above, among which are none of these."""

FAR = 10_000
"""So far above each of its ports SeaweedFS takes another one."""

_RANDOM = random.SystemRandom()  # several processes draw, whatever their tests seed
_given: set[int] = set()


def free_port() -> int:
    """Return a port that is free, as is the one far above; each call returns another one."""
    while True:
        port = _RANDOM.choice(_PORTS)
        if port not in _given and _is_free(port) and _is_free(port + FAR):
            _given.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: what is over is in nobody's way
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
