"""What writing a table in another format did, and whether its numbers hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mason.pipeline.format.plan import FormatPlan, change_warnings
from mason.pipeline.merge.outcome import RowsLost
from mason.pipeline.row_shares import row_shares
from mason.pipeline.table_commit import CommitRecord
from mason.util.text_table import clipped_lines
from mason.util.words import counted


@dataclass(frozen=True)
class FormatSums:
    """Where the rows went that were read."""

    rows_in: int
    rows_out: int
    filtered: int
    not_sampled: int
    quarantined: int

    def check(self) -> None:
        """See that no row is missing.

        Raises:
            RowsLost: one is.
        """
        if self.rows_in != self.rows_out + self.filtered + self.not_sampled + self.quarantined:
            raise RowsLost(
                f"{self.rows_in:,} records were read, but {self.rows_out:,} were written, {self.filtered:,} filtered, "
                f"{self.not_sampled:,} not in the sample and {self.quarantined:,} quarantined.",
                hint="Nothing was committed. This is a defect of Mason: please report it.",
            )


@dataclass(frozen=True)
class FormatResult:
    """What was done."""

    planned: FormatPlan
    plan: FormatPlan
    """As it was carried out: its schema may be wider than planned."""
    commit: CommitRecord
    sums: FormatSums
    noted: Mapping[str, int] = field(default_factory=dict)
    """What became of single values, and of how many."""

    @property
    def summary(self) -> str:
        parts = [f"{counted(self.sums.rows_in, 'record')} in", f"{counted(self.sums.rows_out, 'row')} out"]
        parts += [f"{count:,} {what}" for what, count in self._left_out.items() if count]
        return f"{', '.join(parts)}: {self.plan.job.output} ({self.plan.format.name})"

    @property
    def _left_out(self) -> Mapping[str, int]:
        return {
            "filtered": self.sums.filtered,
            "not in the sample": self.sums.not_sampled,
            "quarantined": self.sums.quarantined,
        }

    @property
    def warnings(self) -> Iterator[str]:
        known = [*self.planned.changes]
        yield from change_warnings([each for each in self.plan.changes if each not in known], self.plan.format.name)
        for what, count in self.noted.items():
            yield f"{what}: {counted(count, 'value')}."

    def to_dict(self) -> dict[str, Any]:
        return {
            "Output": self.plan.job.output,
            "Format": self.plan.format.name,
            "Compression": self.plan.compression,
            "Commit": self.commit.id,
            "RowsIn": self.sums.rows_in,
            "RowsOut": self.sums.rows_out,
            "RowsFiltered": self.sums.filtered,
            "RowsNotSampled": self.sums.not_sampled,
            "RowsQuarantined": self.sums.quarantined,
            "Files": [each.path for each in self.commit.files],
            "Bytes": sum(each.bytes for each in self.commit.files),
            "Columns": [{"Name": each.name, "Type": str(each.type)} for each in self.plan.schema],
            "Changes": list(self.plan.changes),
        }

    def picture(self, width: int) -> list[str]:
        """Return where the rows went, and what became of types that the format does not have."""
        lines = row_shares({"written": self.sums.rows_out, **self._left_out}, width)
        changes = [list(each.values()) for each in self.plan.changes]
        if changes:
            lines += ["", *clipped_lines(["column", "type", f"in {self.plan.format.name}"], changes, width)[0]]
        return lines
