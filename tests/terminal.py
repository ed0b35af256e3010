"""Commands on a terminal of some width, as people see what they print."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_LINES = 24


def run_on_terminal(
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    *,
    columns: int,
    stdout: int | None = None,
    seconds: float = 60,
) -> tuple[str, int]:
    """Run a command on a terminal, stdout perhaps elsewhere; return all that it wrote there, and its exit code."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, columns, 0, 0))
    process = subprocess.Popen(
        command,
        env=dict(env),
        cwd=folder,
        stdin=follower,
        stdout=follower if stdout is None else stdout,
        stderr=follower,
    )
    os.close(follower)
    written = b""
    while select.select([leader], [], [], seconds)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the terminal is closed when its last user leaves
            break
        if not part:
            break
        written += part
    os.close(leader)
    return written.decode().replace("\r\n", "\n"), process.wait(timeout=seconds)
