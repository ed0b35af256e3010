"""Mason's own code: what the workers of a warm server run, and what is shipped to a cluster."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import mason

PACKAGE = Path(mason.__file__).parent
_HASHED = 0b01  # PEP 552: by hash, unchecked


def code_digest() -> str:
    """Return a digest of every file of Mason's package, so that changed code is never mistaken for the old."""
    digest = hashlib.sha256()
    for file in _files(PACKAGE):
        digest.update(f"{file.relative_to(PACKAGE)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def distributions() -> list[str]:
    """Return the names and versions of all that is installed beside this interpreter."""
    folders = {path for path in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) if path}
    return sorted(
        place.name
        for folder in map(Path, folders)
        if folder.is_dir()
        for place in folder.iterdir()
        if place.name.endswith("-info")
    )


def python_path() -> str:
    """Return the PYTHONPATH with which another process of this interpreter imports this very Mason."""
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    root = str(PACKAGE.parent)
    installed = root in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    paths = given if installed else [root, *given]
    return os.pathsep.join(dict.fromkeys(os.path.abspath(path) for path in paths))  # noqa: PTH100 (no symlink resolved)


def write_archive(folder: Path, kernel: str) -> Path:
    """Write a zip file with Mason, and the kernel's package where that is another, and return it.

    It is named by its content: Spark refuses an artifact of the same name with other bytes.
    """
    names = dict.fromkeys(["mason", kernel.partition(":")[0].partition(".")[0]])
    draft = folder / "code.zip"
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, name in _sources(names):
            _add(archive, name, file.read_bytes())
    final = folder / f"mason-{hashlib.sha256(draft.read_bytes()).hexdigest()[:16]}.zip"
    draft.rename(final)
    return final


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file with a fixed date, so that the same code is the same archive; a module with its compiled form.

    From an archive Python keeps nothing that it has compiled: every worker would compile all of Mason anew.
    """
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    if name.endswith(".py"):
        archive.writestr(zipfile.ZipInfo(f"{name}c"), _compile_module(name, content), zipfile.ZIP_DEFLATED)


def _compile_module(name: str, source: bytes) -> bytes:
    """Return a module as Python caches it, with a hash instead of a date, which nobody is to check.

    A worker with another version of Python passes over it and compiles the source beside it.
    """
    code = compile(source, name, "exec", dont_inherit=True)
    flags = _HASHED.to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + flags + importlib.util.source_hash(source) + marshal.dumps(code)


def _sources(names: Iterable[str]) -> Iterator[tuple[Path, str]]:
    for name in names:
        spec = PACKAGE / "__init__.py" if name == "mason" else _origin(name)
        if spec.name == "__init__.py":
            for file in _files(spec.parent):
                yield file, str(Path(name) / file.relative_to(spec.parent))
        else:
            yield spec, spec.name


def _origin(name: str) -> Path:
    module = sys.modules.get(name)
    spec = module.__spec__ if module else importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Path(spec.origin)


def _files(package: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(package):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for name in sorted(files):
            if not name.endswith((".pyc", ".pyo")):
                yield Path(folder) / name
