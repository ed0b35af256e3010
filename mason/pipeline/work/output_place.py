"""Where a job may write: apart from what it reads, or in its place, and never over what must not go."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from mason.engines.execution.models.job import Job
from mason.errors import BadPath
from mason.pipeline.storage.address import LOCAL
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.foreign_files import Foreign, check_foreign, describe_kept


def real_path(path: str) -> str:
    """Return where a path on this machine leads to; on an object store, where none begins with a slash, the path."""
    return os.path.realpath(path) if path.startswith("/") else path.rstrip("/")


def is_same_place(one: str, other: str) -> bool:
    """Say whether two paths lead to the same folder, though a link may be in one of them."""
    return real_path(one) == real_path(other)


def check_apart(inputs: str, output: str) -> None:
    """See that neither of two folders lies inside the other; they may be the same.

    Raises:
        BadPath: one does.
    """
    read, written = _as_folder(inputs), _as_folder(output)
    if read != written and written.startswith(read):
        raise BadPath(f"The output {output} lies inside the input {inputs}: a second job would read it, too.")
    if read != written and read.startswith(written):
        raise BadPath(f"The input {inputs} lies inside the output {output}, which would be replaced.")


def overlap(one: str, other: str) -> bool:
    """Say whether two folders are the same, or one of them lies inside the other."""
    first, second = _as_folder(one), _as_folder(other)
    return first.startswith(second) or second.startswith(first)


def check_output(storage: str, inputs: Sequence[str], output: str, foreign: str = Foreign.REFUSE) -> None:
    """See that a table can be written to the output; it may be one of the inputs.

    Raises:
        BadPath: it lies inside an input, or the other way round, or holds what must not go.
        ForeignFiles, ChangedFiles: it is a table that holds data of others, or over whose files they have written.
    """
    for path in inputs:
        check_apart(path, output)
    table = open_table(storage, output, foreign)
    table.check_room()
    check_foreign(table, output)


def describe_kept_files(job: Job) -> Iterator[str]:
    """Yield the warnings for data files of others that a job leaves where it writes."""
    foreign = job.options.get("foreign", Foreign.REFUSE)
    for path in (job.outputs.get("path"), job.outputs.get("removed")):
        if path:
            yield from describe_kept(open_table(job.inputs.get("storage", LOCAL), path, foreign), path)


def _as_folder(path: str) -> str:
    return real_path(path).rstrip("/") + "/"
