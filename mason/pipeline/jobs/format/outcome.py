"""What writing a table in another format did, and whether its numbers hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mason.pipeline.jobs.format.plan import FormatPlan, change_warnings
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.record_parts import describe_columns, describe_files, row_shares
from mason.pipeline.work.row_sums import RowSums
from mason.util.text_table import clip_lines
from mason.util.words import counted


@dataclass(frozen=True, kw_only=True)
class FormatResult(Outcome):
    """What was done."""

    planned: FormatPlan
    plan: FormatPlan
    """As it was carried out: its schema may be wider than planned."""
    commit: CommitRecord
    sums: RowSums
    noted: Mapping[str, int] = field(default_factory=dict)
    """What became of single values, and of how many."""

    @property
    def summary(self) -> str:
        parts = [f"{counted(self.sums.rows_in, 'record')} in", f"{counted(self.sums.rows_out, 'row')} out"]
        parts += [str(each) for each in self.sums.left_out if each.rows]
        return f"{', '.join(parts)}: {self.plan.job.output} ({self.plan.format.name})"

    @property
    def warnings(self) -> Iterator[str]:
        known = [*self.planned.changes]
        yield from change_warnings([each for each in self.plan.changes if each not in known], self.plan.format.name)
        for what, count in self.noted.items():
            yield f"{what}: {counted(count, 'value')}."

    def to_dict(self) -> dict[str, Any]:
        return {
            "Output": str(self.plan.job.output),
            "Format": self.plan.format.name,
            "Compression": self.plan.compression,
            "Commit": self.commit.id,
            **self.sums.to_dict(),
            **describe_files(self.commit),
            "Columns": describe_columns(self.plan.schema),
            "Changes": list(self.plan.changes),
        }

    def picture(self, width: int) -> list[str]:
        """Return where the rows went, and what became of types that the format does not have."""
        left_out = {each.words or each.name.lower(): each.rows for each in self.sums.left_out}
        lines = row_shares({"written": self.sums.rows_out, **left_out}, width)
        changes = [list(each.values()) for each in self.plan.changes]
        if changes:
            lines += ["", *clip_lines(["column", "type", f"in {self.plan.format.name}"], changes, width)[0]]
        return lines
