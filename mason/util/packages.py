"""What other installed packages bring, found without importing any of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from mason.errors import BrokenPlugin

if TYPE_CHECKING:
    from pathlib import Path

OWN_DISTRIBUTION = "mason-data"
_OWN_ENTRY_POINTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "entry_points.txt")  # noqa: PTH118, PTH120


class EntryPoint(NamedTuple):
    """A name that a package declares in one of Mason's entry-point groups, and the module behind it."""

    name: str
    module: str
    value: str = ""
    """As it is declared: `acme.jobs:SampleWork`."""
    distribution: str = ""
    """What was installed, as pip calls it."""

    def load(self, what: str) -> object:
        """Import what was declared; `what` is what a message calls it, such as `command`.

        Raises:
            BrokenPlugin: it cannot be imported.
        """
        from importlib import import_module

        module, _, attribute = self.value.partition(":")
        try:
            found = import_module(module)
            return getattr(found, attribute) if attribute else found
        except Exception as error:
            raise self.broken(what, f"{type(error).__name__}: {error}") from error

    def broken(self, what: str, problem: str) -> BrokenPlugin:
        """Return the error of a plug-in that cannot be used, with its name and its package."""
        return BrokenPlugin(
            f'The {what} "{self.name}" of the package {self.distribution} ({self.value}) cannot be used: {problem}.',
            hint=f"Mend or uninstall {self.distribution}.",
        )

    def source(self) -> Path | None:
        """Return the file of the module, found by its name alone: no code of the package runs."""
        from pathlib import Path

        module = self.value.partition(":")[0]
        package = EntryPoint(self.name, module).folder()
        if package is not None:
            return package / "__init__.py"
        parent, _, last = module.rpartition(".")
        folders = [EntryPoint(self.name, parent).folder()] if parent else [Path(each or ".") for each in sys.path]
        return next((file for each in folders if each and (file := each / f"{last}.py").is_file()), None)

    def folder(self) -> Path | None:
        """Return the folder of the module, found by its name alone: no code of the package runs."""
        from pathlib import Path  # `mason --help` does without

        first, *rest = self.module.split(".")
        for place in sys.path:
            folder = Path(place or ".").joinpath(first, *rest)
            if folder.is_dir():
                return folder
        return self._folder_by_import_hook(first, rest)

    def _folder_by_import_hook(self, first: str, rest: list[str]) -> Path | None:
        # Some editable installations are on no path. A package at the top is found without running it.
        from importlib.util import find_spec
        from pathlib import Path

        spec = find_spec(first)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return next((folder for place in places if (folder := Path(place).joinpath(*rest)).is_dir()), None)


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name.

    Reading the files is several times faster than importlib.metadata, which every listing would otherwise pay for.
    """
    found = {each.name: each for each in list_entry_points(group)}
    return [found[name] for name in sorted(found)]


def points_by_name(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of a group by their names; who uses a name that several packages declare is told."""
    found: dict[str, list[EntryPoint]] = {}
    for each in list_entry_points(group):
        found.setdefault(each.name, []).append(each)
    return found


def error_of_double_name(what: str, points: Sequence[EntryPoint]) -> BrokenPlugin:
    """Return the error of a name that several packages declare; none of them is preferred."""
    packages = " and ".join(f"{each.distribution} ({each.value})" for each in points)
    return BrokenPlugin(
        f'The {what} "{points[0].name}" is declared by several packages: {packages}.',
        hint="Uninstall all of them but one.",
    )


def list_entry_points(group: str) -> list[EntryPoint]:
    """Return all that installed packages declare in a group, though several have the same name.

    A package that is found at two places counts once, as it does for Python: at the first of them. What Mason itself
    declares is read from its own folder, since a checkout knows of it without being installed again.
    """
    texts = _texts_by_distribution(tuple(sys.path))
    return [each for distribution, text in texts for each in _parse(text, group, distribution)]


@lru_cache(maxsize=1)
def _texts_by_distribution(path: tuple[str, ...]) -> Sequence[tuple[str, str]]:
    """Read each file once, whatever is asked for: a command asks for commands, roles and clients."""
    texts: dict[str, str] = {}
    for distribution, text in _entry_point_texts():
        texts.setdefault(distribution, text)
    return tuple(texts.items())


def _entry_point_texts() -> Iterator[tuple[str, str]]:
    with open(_OWN_ENTRY_POINTS, encoding="utf-8") as own:
        yield OWN_DISTRIBUTION, own.read()
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
