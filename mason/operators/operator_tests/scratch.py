"""A place of its own for every run of a test: its files, its home, and nobody else's."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mason.operators.operator_tests.guard import Guard, guard_folder
from mason.util.environment import MasonEnvironment

FOLDER = "folder"


@dataclass(frozen=True)
class Place:
    """Where one run of a test happens."""

    root: Path

    @property
    def work(self) -> Path:
        """What paths are relative to."""
        return self.root / "work"

    @property
    def env(self) -> MasonEnvironment:
        return MasonEnvironment(self.root / "home")

    def snapshot(self) -> dict[str, str]:
        """Return what is in the working folder: the digest of every file, by its path."""
        return snapshot(self.work)

    def strays(self) -> list[str]:
        """Return what lies beside the working folder and was not put there by Mason."""
        allowed = {self.work, self.env.home, self.root}
        return [
            os.path.relpath(each, self.work)
            for folder in (self.root, self.root.parent)
            for each in sorted(folder.iterdir())
            if each not in allowed
        ]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for all runs, which is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="mason-test-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def place_of_its_own(scratch: Path) -> Iterator[tuple[Place, Guard]]:
    """Yield a new place; until it is left it is the working directory and has MASON_HOME, and only it is written to."""
    # Two folders deep: what an operator writes to ../x and ../../x is still found, and removed.
    place = Place(Path(tempfile.mkdtemp(prefix="run-", dir=scratch)))
    place.work.mkdir()
    before, variables, bytecode = Path.cwd(), dict(os.environ), sys.dont_write_bytecode
    os.chdir(place.work)
    os.environ["MASON_HOME"] = str(place.env.home)
    for name in ("MASON_STATE", "MASON_PROJECT"):  # what a test does is nobody else's affair
        os.environ.pop(name, None)
    sys.dont_write_bytecode = True  # the folder of an operator is not the place for what Python remembers of it
    try:
        with guard_folder(scratch) as guard:
            yield place, guard
        for path in map(Path, guard.left_behind):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    finally:
        sys.dont_write_bytecode = bytecode
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(before)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(exist_ok=True)  # what an operator left beside its place is not to be blamed on the next


def snapshot(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by its path; folders are in it, too."""
    found: dict[str, str] = {}
    for each in sorted(folder.rglob("*")):
        if "__pycache__" in each.parts:
            continue
        plain = each.is_file() and not each.is_symlink()
        found[each.relative_to(folder).as_posix()] = _digest(each) if plain else FOLDER
    return found


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def find_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths that are new, gone or different."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def find_written(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths that are new, gone or different, but for what a job leaves that has published nothing.

    That is the lock of a table, and the folders around it in which there is nothing else.
    """
    changed = find_changes(before, after)
    locks = [path for path in changed if path.endswith("lock") and ".mason" in path]
    files = [path for path in changed if path not in locks and FOLDER not in (before.get(path), after.get(path))]

    def is_of_locks(path: str) -> bool:
        inside = f"{path}/"
        return any(each.startswith(inside) for each in locks) and not any(each.startswith(inside) for each in files)

    return [path for path in changed if path not in locks and not (path not in before and is_of_locks(path))]
