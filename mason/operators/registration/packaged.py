"""What nobody has to register: the operators of installed packages, and the definitions that come with Mason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mason.errors import NoData
from mason.operators.registration.outline import find_folders, outline_folder
from mason.state.models import Kind, Name, NewRegistration, Origin, Registration
from mason.util.packaged import folder_of_examples
from mason.util.packages import entry_points

ENTRY_POINT_GROUP = "mason.operators"


def outline_packaged(kind: Kind) -> list[Registration]:
    """Return them as they are written, by name; a package's goes before Mason's own."""
    own, _ = outline_folder(_own_folder(kind), kind, Origin.MASON)
    brought = [each.registration for each in list_packaged_operators()] if kind is Kind.OPERATOR else []
    return list({each.name: each for each in (*own, *brought)}.values())


def list_packaged(kind: Kind) -> list[NewRegistration]:
    """Return them with their digests and files."""
    own = [_read_own(kind, folder) for folder in find_folders(_own_folder(kind), kind)]
    brought = list_packaged_operators() if kind is Kind.OPERATOR else []
    return list({each.registration.name: each for each in (*own, *brought)}.values())


def find_packaged(name: Name) -> NewRegistration | None:
    """Return the one of that name, if there is one."""
    brought = list_packaged_operators() if name.kind is Kind.OPERATOR else []
    found = next((each for each in brought if each.registration.name == name), None)
    folders = [] if found else find_folders(_own_folder(name.kind), name.kind, name)
    return _read_own(name.kind, folders[0]) if folders else found


def list_packaged_operators() -> list[NewRegistration]:
    """Return the operators that installed packages bring through their entry points."""
    return [each for point in entry_points(ENTRY_POINT_GROUP) for each in _read_package(point.folder())]


def read_packaged_files(registration: Registration) -> Mapping[str, bytes]:
    """Return the files of a definition that came from here; nothing for any other."""
    from mason.operators.registration.definition_folder import read_files

    return read_files(Path(registration.source)) if registration.origin in (Origin.PACKAGE, Origin.MASON) else {}


def _own_folder(kind: Kind) -> Path:
    return folder_of_examples() / f"{kind}s"


def _read_own(kind: Kind, folder: Path) -> NewRegistration:
    """Read one of Mason's own, which Mason's tests have checked."""
    from mason.operators.registration.definition_folder import digest_of, read_files

    [outline] = outline_folder(folder, kind, Origin.MASON)[0]
    files = read_files(folder)
    return NewRegistration(outline._replace(digest=digest_of(files)), files)


def _read_package(folder: Path | None) -> Sequence[NewRegistration]:
    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS

    if folder is None:
        return ()
    try:
        reading = read_definitions(folder, [OPERATORS])
    except NoData as error:
        _warn(str(error))
        return ()
    for problem in reading.problems:  # one broken package must not take the others' operators away
        _warn(problem)
    return [each._replace(registration=each.registration._replace(origin=Origin.PACKAGE)) for each in reading.valid]


def _warn(message: str) -> None:
    import logging  # only a broken package pays for it

    logging.getLogger("mason").warning("%s", message)
