"""Real processes of the command line that need not import everything again: each is a fork of one that has.

A test's command is a process of its own, with its own folder, environment, output and end; only its first half second,
which is the same every time, is done once. What the start of a process depends on is left to a real one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parent.parent
MODULES = (
    "duckdb",
    "pyarrow.compute",
    "pyarrow.parquet",
    "mason.cli.main",
    "mason.cli.config",
    "mason.cli.operator",
    "mason.cli.register",
    "mason.cli.workflow",
    "mason.clients.local.execution",
    "mason.clients.local.metastore",
    "mason.clients.local.storage",
    "mason.pipeline.jobs.merge.work",
    "mason.pipeline.jobs.query.job",
)
_SEPARATE = ("PYTHON", "LANG", "LC_", "LD_", "COVERAGE")
_LONGEST = 1 << 20


def can_fork(variables: Mapping[str, str]) -> bool:
    """Say whether a fork does the same as a new process: some variables count only when Python starts."""
    return not any(name.startswith(_SEPARATE) for name in variables)


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run `mason` with these arguments and return how it ended, as `subprocess.run` does."""
    told = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_address())
        connection.settimeout(seconds)
        content = json.dumps(told).encode()
        socket.send_fds(connection, [len(content).to_bytes(4)], [out.fileno(), err.fileno()])
        connection.sendall(content)
        pid = int.from_bytes(_received(connection, 4))
        try:
            code = int.from_bytes(_received(connection, 4), signed=True)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, seconds) from None
        out.seek(0)
        err.seek(0)
        texts = [stream.read().decode("utf-8").replace("\r\n", "\n") for stream in (out, err)]
        return subprocess.CompletedProcess(arguments, code, *texts)


@cache
def _address() -> str:
    """Start the process that is forked, once for each that runs tests."""
    folder = tempfile.mkdtemp(prefix="zygote-")
    address = f"{folder}/socket"
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "JAVA_HOME", "MASON_CLASS_ARCHIVES") if name in os.environ
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.zygote", address],
        cwd=PROJECT,
        env={**kept, "HOME": folder, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.kill)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return address


def _received(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        more = connection.recv(min(size - len(content), _LONGEST))
        if not more:
            raise ConnectionError("the process of the command line is gone")
        content += more
    return content


def main(address: str) -> None:
    """Import what commands need, then be forked for each of them."""
    for module in MODULES:
        __import__(module)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(16)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while _is_asked(listening):
            connection, _ = listening.accept()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork() == 0:
                listening.close()
                _serve(connection)
                return
            connection.close()


def _is_asked(listening: socket.socket) -> bool:
    """Wait for somebody who asks; false when whoever started this process is gone."""
    ready, _, _ = select.select([listening, sys.stdin], [], [])
    return listening in ready


def _serve(connection: socket.socket) -> None:
    """Fork once more, wait for that process, and tell how it ended; in the fork, be the command."""
    header, files, _, _ = socket.recv_fds(connection, 4, 2)
    told = json.loads(_received(connection, int.from_bytes(header)))
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(told, files)
        return
    connection.sendall(pid.to_bytes(4))
    _, status = os.waitpid(pid, 0)
    connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))
    os._exit(0)


def _become(told: Mapping[str, object], files: Sequence[int]) -> None:
    """Be what `python -m mason` is in that folder and with that environment."""
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files)):
        os.dup2(file, number)
        os.close(file)
    os.chdir(str(told["folder"]))
    os.environ.clear()
    os.environ.update(told["environment"])  # type: ignore[call-overload]
    sys.argv = ["mason", *told["arguments"]]  # type: ignore[misc]
    sys.path[0] = str(told["folder"])
    tempfile.tempdir = None
    random.seed()
    time.tzset()

    from mason.__main__ import main as run_mason

    run_mason()


if __name__ == "__main__":
    main(sys.argv[1])
