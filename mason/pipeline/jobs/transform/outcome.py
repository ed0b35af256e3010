"""What a transformation did, for people and for the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mason.pipeline.jobs.check.job import CheckOutcome
from mason.pipeline.jobs.query.inputs import ReadyTable
from mason.pipeline.jobs.transform.job import TransformJob
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.record_parts import describe_columns, describe_files
from mason.pipeline.work.row_sums import RowSums
from mason.util.words import counted


class Planned(Protocol):
    """The planned job, as a record describes it."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class TransformOutcome(Outcome):
    """The next version of a table, or the checks that stood against it."""

    work: Planned
    job: TransformJob
    read: Sequence[ReadyTable]
    sums: RowSums
    checked: CheckOutcome | None = None
    commit: CommitRecord | None = None

    @property
    def summary(self) -> str:
        rows = counted(self.sums.rows_out, "row")
        checks = f" {self.checked.summary}" if self.checked else ""
        return f"{rows}: {self.job.output}.{checks}" if self.commit else f"{rows}, not published.{checks}"

    @property
    def warnings(self) -> Iterable[str]:
        yield from (warning for each in self.read for warning in each.warnings)
        yield from self.checked.warnings if self.checked else ()

    @property
    def errors(self) -> Sequence[str]:
        """What kept the rows from being published."""
        return self.checked.errors if self.checked else ()

    def picture(self, width: int) -> list[str]:
        """Return the verdicts of the checks, with some of the rows that fail."""
        return self.checked.picture(width) if self.checked else []

    def to_dict(self) -> dict[str, Any]:
        rows = sum(each.rows for each in self.read)
        document = {**self.work.to_dict(), "RowsRead": rows, "RowsIn": self.sums.rows_in, "RowsOut": self.sums.rows_out}
        if self.checked:
            # The rows that fail are kept: what was not published can be looked at nowhere else.
            document["Checks"] = self.checked.preview["Checks"]
            document["RowsFailed"] = self.checked.totals.failed
            if self.checked.commit:
                document["FailuresCommit"] = self.checked.commit.id
        if not self.commit:
            return {**document, "RowsOut": 0}
        described: Mapping[str, Any] = {"Columns": describe_columns(decode_schema(self.commit.schema))}
        return {**document, **described, "Commit": self.commit.id, **describe_files(self.commit)}
