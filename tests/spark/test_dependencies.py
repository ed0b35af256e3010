"""The archive of the packages that tasks need."""

from __future__ import annotations

import os
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackagePath
from pathlib import Path
from typing import Any

import pytest

from mason.clients.spark import dependencies
from mason.clients.spark.dependencies import dependency_archive


class Package:
    """A package that is installed in a folder."""

    name, version, requires = "shop", "1.0", ()

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        self._folder = folder
        self._files = files

    @property
    def files(self) -> list[PackagePath]:
        return [self._file(name) for name in self._files]

    def _file(self, name: str) -> PackagePath:
        file = PackagePath(name)
        file.dist = self  # type: ignore[assignment]
        return file

    def locate_file(self, file: PackagePath) -> Path:
        return self._folder / file


Install = Callable[..., Package]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes a package of these files the only one that is needed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(dependencies, "_NEEDED", ("shop",))

    def installed(*files: str) -> Package:
        package = Package(tmp_path, files)
        monkeypatch.setattr(dependencies, "distribution", lambda name: package)
        return package

    return installed


@pytest.fixture
def shop(tmp_path: Path, install: Install) -> Package:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(name)
    return install("a.py", "b.py")


def test_threads_that_make_the_archive_at_once_all_get_the_whole_of_it(
    shop: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    add = tarfile.TarFile.add

    def together(self: tarfile.TarFile, name: Any, *arguments: Any, **more: Any) -> None:
        both.wait(30)
        add(self, name, *arguments, **more)

    monkeypatch.setattr(tarfile.TarFile, "add", together)

    with ThreadPoolExecutor(2) as pool:
        archives = [each.result() for each in [pool.submit(dependency_archive) for _ in range(2)]]

    assert archives[0] == archives[1]
    assert list(archives[0].parent.iterdir()) == [archives[0]]
    with tarfile.open(archives[0]) as tar:
        assert [tar.extractfile(each).read() for each in tar] == [b"a.py", b"b.py"]  # type: ignore[union-attr]


def test_a_file_that_somebody_removed_from_a_package_is_left_out(install: Install, shop: Package) -> None:
    install("a.py", "gone.py")

    with tarfile.open(dependency_archive()) as tar:
        assert tar.getnames() == ["a.py"]


def test_an_archive_that_cannot_be_written_leaves_nothing(shop: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "add", full)

    with pytest.raises(OSError, match="No space left"):
        dependency_archive()
    assert list(dependencies._cache().iterdir()) == []


def test_archives_that_nobody_used_for_a_week_are_removed(shop: Package) -> None:
    first = dependency_archive()
    before = time.time() - 8 * 24 * 3600
    os.utime(first, (before, before))
    shop.version = "2.0"
    second = dependency_archive()
    assert list(second.parent.iterdir()) == [second]

    shop.version = "3.0"
    third = dependency_archive()
    assert sorted(third.parent.iterdir()) == sorted([second, third]), "a job may still hand out the former one"


def test_an_archive_that_is_used_is_not_an_old_one(shop: Package) -> None:
    archive = dependency_archive()
    os.utime(archive, (0, 0))

    assert dependency_archive() == archive
    assert archive.stat().st_mtime > time.time() - 3600


def test_what_writes_sheets_goes_along() -> None:
    found = {each.name.lower() for name in dependencies._NEEDED for each in dependencies._with_requirements(name)}

    assert {"xlsxwriter", "pyarrow", "boto3"} <= found
