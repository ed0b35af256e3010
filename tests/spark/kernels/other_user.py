"""Asks a Spark what another user of the machine might: `UID` as argument, the questions as JSON on stdin.

It speaks what Spark's processes speak among themselves, over loopback and sockets in the file system, as that user.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 (the other user may not read this Python)
import json
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from pyspark.sql.connect import proto
from pyspark.sql.connect.proto import base_pb2_grpc

_SECONDS = 3
_CHUNK_REQUEST, _CHUNK, _RPC_REQUEST, _RPC_ANSWER, _STREAM_REQUEST, _STREAM = 0, 1, 3, 4, 6, 7
_OPEN_BLOCKS = b"\0"
_MOST_BYTES = 2**24


def fetch_blocks(port: int, *blocks: str) -> str:
    """Ask the block manager for blocks, as an executor does, until it gives one."""
    answers = []
    for block in blocks:
        answers.append(_fetch_block(port, block))
        if "GOT" in answers[-1]:
            return answers[-1]
    return ", ".join(sorted(set(answers)))


def _fetch_block(port: int, block: str) -> str:
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as stream:
        asked = _OPEN_BLOCKS + _text("app") + _text("1") + struct.pack(">i", 1) + _text(block)
        kind, answer = _ask(stream, _RPC_REQUEST, struct.pack(">qi", 1, len(asked)) + asked)
        if kind != _RPC_ANSWER:
            return _refusal(answer)
        (number,) = struct.unpack(">q", answer[13:21])
        kind, answer = _ask(stream, _CHUNK_REQUEST, struct.pack(">qi", number, 0))
        return f"GOT {len(answer)} bytes" if kind == _CHUNK else _refusal(answer)


def open_file(port: int, name: str) -> str:
    """Ask the driver for one of the files that it serves."""
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as stream:
        kind, answer = _ask(stream, _STREAM_REQUEST, _text(name))
        if kind != _STREAM:
            return _refusal(answer)
        (size,) = struct.unpack(">q", answer[-8:])  # what stands before is its name
        return f"GOT {_exactly(stream, size).decode()}"


def ask_connect(port: int) -> str:
    """Ask the server for Connect, without its token."""
    request = proto.ConfigRequest(session_id="00000000-0000-0000-0000-000000000001")
    request.operation.get_option.keys.append("spark.app.name")
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)  # type: ignore[no-untyped-call]
        try:
            return f"GOT {stub.Config(request, timeout=_SECONDS)}"
        except grpc.RpcError as error:
            return str(error.code().name)


def ask_gateway(port: int) -> str:
    """Ask the JVM of a Python process for a property of its own, as py4j does, without its token."""
    with socket.create_connection(("127.0.0.1", port), _SECONDS) as stream:
        stream.sendall(b"c\nz:java.lang.System\ngetProperty\nsuser.name\ne\n")
        answer = stream.recv(100).decode()
        return f"GOT {answer}" if answer.startswith("!y") else f"refused: {answer}"


def reach(path: str) -> str:
    """Open a socket in the file system."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(path)
        return "GOT it"


def read(path: str) -> str:
    """Look into a folder, or a file."""
    place = Path(path)
    return f"GOT {list(place.iterdir())}" if place.is_dir() else f"GOT {place.read_text()}"


def _text(said: str) -> bytes:
    return struct.pack(">i", len(said.encode())) + said.encode()


def _ask(stream: socket.socket, kind: int, body: bytes) -> tuple[int, bytes]:
    stream.sendall(struct.pack(">qb", 9 + len(body), kind) + body)
    (size,) = struct.unpack(">q", _exactly(stream, 8))
    if not 9 <= size <= _MOST_BYTES:
        raise ValueError("it speaks another language")
    answer = _exactly(stream, size - 8)
    return answer[0], answer[1:]


def _exactly(stream: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = stream.recv(size - len(read))
        if not more:
            raise EOFError("it hung up")
        read += more
    return read


def _refusal(answer: bytes) -> str:
    return answer.decode(errors="replace").splitlines()[0]


def _answer(question: list[Any]) -> str:
    asked = {each.__name__: each for each in (fetch_blocks, open_file, ask_connect, ask_gateway, reach, read)}
    try:
        return asked[question[0]](*question[1:])
    except (OSError, EOFError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    questions = json.load(sys.stdin)
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
    json.dump([_answer(question) for question in questions], sys.stdout)
