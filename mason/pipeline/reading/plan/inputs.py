"""Which files are read: those of a path, or those of the table that is there."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.errors import NoData, PathNotFound
from mason.pipeline.reading.plan.look import PlanRefused
from mason.pipeline.reading.request import ReadRequest
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.archives import expand_archives
from mason.pipeline.storage.files import DataFile, describe_links, list_files, without_strangers
from mason.pipeline.storage.format_names import unknown_packing
from mason.pipeline.tables.files import find_files


def list_inputs(filesystem: pafs.FileSystem, request: ReadRequest) -> tuple[list[DataFile], list[str]]:
    """Return the files, and warnings about others that are left out.

    Raises:
        PathNotFound, Forbidden, UnreadableFile: as a listing of them does.
        NoData: there are none.
        PlanRefused: some are packed in a way that cannot be read: leaving them out would lose their rows.
    """
    listed = find_files(filesystem, request.location, strict=True)  # what is left out would be lost
    expanded = expand_archives(filesystem, listed)
    if expanded.problems:
        raise PlanRefused(expanded.problems.values())
    found = expanded.files
    if packed := [each.name for each in found if unknown_packing(each.name)]:
        raise PlanRefused(
            [f"{name}: it is packed as {unknown_packing(name)}, which cannot be read." for name in packed],
            hint="Unpack it, or pack it as gz, bz2 or zst.",
        )
    files, strangers = (list(found), []) if request.options.input_format else without_strangers(found)
    if not files:
        raise NoData(
            f'There are no data files at "{request.location}".', hint="Names that begin with . or _ do not count."
        )
    of_archives = [f"{name}: {note}." for name, note in expanded.notes]
    left_out = [f"{each.name}: its name is not that of a data file; it is left out." for each in strangers]
    return files, [*of_archives, *left_out, *map(describe_links, (each for each in files if each.links))]


def check_nothing_is_there(output: Location) -> None:
    """See that an output which is no table of Mason's holds no data: to add to it would replace it."""
    try:
        found = list_files(open_filesystem(output.storage), output.path)
    except PathNotFound:
        return
    if found:
        raise PlanRefused(
            [f"{output} holds data, but is no table of Mason's: nothing can be added to it."],
            hint="Make it one (a merge whose output_path is its input_path), or choose another output_path.",
        )
