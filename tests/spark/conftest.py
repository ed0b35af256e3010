"""A runtime folder per module, so that no test touches the server of the user who runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mason.clients.spark.server.launch import KEPT_VARIABLES
from mason.clients.spark.server.record import ServerRecord, server_folders
from mason.clients.spark.server.status import stop_servers
from mason.util.processes import ProcessId

PROJECT = Path(__file__).parent.parent.parent
KERNELS = Path(__file__).parent / "kernels"


@dataclass
class Commands:
    """Runs commands that share a runtime folder, and knows every server that they started."""

    runtime: Path
    path: list[Path]
    seen: set[ProcessId] = field(default_factory=set)

    def __call__(self, *arguments: str, **variables: str) -> dict[str, Any]:
        return self.finished(self.start(*arguments, **variables))

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(KERNELS / "spark_command.py"), *arguments],
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(self, process: subprocess.Popen[str], seconds: float = 120) -> dict[str, Any]:
        stdout, stderr = process.communicate(timeout=seconds)
        assert process.returncode == 0, stderr
        self.servers()
        told: dict[str, Any] = json.loads(stdout)
        return {**told, "stderr": stderr}

    def mason(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "mason", "spark", *arguments],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in (*KEPT_VARIABLES, "JAVA_HOME", "MASON_CLASS_ARCHIVES")
            if name in os.environ
        }
        path = os.pathsep.join(map(str, self.path))
        return {**kept, "MASON_RUNTIME_DIR": str(self.runtime), "PYTHONPATH": path, **variables}

    def servers(self) -> list[ServerRecord]:
        """The servers that left word of themselves."""
        found = [ServerRecord.read(folder) for folder in server_folders(self.runtime / "spark")]
        servers = [server for server in found if server]
        self.seen |= {server.server for server in servers} | {server.keeper for server in servers}
        return servers

    def sessions_in_use(self) -> int:
        """How many sessions commands have; looked at without their locks, which would be in the way of a command."""
        (server,) = self.servers()
        return sum(file.read_text(encoding="utf-8") != "" for file in self.folder(server).glob("*.session"))

    def folder(self, server: ServerRecord) -> Path:
        return self.runtime / "spark" / server.key


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    runtime = Path(tempfile.mkdtemp(prefix="mason-test-"))
    commands = Commands(runtime, [PROJECT, KERNELS])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASON_RUNTIME_DIR", str(runtime))
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, commands.path)))
        patch.syspath_prepend(KERNELS)
        yield commands
        commands.servers()
        stop_servers()
        eventually(lambda: not [process for process in commands.seen if process.alive])
    shutil.rmtree(runtime)


def eventually(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
