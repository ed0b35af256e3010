"""A real PostgreSQL on a free port of this machine, with a database of its own for each test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.ports import free_port

USER, PASSWORD = "mason", "a p@ss/word"
_WRITTEN_PASSWORD = "a%20p%40ss%2Fword"
_TEMPLATE = "mason_template"
_SETTINGS = ("fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=60", "shared_buffers=16MB")


@dataclass
class Postgres:
    """A server that this test process started, and stops."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    _made: list[str] = field(default_factory=list)

    def start(self) -> Postgres:
        settings = (f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}")
        options = [word for each in (*settings, *_SETTINGS) for word in ("-c", each)]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*as_postgres(), "postgres", "-D", str(self.folder / "data"), *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        end = time.monotonic() + 30
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.02)
        return self

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends the connections in good order, SIGQUIT at once and without one."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(30)

    def address(self, database: str) -> str:
        return f"postgresql://{USER}:{_WRITTEN_PASSWORD}@127.0.0.1:{self.port}/{database}"

    def new_database(self, template: str = "template0") -> str:
        """Make a database and return its address."""
        name = f"test_{len(self._made)}"
        self._made.append(name)
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")  # type: ignore[arg-type]
        return self.address(name)

    def execute(self, address: str, statement: str) -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.address("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


class Wire:
    """What lies between Mason and the server: it can be cut after a statement was done, and before its answer came."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.lost = 0
        self._awaited = b""
        self._is_cut = self._stays_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer_to(self, text: bytes, *, stay_cut: bool = False) -> None:
        """Cut the wire after the next statement with this text; for good, or until the next attempt."""
        self._awaited, self._stays_cut = text, stay_cut

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._server_port))
                threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        is_last = threading.Event()
        threading.Thread(target=self._answer, args=(far, near, is_last), daemon=True).start()
        with suppress(OSError):
            while content := near.recv(65536):
                if self._awaited and self._awaited in content:
                    self._awaited = b""
                    is_last.set()
                far.sendall(content)
            far.shutdown(socket.SHUT_WR)

    def _answer(self, far: socket.socket, near: socket.socket, is_last: threading.Event) -> None:
        with far, near, suppress(OSError):
            while content := far.recv(65536):
                if is_last.is_set():
                    self._is_cut = self._stays_cut
                    self.lost += 1
                    near.shutdown(socket.SHUT_RDWR)
                    return
                near.sendall(content)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Make a server in a folder of its own, and take it away again."""
    # Not below pytest's folder, which only its owner may enter: a server of PostgreSQL refuses to be root's.
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir="/tmp"))
    (folder / "password").write_text(PASSWORD)
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        shutil.chown(folder / "password", "postgres")
    options = ["--no-sync", "--encoding=UTF8", "--locale=C", "-U", USER, "-A", "scram-sha-256", "--pwfile=password"]
    subprocess.run([*as_postgres(), "initdb", "-D", "data", *options], cwd=folder, check=True, capture_output=True)
    server = Postgres(folder, free_port())
    try:
        yield server.start()
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder)


def as_postgres() -> Sequence[str]:
    """Return what makes a command another user's, where this one is root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
