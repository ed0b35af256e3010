"""Tables of Mason's in other formats than Parquet as inputs: their commits know types and names that the files lack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.look import PlanRefused, constants_of
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import ReadRequest
from mason.pipeline.storage.files import DataFile
from mason.pipeline.storage.format_names import FORMATS
from mason.pipeline.tables.files import newest_commit


def plan_own_files(request: ReadRequest, files: Sequence[DataFile]) -> list[PlannedFile]:
    """Return the files as the commit of their table knows them; none if they are not such files.

    Parquet says itself what it holds, and who gives `input_format` wants the files, not the table.

    Raises:
        PlanRefused: another job has committed to the table since the files were listed.
    """
    commit = newest_commit(request.location)
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
