"""A file on this machine that a parameter names, such as a page or an export: not a table, and in no storage."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.errors import BadPath
from mason.pipeline.storage.format_names import format_of_name
from mason.pipeline.storage.side_files import is_side_file
from mason.pipeline.tables.places import table_around
from mason.pipeline.work.output_place import overlap
from mason.util.confinement import is_in_home, name_beginning_with, name_below, require_below, require_visible

_ELSEWHERE = "Choose another place for the file."


def local_file(config: ValidConfig, text: str) -> str:
    """Return the whole path of a file; where paths are confined, relative to the first folder that they may be in.

    Raises:
        BadPath: it is outside of the folders that may be used, or hidden there, or not on this machine.
    """
    plain = text.removeprefix("file://")
    if "://" in plain or "\0" in plain:
        raise BadPath(f'"{text}" is not a file on this machine.', hint="Such a file is written here, not to a storage.")
    if config.roots is None:
        return os.path.abspath(plain)  # noqa: PTH100 (links stay what they are)
    path = os.path.abspath(os.path.join(config.roots[0], plain))  # noqa: PTH100, PTH118
    require_below(path, config.roots, text)
    require_visible(path, config.roots, text)
    return name_below(path, config.roots)


def side_file(config: ValidConfig, text: str, tables: Sequence[Location] = ()) -> str:
    """Return the whole path of a file that is to be written: no part of a table, and not among what programs hide.

    What is there already is looked at when it is written, see `pipeline.side_files`.

    Args:
        tables: the tables and paths that the operator reads and writes.

    Raises:
        BadPath: it is outside of the folders that may be used, has a hidden name or one with `_`, or is in a table
            or in MASON_HOME.
    """
    path = local_file(config, text)
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))  # noqa: PTH118, PTH119, PTH120
    if config.roots is None and is_in_home(real):  # where paths are confined, a root may lie in there
        raise BadPath(
            f"{path} cannot be written: it would lie in MASON_HOME, among Mason's own files.", hint=_ELSEWHERE
        )
    for each in dict.fromkeys([path, real]):
        _check_names(config, each, text)
    table = next(_tables_around(config, Path(real), tables), "")
    if table:
        raise BadPath(f"{path} would lie in the table {table}, whose files are its data.", hint=_ELSEWHERE)
    return path


def _check_names(config: ValidConfig, path: str, text: str) -> None:
    """Refuse names that begin with a dot or `_`: programs keep there what is their own."""
    usual = [os.getcwd(), os.path.expanduser("~"), tempfile.gettempdir()]  # noqa: PTH109, PTH111
    folders = [*usual, *config.database_folders] if config.roots is None else config.roots
    own = name_beginning_with((".", "_"), path, [*folders, *map(os.path.realpath, folders)])
    if own:
        raise BadPath(
            f'"{text}" cannot be written: "{own}" begins with a dot or "_", and such names belong to programs.',
            hint=_ELSEWHERE,
        )


def _tables_around(config: ValidConfig, file: Path, tables: Iterable[Location]) -> Iterator[str]:
    """Yield the tables that a file would lie in: of Mason's, of other programs, of the operator's, in databases."""
    found = table_around(file)
    if found:
        yield str(found)
    yield from (str(each) for each in tables if overlap(Location(str(file)), each))
    for folder in config.database_folders:
        if file.is_relative_to(folder):
            yield from map(str, filter(_holds_data, _in_databases(Path(folder), file)))


def _in_databases(folder: Path, file: Path) -> Iterator[Path]:
    """Yield the folders above a file that are in a database, which is a folder in `folder`: each could be a table."""
    for above in file.parents:
        if folder not in above.parent.parents:
            return
        yield above


def _holds_data(folder: Path) -> bool:
    """Say whether a folder has data files in it, or in partitions; an export that Mason wrote there is none."""
    if not folder.is_dir():
        return False
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if "=" in name]
        data = [name for name in files if not name.startswith((".", "_")) and format_of_name(name)]
        if not all(is_side_file(f"{place}/{name}") for name in data):
            return True
    return False
