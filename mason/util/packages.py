"""What other installed packages bring, found without importing any of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

OWN_DISTRIBUTION = "mason-data"
_OWN_ENTRY_POINTS = Path(__file__).parents[1] / "entry_points.txt"


@dataclass(frozen=True)
class EntryPoint:
    """A name that a package declares in one of Mason's entry-point groups, and the module behind it."""

    name: str
    module: str
    value: str = ""
    """As it is declared: `acme.jobs:SampleWork`."""
    distribution: str = ""
    """What was installed, as pip calls it."""

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
    found = {each.name: each for each in declared_points(group)}
    return [found[name] for name in sorted(found)]


def declared_points(group: str) -> list[EntryPoint]:
    """Return all that installed packages declare in a group, though several have the same name.

    A package that is found at two places counts once, as it does for Python: at the first of them. What Mason itself
    declares is read from its own folder, since a checkout knows of it without being installed again.
    """
    texts: dict[str, str] = {}
    for distribution, text in _entry_point_texts():
        texts.setdefault(distribution, text)
    return [each for distribution, text in texts.items() for each in _parse(text, group, distribution)]


def _entry_point_texts() -> Iterator[tuple[str, str]]:
    yield OWN_DISTRIBUTION, _OWN_ENTRY_POINTS.read_text(encoding="utf-8")
    for place in dict.fromkeys(sys.path):
        for name in _dist_infos(place or "."):
            folder = f"{place or '.'}/{name}"
            try:
                with open(f"{folder}/entry_points.txt", "rb") as file:
                    content = file.read()
            except OSError:
                continue  # most packages declare none
            if b"[mason." in content:
                yield _distribution(folder, name), content.decode("utf-8")


def _distribution(folder: str, name: str) -> str:
    """The name of what was installed; by its folder, if it does not say."""
    try:
        with open(f"{folder}/METADATA", encoding="utf-8") as file:
            named = next((line.partition(":")[2] for line in file if line.lower().startswith("name:")), "")
    except (OSError, UnicodeDecodeError):
        named = ""
    said = named.strip() or name.removesuffix(".dist-info").partition("-")[0]
    return said.replace("_", "-").lower()


def _dist_infos(place: str) -> list[str]:
    try:
        return [name for name in os.listdir(place) if name.endswith(".dist-info")]  # noqa: PTH208 (twice as fast)
    except OSError:
        return []  # sys.path names archives and folders that are not there


def _parse(text: str, group: str, distribution: str) -> Sequence[EntryPoint]:
    found, inside = [], False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, declared = line.partition("=")
            value = declared.strip()
            found.append(EntryPoint(name.strip(), value.replace(":", "."), value, distribution))
    return found


def find_version(distribution: str) -> str | None:
    """Return the version of an installed distribution without importing it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
