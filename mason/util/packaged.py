"""The examples that come with Mason, found from anywhere by the names that they have in a clone."""

from __future__ import annotations

from pathlib import Path

_EXAMPLES = ("mason", "examples")


def find_example(path: str) -> Path:
    """Return a path as it was written, or where Mason is installed if that is where it is.

    `mason/examples/operators/` and `examples/operators/` work in a clone, and as well where Mason is a package.
    """
    here = Path(path)
    if here.exists() or here.is_absolute():
        return here
    for prefix in (_EXAMPLES, _EXAMPLES[1:]):
        packaged = _path_in_package(here, prefix)
        if packaged and packaged.exists():
            return packaged
    return here


def own_copy(path: str, home: Path) -> str:
    """Return a folder that may be written to: a folder of the examples that is not here is copied to Mason's home.

    What is installed is for reading: others may use it, and a package manager removes what it knows. Only the whole
    name counts, `mason/examples/…`: a folder `examples` that is yet to be made is somebody's own.
    """
    here = Path(path)
    packaged = None if here.exists() or here.is_absolute() else _path_in_package(here, _EXAMPLES)
    if packaged is None or not packaged.is_dir():
        return path
    copy = home.joinpath("examples", *packaged.relative_to(folder_of_examples()).parts)
    if not copy.exists():
        try:
            _copy_whole(packaged, copy)
        except OSError:  # a home that cannot be written to: what is installed can be read all the same
            return str(packaged)
    return str(copy)


def folder_of_examples() -> Path:
    """Return the folder of the examples that came with this Mason."""
    return _find_examples() / "examples"


def _path_in_package(here: Path, prefix: tuple[str, ...]) -> Path | None:
    """Where an example would be if Mason is installed as a package."""
    if here.parts[: len(prefix)] != prefix:
        return None
    return folder_of_examples().joinpath(*here.parts[len(prefix) :])


def _find_examples() -> Path:
    import mason

    return Path(mason.__file__).parent


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a folder so that nobody ever sees half of it; another process may do the same."""
    import shutil  # every listing reads this module, and hardly any command copies
    from uuid import uuid4

    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.with_name(f".{target.name}-{uuid4().hex[:8]}")
    shutil.copytree(source, staging, ignore=shutil.ignore_patterns("__pycache__", ".mason"))
    try:
        staging.rename(target)
    except OSError:
        shutil.rmtree(staging)
        if not target.is_dir():
            raise
