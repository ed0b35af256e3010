"""Finds a Java that Spark can run on. `python -m mason.util.java` prints its home, for scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SUPPORTED = (17, 21)
USUAL_PLACES = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt/homebrew/opt", "/opt")
HOW_TO_INSTALL = (
    "Spark needs Java 17 or 21 (a newer one does not serve). "
    "Debian, Ubuntu: apt-get install openjdk-17-jre-headless. macOS: brew install openjdk@17. "
    "Elsewhere: install a JDK 17 and set JAVA_HOME to it."
)

_VERSION = re.compile(r'version "(\d+)')


@dataclass(frozen=True)
class Java:
    """A Java installation."""

    home: Path
    version: int


def find_java(places: Sequence[str] = USUAL_PLACES) -> Java | None:
    """Return a Java that serves: the one of JAVA_HOME or of the PATH when it does, else one from the usual places."""
    return next((java for java in find_javas(places) if java.version in SUPPORTED), None)


def find_javas(places: Sequence[str] = USUAL_PLACES) -> Iterator[Java]:
    """Yield every Java of this machine, the one that a user would get first."""
    seen: set[Path] = set()
    for home in _candidates(places):
        real = home.resolve()
        if real not in seen and (real / "bin" / "java").is_file():
            seen.add(real)
            version = _version(real)
            if version:
                yield Java(real, version)


def _candidates(places: Sequence[str]) -> Iterable[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for place in map(Path, places):
        if place.is_dir():
            for folder in sorted(place.iterdir()):
                yield folder
                yield folder / "Contents" / "Home"
                yield folder / "libexec" / "openjdk.jdk" / "Contents" / "Home"


def _version(home: Path) -> int:
    try:
        answer = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(answer.stderr)
    return int(match[1]) if match else 0


if __name__ == "__main__":
    java = find_java()
    if java is None:
        sys.exit(HOW_TO_INSTALL)
    sys.stdout.write(f"{java.home}\n")
