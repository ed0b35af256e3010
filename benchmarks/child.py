"""A process that stays warm and does one thing per line: it is told on stdin, and answers on stdout."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

DONE = "done: "
_SECONDS_TO_END = 30
_LINES_SHOWN = 20


class Child:
    """A module of the benchmarks in a process of its own; use it as a context."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        python: str = sys.executable,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._command = [python, "-m", module, *arguments]
        self._variables = {**os.environ, **(variables or {})}

    def __enter__(self) -> Child:
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=self._variables,
        )
        return self

    def __exit__(self, *_: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def ask(self, word: str) -> str:
        """Have something done, and return what the process says of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(DONE):
                return line.removeprefix(DONE).strip()
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").splitlines()[-_LINES_SHOWN:]
        raise RuntimeError("\n".join([f"{self._command[2]} ended before it was done with {word}:", *last]))


def answer(work: Callable[[str], object]) -> None:
    """Do the work for each line of stdin, until there are no more: the other side of `ask`."""
    for line in sys.stdin:
        told = work(line.strip())
        print(f"{DONE}{told or ''}", flush=True)
