"""The load generator of `benchmarks.api`: a process of its own, with plain sockets, so that it costs little.

python -m benchmarks.api_load HOST PORT TARGET CONNECTIONS REQUESTS
"""

from __future__ import annotations

import asyncio
import json
import sys
import time


async def main(host: str, port: int, target: str, connections: int, requests: int) -> None:
    """Send requests over some connections, one after the other on each, and print how long each took."""
    head = f"GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    began = time.perf_counter()
    each = requests // connections
    taken = await asyncio.gather(*(_ask(host, port, head, each) for _ in range(connections)))
    seconds = time.perf_counter() - began
    times = sorted(one for of_connection in taken for one in of_connection)
    p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
    print(json.dumps({"seconds": seconds, "requests": len(times), "p99": p99}))


async def _ask(host: str, port: int, head: bytes, requests: int) -> list[float]:
    reader, writer = await asyncio.open_connection(host, port)
    times = []
    for _ in range(requests):
        began = time.perf_counter()
        writer.write(head)
        answer = await reader.readuntil(b"\r\n\r\n")
        status, fields = answer.split(b"\r\n", 1)
        assert status.split()[1] == b"200", answer
        length = next(line for line in fields.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        times.append(time.perf_counter() - began)
        if b"connection: close" in fields.lower():  # the development server of Flask
            writer.close()
            reader, writer = await asyncio.open_connection(host, port)
    writer.close()
    return times


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
