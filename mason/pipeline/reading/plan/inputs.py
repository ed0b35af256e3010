"""Which files are read: those of a path, or those of the table that is there.

Of a table in another format than Parquet, the commit knows types and names that its files lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.errors import NoData, PathNotFound
from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.inspection import PlanRefused, constants_of
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import ReadRequest
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.archives import expand_archives
from mason.pipeline.storage.files import DataFile, describe_links, list_files, without_strangers
from mason.pipeline.storage.format_names import FORMATS, unknown_packing
from mason.pipeline.tables.commit import FormerLayout
from mason.pipeline.tables.files import find_files, newest_commit


def list_inputs(filesystem: pafs.FileSystem, request: ReadRequest) -> tuple[list[DataFile], list[str]]:
    """Return the files, and warnings about others that are left out.

    Raises:
        PathNotFound, Forbidden, UnreadableFile: as a listing of them does.
        NoData: there are none.
        PlanRefused: some are packed in a way that cannot be read: leaving them out would lose their rows.
    """
    try:
        listed = find_files(filesystem, request.location, strict=True)  # what is left out would be lost
    except FormerLayout:  # only its data files are read
        listed = list_files(filesystem, request.location.path, strict=True)
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
    """See that an output which is not a table of Mason's holds no data: to add to it would replace it."""
    try:
        found = list_files(open_filesystem(output.storage), output.path)
    except PathNotFound:
        return
    if found:
        raise PlanRefused(
            [f"{output} holds data, but is not a table of Mason's: nothing can be added to it."],
            hint="Make it one (a merge whose output_path is its input_path), or choose another output_path.",
        )


def plan_own_files(request: ReadRequest, files: Sequence[DataFile]) -> list[PlannedFile]:
    """Return the files as the commit of their table knows them; none if they are not such files.

    Parquet says itself what it holds, and who gives `input_format` wants the files, not the table.

    Raises:
        PlanRefused: another job has committed to the table since the files were listed.
    """
    try:
        commit = newest_commit(request.location)
    except FormerLayout:
        return []
    if commit is None or commit.format == "parquet" or commit.format not in FORMATS or request.options.input_format:
        return []
    known = {each.file.path: each for each in BaseTable.of(commit).plan_files(request.location)}
    if any(file.path not in known for file in files):
        raise PlanRefused(
            [f"{request.location}: another job has changed the table meanwhile."], hint="Run the merge again."
        )
    extracts = request.options.extract_paths
    return [
        replace(known[file.path], is_base=False, own_schema=commit.schema, constants=constants_of(file, extracts))
        for file in files
    ]
