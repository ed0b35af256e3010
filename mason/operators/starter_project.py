"""The project that `mason init` makes: its files lie beside this module as they will lie in the project."""

from __future__ import annotations

import os
from pathlib import Path

from mason.errors import AlreadyExists, StateFailed

RUN_IT = "bash run.sh"


def make_project(root: Path) -> list[Path]:
    """Make the project in a folder and return its files; what is there already is never touched.

    Raises:
        AlreadyExists: a file of the project is there already.
    """
    starter = Path(__file__).parent / "starter"
    sources = sorted(file for file in starter.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    places = [root / source.relative_to(starter) for source in sources]
    taken = [place for place in places if place.exists()]
    if taken:
        raise AlreadyExists(f"There already: {', '.join(map(str, taken))}.", hint="Choose another folder.")
    try:
        for source, place in zip(sources, places, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.read_bytes())
    except OSError as error:
        raise StateFailed(f"{error.filename}: {os.strerror(error.errno or 0)}.") from error
    return places
