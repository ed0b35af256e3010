"""`.env` files: variables that a person keeps beside their project instead of in their shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>.*)(?P=quote)\s*(?:#.*)?""")


def env_files(home: Path) -> list[Path]:
    """Return the `.env` files that count, the strongest first."""
    return [home / ".env", Path.cwd() / ".env", Path.home() / ".env"]


def read_env_files(files: Iterable[Path]) -> dict[str, str]:
    """Return what the files define; the first file that defines a name wins. A missing file defines nothing."""
    found: dict[str, str] = {}
    for file in files:
        try:
            content = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
            continue
        # A stray byte in a comment must not keep every command from running: it matters only where it is used.
        text = content.decode("utf-8-sig", errors="replace")
        for name, value in parse_env(text).items():
            found.setdefault(name, value)
    return found


def parse_env(text: str) -> dict[str, str]:
    """Parse `NAME=value` lines: `export` and quotes are allowed, `#` begins a comment, other lines are passed over."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match and not line.lstrip().startswith("#"):
            found[match["name"]] = _unquoted(match["value"])
    return found


def _unquoted(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        return quoted["text"]
    return re.split(r"\s+#", value, maxsplit=1)[0]
