"""Definitions as they are written: found and read for a listing, which is quick, and neither checks nor runs them."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mason.state.models import Kind, Name, Origin, Registration
from mason.util.names import is_identifier
from mason.util.yaml_file import Problem, YamlProblem, parse_value

_IGNORED = frozenset({"__pycache__"})


def definition_file(kind: Kind) -> str:
    """Return what the file of a definition is called: `operator.yaml`."""
    return f"{kind}.yaml"


def outline_folder(folder: Path, kind: Kind, origin: Origin) -> tuple[list[Registration], list[Problem]]:
    """Return the definitions below a folder without their digests, and what is wrong with those that have no name."""
    found, problems = [], []
    with _without_collections():
        for place, content in _read_each(folder, definition_file(kind)):
            try:
                found.append(_outline(kind, place, content, origin))
            except YamlProblem as error:
                problems.append(error.problem)
    return found, problems


@contextmanager
def _without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: hundreds of definitions are thousands of objects, and all of them stay."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def find_folders(folder: Path, kind: Kind, name: Name | None = None) -> list[Path]:
    """Return the folders of the definitions below a folder: of all, or of those that have the name."""
    found = []
    for place, content in _read_each(folder, definition_file(kind)):
        if name is None:
            found.append(Path(place))
        # Most are told from it by their bytes, without being parsed.
        elif name.command.encode() in content and name.namespace.encode() in content:
            try:
                if _outline(kind, place, content, Origin.PROJECT).name == name:
                    found.append(Path(place))
            except YamlProblem:
                continue
    return found


def counts(name: str) -> bool:
    """Say whether a file or folder of that name can be a part of a definition."""
    return not name.startswith(".") and name not in _IGNORED and not name.endswith(".pyc")


def _read_each(folder: Path, file_name: str) -> Iterator[tuple[str, bytes]]:
    """Yield each folder that has a definition, with the content of its file; what cannot be read has none."""
    folders = [str(folder)]
    while folders:
        place = folders.pop()
        try:
            with os.scandir(place) as entries:  # as os.walk does, in half of its time
                found = {each.name: each.is_dir(follow_symlinks=False) for each in entries}
        except OSError:
            continue
        if found.get(file_name) is False:
            try:
                with open(f"{place}/{file_name}", "rb") as stream:
                    yield place, stream.read()
            except OSError:
                yield place, b""
        folders += [f"{place}/{name}" for name in sorted(found, reverse=True) if found[name] and counts(name)]


def _outline(kind: Kind, place: str, content: bytes, origin: Origin) -> Registration:
    file = f"{place}/{definition_file(kind)}"
    try:
        read = parse_value(content.decode("utf-8-sig"), name=file)
    except UnicodeDecodeError as error:
        raise YamlProblem(Problem(file, 0, "", f"is not UTF-8 text (byte {error.start})")) from error
    value: Any = read if isinstance(read, dict) else {}
    namespace, command = value.get("namespace") or "", value.get("command")
    for key, word in (("namespace", namespace), ("command", command)):
        if not isinstance(word, str) or not (is_identifier(word) or (key == "namespace" and not word)):
            raise YamlProblem(Problem(file, 0, key, "the definition has no name that can be used"))
    return Registration(Name(kind, namespace, str(command)), "", value, place, origin=origin)
