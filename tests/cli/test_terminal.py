"""Colours and widths: for terminals, not for pipes."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from collections.abc import Sequence

from tests.conftest import Mason


def on_a_terminal(mason: Mason, *arguments: str, columns: int = 80, **variables: str) -> str:
    """Run a command on a terminal of some width and return all that it wrote there."""
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*mason.argv, *arguments],
        env=mason.environment({"TERM": "xterm", **variables}),
        cwd=mason.folder,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    written = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the terminal is closed when its last user leaves
            break
        if not part:
            break
        written += part
    os.close(leader)
    process.wait(timeout=60)
    return written.decode().replace("\r\n", "\n")


class TestTerminal:
    def test_colours_are_for_terminals_only_and_no_color_is_honoured(self, mason: Mason) -> None:
        wrong: Sequence[str] = ("config", "-s", "nope")

        assert "\x1b[" in on_a_terminal(mason, *wrong)
        assert "\x1b" not in on_a_terminal(mason, *wrong, NO_COLOR="1")
        assert "\x1b" not in on_a_terminal(mason, *wrong, TERM="dumb")
        piped = mason(*wrong, variables={"TERM": "xterm"})
        assert "\x1b" not in piped.stdout + piped.stderr

    def test_a_listing_fits_the_terminal_and_is_whole_in_a_pipe(self, mason: Mason) -> None:
        mason.register_examples()

        narrow = on_a_terminal(mason, "operator", "table", columns=110)

        table = narrow.split("\n\n", 1)[1].splitlines()
        assert max(map(len, table)) <= 110
        assert "'read_all'" in narrow
        assert max(map(len, mason("operator").stdout.splitlines())) > 110
