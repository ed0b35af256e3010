"""What other installed packages bring, found without importing any of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EntryPoint:
    """A name that a package declares in one of Mason's entry-point groups, and the module behind it."""

    name: str
    module: str

    def folder(self) -> Path | None:
        """Return the folder of the module, found by its name alone: no code of the package runs."""
        first, *rest = self.module.split(".")
        for place in sys.path:
            folder = Path(place or ".").joinpath(first, *rest)
            if folder.is_dir():
                return folder
        return self._folder_by_import_hook(first, rest)

    def _folder_by_import_hook(self, first: str, rest: list[str]) -> Path | None:
        # Some editable installations are on no path. A package at the top is found without running it.
        from importlib.util import find_spec

        spec = find_spec(first)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return next((folder for place in places if (folder := Path(place).joinpath(*rest)).is_dir()), None)


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name.

    Reading the files is several times faster than importlib.metadata, which every listing would otherwise pay for.
    """
    found = {each.name: each for text in _entry_point_texts() for each in _parse(text, group)}
    return [found[name] for name in sorted(found)]


def _entry_point_texts() -> Iterator[str]:
    for place in dict.fromkeys(sys.path):
        for name in _dist_infos(place or "."):
            try:
                with open(f"{place or '.'}/{name}/entry_points.txt", "rb") as file:
                    content = file.read()
            except OSError:
                continue  # most packages declare none
            if b"[mason." in content:
                yield content.decode("utf-8")


def _dist_infos(place: str) -> list[str]:
    try:
        return [name for name in os.listdir(place) if name.endswith(".dist-info")]  # noqa: PTH208 (twice as fast)
    except OSError:
        return []  # sys.path names archives and folders that are not there


def _parse(text: str, group: str) -> Sequence[EntryPoint]:
    found, inside = [], False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, module = line.partition("=")
            found.append(EntryPoint(name.strip(), module.strip().replace(":", ".")))
    return found


def find_version(distribution: str) -> str | None:
    """Return the version of an installed distribution without importing it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
