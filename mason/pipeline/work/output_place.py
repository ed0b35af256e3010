"""Where a job may write: apart from what it reads, or in its place, and never over what must not go."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location, locations_in
from mason.errors import BadPath, Unsupported
from mason.pipeline.storage.address import abilities_of, open_filesystem
from mason.pipeline.storage.files import require_inside
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.foreign_files import Foreign, check_foreign, describe_kept


def real_path(path: str) -> str:
    """Return where a path on this machine leads to; on an object store, where none begins with a slash, the path."""
    return os.path.realpath(path) if path.startswith("/") else path.rstrip("/")


def is_same_place(one: Location, other: Location) -> bool:
    """Say whether two places are the same folder, though a link may be in the path of one of them."""
    return one.scheme == other.scheme and real_path(one.path) == real_path(other.path)


def check_apart(inputs: Location, output: Location) -> None:
    """See that neither of two folders lies inside the other; they may be the same.

    Raises:
        BadPath: one does.
    """
    if inputs.scheme != output.scheme:
        return
    read, written = _as_folder(inputs), _as_folder(output)
    if read != written and written.startswith(read):
        raise BadPath(f"The output {output} lies inside the input {inputs}: a second job would read it, too.")
    if read != written and read.startswith(written):
        raise BadPath(f"The input {inputs} lies inside the output {output}, which would be replaced.")


def overlap(one: Location, other: Location) -> bool:
    """Say whether two folders are the same, or one of them lies inside the other."""
    if one.scheme != other.scheme:
        return False
    first, second = _as_folder(one), _as_folder(other)
    return first.startswith(second) or second.startswith(first)


def check_output(inputs: Sequence[Location], output: Location, foreign: str = Foreign.REFUSE) -> None:
    """See that a table can be written to the output; it may be one of the inputs.

    Raises:
        BadPath: it lies inside an input, or the other way round, or holds what must not go; or what belongs to it
            besides its data would lie outside of the folders that may be used.
        ForeignFiles, ChangedFiles: it is a table that holds data of others, or over whose files they have written.
        Unsupported: no table can be committed in its storage.
    """
    check_holds_tables(output)
    for place in inputs:
        check_apart(place, output)
    table = open_table(output, foreign)
    require_inside(open_filesystem(output.storage), table.room)
    table.check_room()
    check_foreign(table, str(output))


def check_holds_tables(output: Location) -> None:
    """See that the storage of an output can commit a table.

    Raises:
        Unsupported: it neither writes on conditions nor exchanges folders.
    """
    if not abilities_of(output.storage).holds_tables:
        raise Unsupported(
            f"No table can be written to {output}: its storage neither writes on conditions nor exchanges folders.",
            hint="Write it to another storage.",
        )


def describe_kept_files(job: Job) -> Iterator[str]:
    """Yield the warnings for data files of others that a job leaves where it writes."""
    foreign = job.options.get("foreign", Foreign.REFUSE)
    for name in ("path", "removed"):
        for place in locations_in(job.outputs.get(name)):
            yield from describe_kept(open_table(place, foreign), str(place))


def _as_folder(place: Location) -> str:
    return real_path(place.path).rstrip("/") + "/"
