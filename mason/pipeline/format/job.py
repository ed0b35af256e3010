"""What writing a table in another format is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from mason.engines.execution.models.job import Job
from mason.errors import BadInput
from mason.pipeline.foreign_files import Foreign
from mason.pipeline.output_place import is_same_place
from mason.util.sizes import HOW, read_size

SMALLEST_FILE = 1024
LARGEST_FILE = 10**15


@dataclass(frozen=True)
class FormatOptions:
    """How a table is written; what is empty is left to the format."""

    format: str
    columns: Sequence[str] = ()
    filter: str = ""
    """A condition in SQL: rows for which it is not true are left out."""
    partition_columns: Sequence[str] = ()
    file_size: str = ""
    compression: str = ""
    sample_size: int | None = None


@dataclass(frozen=True)
class FormatJob:
    """Write the table at a path in another format. `storage` is the address of the file system that both lie in."""

    path: str
    output: str
    options: FormatOptions
    storage: str = field(default="file:///")
    foreign: str = Foreign.REFUSE

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the table itself."""
        return is_same_place(self.path, self.output)

    def to_job(self) -> Job:
        """Return the job as an engine takes it."""
        inputs = {"path": self.path, "storage": self.storage}
        options = {**asdict(self.options), "foreign": str(self.foreign)}
        return Job("format", inputs, {"path": self.output}, options)

    @classmethod
    def of(cls, job: Job) -> FormatJob:
        """Return what a job describes."""
        options = dict(job.options)
        foreign = options.pop("foreign", Foreign.REFUSE)
        return cls(job.inputs["path"], job.outputs["path"], FormatOptions(**options), job.inputs["storage"], foreign)


def parse_size(text: str) -> int:
    """Return the bytes that a text such as `128MB` or `1 GiB` says; 0 for none.

    Raises:
        BadInput: it is no size, too small for a file to be worth it, or larger than any.
    """
    if not text:
        return 0
    size = read_size(text)
    if size is None:
        raise BadInput(f'"{text}" is no size.', hint=HOW)
    if size < SMALLEST_FILE:
        raise BadInput(f'"{text}" is too small for a file.', hint=f"The least is {SMALLEST_FILE} bytes.")
    if size > LARGEST_FILE:
        raise BadInput(f'"{text}" is too large for a file.', hint="The most is 1000TB.")
    return size
