"""Readable copies of what is registered: one folder per digest, and one link per name to its current digest.

The state store is the truth. A checkout is made before the name points to it, and made anew when it was changed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from mason.errors import StateFailed
from mason.state.models import Kind, Name
from mason.state.store import StateStore
from mason.util.atomic_file import sync_folder
from mason.util.disk_room import why_not_written
from mason.util.environment import MasonEnvironment

_ABANDONED_SECONDS = 3600


def checkout(env: MasonEnvironment, digest: str, files: Mapping[str, bytes]) -> Path:
    """Return the folder that holds exactly these files, making it when it is not there or was changed.

    Raises:
        StateFailed: it cannot be written.
    """
    folder = env.object_home / digest
    if _read(folder) == files:
        return folder
    try:
        env.object_home.mkdir(parents=True, mode=0o700, exist_ok=True)
        with _hold_lock(env.home / ".objects.lock"):
            if _read(folder) != files:  # it may be another process that made it in the meantime
                _make(folder, files)
    except OSError as error:
        reason = why_not_written(error, env.home)
        raise StateFailed(f"{env.object_home}: {reason}.", hint="Nothing was registered.") from error
    return folder


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    from mason.util.exchange import exchange_folders  # rarely needed: a command that runs an operator need not load it

    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name[:12]}.", dir=folder.parent))
    try:
        _write(aside, files)
        if folder.exists():
            exchange_folders(aside, folder)
        else:
            aside.rename(folder)
    finally:
        _remove(aside)
    sync_folder(folder.parent)


def link_current(env: MasonEnvironment, store: StateStore) -> None:
    """Make the links of every name point to what the store says is current.

    Raises:
        StateFailed: a link cannot be written.
    """
    try:
        with _hold_lock(env.home / ".links.lock"):
            _sweep(env.object_home, store.list_digests())
            for kind, home in ((Kind.OPERATOR, env.operator_home), (Kind.WORKFLOW, env.workflow_home)):
                wanted = {
                    _place(home, each.name): env.object_home / each.digest for each in store.list_registrations(kind)
                }
                for link in set(_links(home)) - set(wanted):
                    _unlink(link, home)
                for link, target in wanted.items():
                    _link(link, target)
    except OSError as error:
        raise StateFailed(
            f"{error.filename}: {why_not_written(error, env.home)}.", hint="What is registered stays registered."
        ) from error


def _sweep(object_home: Path, registered: set[str]) -> None:
    """Remove checkouts that nothing is registered for; young ones may be another process's that is about to."""
    for folder in object_home.iterdir() if object_home.is_dir() else ():
        if folder.name not in registered and time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
            _remove(folder)


def _place(home: Path, name: Name) -> Path:
    return home / name.namespace / name.command if name.namespace else home / name.command


def _links(home: Path) -> Iterator[Path]:
    for entry in home.iterdir():
        if entry.is_symlink():
            yield entry
        elif entry.is_dir():
            yield from (each for each in entry.iterdir() if each.is_symlink())


def _unlink(link: Path, home: Path) -> None:
    link.unlink()
    if link.parent != home and not any(link.parent.iterdir()):
        link.parent.rmdir()  # the namespace has no operator left, and its name is free again


def _link(link: Path, target: Path) -> None:
    relative = os.path.relpath(target, link.parent)
    if link.is_symlink() and os.readlink(link) == relative:  # noqa: PTH115
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    aside = link.with_name(f".{link.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        aside.unlink()
    aside.symlink_to(relative)
    aside.replace(link)


def _read(folder: Path) -> dict[str, bytes] | None:
    if not folder.is_dir():
        return None
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    try:
        return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
    except OSError:
        return None  # unreadable is as good as changed: it is made anew


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        file.chmod(0o400)
    if _read(folder) != files:
        raise OSError(errno.EIO, "what was written is not what was read back", str(folder))


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _hold_lock(file: Path) -> Iterator[None]:
    with open(file, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
