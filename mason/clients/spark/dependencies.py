"""The Python packages that kernels need, in an archive that Spark unpacks beside each of its executors.

A node of a Hadoop cluster, or the image of a container, has a Python, but not Mason's packages. They hold native code,
so that Python cannot import them from a zip file as it does Mason itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePath

FOLDER = "mason_dependencies"

# What kernels import; where they are installed boto3, for tables on S3, and those for sheets of Excel.
_NEEDED = (
    *("numpy", "pyarrow", "pandas", "fastavro", "msgpack", "duckdb", "sqlglot", "pyyaml", "boto3"),
    *("xlsxwriter", "python-calamine"),
)
_NAME = re.compile(r"[A-Za-z0-9._-]+")
# A third of it all: nobody compiles or tests anything on an executor.
_LEFT_OUT = {"tests", "include", "__pycache__"}
_UNUSED_DAYS = 7


def dependency_archive() -> Path:
    """Return the archive, which is made when these versions are asked for the first time."""
    found = {each.name: each for name in _NEEDED for each in _with_requirements(name)}
    contents = [sysconfig.get_platform(), sysconfig.get_python_version()]
    contents += sorted(f"{each.name}=={each.version}" for each in found.values())
    digest = hashlib.sha256("\n".join(contents).encode()).hexdigest()[:16]
    archive = _cache() / f"dependencies-{digest}.tar"
    try:
        os.utime(archive)
    except FileNotFoundError:
        archive.parent.mkdir(parents=True, exist_ok=True)
        _write(archive, [found[name] for name in sorted(found)])
        _remove_unused(archive.parent)
    return archive


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mason" / "spark"


def _with_requirements(name: str) -> Iterator[Distribution]:
    """A package and all that it requires itself; none that is not installed."""
    waiting, seen = [name], set()
    while waiting:
        wanted = waiting.pop()
        try:
            found = distribution(wanted)
        except PackageNotFoundError:
            continue
        if found.name in seen:
            continue
        seen.add(found.name)
        yield found
        waiting += [
            match[0] for each in found.requires or () if "extra ==" not in each and (match := _NAME.match(each))
        ]


def _write(archive: Path, distributions: list[Distribution]) -> None:
    """Write it under a name of its own first: another process or thread may be at it, too."""
    handle, name = tempfile.mkstemp(prefix=f"{archive.stem}.", dir=archive.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream, tarfile.open(fileobj=stream, mode="w") as tar:
            for each in distributions:
                for file in filter(_belongs, each.files or ()):
                    place = Path(str(file.locate()))
                    if place.exists():  # somebody may have removed what pip wrote
                        tar.add(place, str(file), recursive=False)
        draft.replace(archive)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _remove_unused(folder: Path) -> None:
    """Remove what no job has asked for of late; a job of another environment may still hand out its own archive."""
    limit = time.time() - _UNUSED_DAYS * 24 * 3600
    for file in folder.glob("dependencies-*"):
        with contextlib.suppress(FileNotFoundError):  # another command removes the same ones
            if file.stat().st_mtime < limit:
                file.unlink()


def _belongs(file: PurePath) -> bool:
    return ".." not in file.parts and not _LEFT_OUT & set(file.parts[:-1])
