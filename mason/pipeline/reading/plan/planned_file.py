"""A file of a merge as the plan pins it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.scanning.splits import Range
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import NOTHING, Evidence, merge


@dataclass(frozen=True, kw_only=True)
class PlannedFile:
    """A file as it was when the plan was made, and how it is read."""

    file: DataFile
    stamp: int
    """By which the file is known again."""
    schema: FileSchema
    constants: Mapping[str, str | None]
    """Columns that the file's folders give."""
    ranges: Sequence[Range] = ()
    """Where a large file can be cut; none for a file that is read whole."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Names in the file that are others in the table."""
    beyond_sample: Mapping[str, Evidence] = field(default_factory=dict)
    """What tasks saw in columns, by their names in the table, that the sample had not shown."""
    is_base: bool = False
    """The file is one of the table's own, which is written anew because a column of it widens."""
    storage: str = ""
    """The address of the storage that the file is in, where that is not the one of the input."""
    own_schema: str = ""
    """The schema of the table that the file is one of, where that is the input and says more than the file."""
    is_scratch: bool = False
    """The file is gone after the job: nothing is kept of where the rows were."""

    def find_evidence(self, name: str) -> Evidence:
        """What is known of a column of this file."""
        return merge(self.schema.columns.get(name, NOTHING), self.beyond_sample.get(name, NOTHING))

    def with_seen(self, columns: Mapping[str, Evidence]) -> PlannedFile:
        """Return the file with what tasks saw in some of its columns."""
        known = self.beyond_sample
        wider = {name: merge(known.get(name, NOTHING), seen) for name, seen in columns.items()}
        return replace(self, beyond_sample={**known, **wider})

    @property
    def is_source(self) -> bool:
        """Whether the file is what the user calls an input."""
        return not self.is_base and not self.is_scratch

    @property
    def parts(self) -> Sequence[Range]:
        return self.ranges or [Range(0, self.file.size)]
