"""Makes a Java that starts Spark in a third of the time, for the tests, which start it often; prints its home.

It is the Java of this machine, started with an archive of the classes that Spark loads, which users have, too, and with
the simple compiler, which they have not: queries that run for longer would take twice as long. What Spark computes is
the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from mason.clients.spark.class_archive import MAKER, ClassArchive
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import spark_home

_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ARCHIVE = "spark.jsa"


def quick_java() -> Path:
    """Return the home of the quick Java, which is made unless it is there."""
    real = java_home()
    home = _cache() / f"java-{_digest(real)}"
    if not (home / "bin" / "java").exists():
        with tempfile.TemporaryDirectory(dir=_cache()) as folder:
            made = Path(folder) / "java"
            _link(real, made)
            _write_java(made, real, f"{_OPTIONS} -Xlog:disable")
            archive = ClassArchive(made, made / _ARCHIVE)
            if not archive.make():
                sys.exit(f"Spark did not run on {made}:\n{archive.failure}")
            _write_java(made, real, f"{_OPTIONS} -XX:SharedArchiveFile={home / _ARCHIVE} -Xlog:disable")
            shutil.rmtree(home, ignore_errors=True)
            made.rename(home)
    return home


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mason"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(real: Path) -> str:
    """Another Java, and other or moved jars, take another archive."""
    jars = sorted(f"{jar} {jar.stat().st_mtime_ns}" for jar in (spark_home() / "jars").iterdir())
    maker = MAKER.read_text(encoding="utf-8")
    told = [(real / "release").read_text(encoding="utf-8"), str(real), _OPTIONS, maker, *jars]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _link(real: Path, made: Path) -> None:
    (made / "bin").mkdir(parents=True)
    for each in (*real.iterdir(), *(real / "bin").iterdir()):
        place = made / each.relative_to(real)
        if not place.exists():
            place.symlink_to(each)


def _write_java(made: Path, real: Path, options: str) -> None:
    java = made / "bin" / "java"
    java.unlink(missing_ok=True)
    java.write_text(f'#!/bin/sh\nexec {real}/bin/java {options} "$@"\n', encoding="utf-8")
    java.chmod(0o755)


if __name__ == "__main__":
    sys.stdout.write(f"{quick_java()}\n")
