"""What an explode did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from mason.pipeline.jobs.explode.plan import ExplodePlan, table_dict
from mason.pipeline.jobs.explode.shape import FlatTable, Path, describe_path
from mason.pipeline.reading.preview import Preview
from mason.pipeline.tables.commit import CommitRecord, CommittedFile
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.row_sums import RowSums
from mason.util.text_table import clip_lines
from mason.util.words import counted


@dataclass(frozen=True)
class WrittenTable:
    """A flat table and its files, whose rows are what their footers state."""

    flat: FlatTable
    files: Sequence[CommittedFile]

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.files)


@dataclass(frozen=True, kw_only=True)
class ExplodeResult(Outcome):
    """Flat tables that were written."""

    plan: ExplodePlan
    commit: CommitRecord
    tables: Sequence[WrittenTable]
    sums: RowSums
    kept: Mapping[Path, int]
    """How many texts hold no JSON, and stayed as they were."""

    @property
    def rows_in(self) -> int:
        return self.sums.rows_in

    @property
    def quarantined(self) -> int:
        return self.sums.quarantined

    @property
    def summary(self) -> str:
        main, *children = self.tables
        set_aside = f", {self.quarantined:,} quarantined" if self.quarantined else ""
        taken, rows = counted(self.rows_in, "record"), counted(main.rows, "row")
        below = counted(sum(each.rows for each in children), "row")
        lists = f", {below} in {counted(len(children), 'table')} of lists" if children else ""
        return f"{taken} in, {rows} out{lists}{set_aside}: {self.plan.job.output}"

    @property
    def warnings(self) -> Iterator[str]:
        for path, count in self.kept.items():
            kind = "JSON list" if pa.types.is_list(self.plan.form.texts[path]) else "JSON object"
            are = f"is not a {kind}" if count == 1 else f"are not {kind}s"
            yield f'In "{describe_path(path)}" {counted(count, "text")} {are} as the others are, and kept as text.'

    def to_dict(self) -> dict[str, Any]:
        output = self.plan.job.output
        return {
            "Output": str(output or ""),
            "Commit": self.commit.id,
            **self.sums.to_dict(),
            "Tables": [
                {
                    **table_dict(each.flat, output),
                    "Rows": each.rows,
                    "Files": len(each.files),
                    "Bytes": sum(file.bytes for file in each.files),
                }
                for each in self.tables
            ],
            "JsonTexts": list(map(describe_path, self.plan.form.texts)),
            "TextsKept": {describe_path(path): count for path, count in self.kept.items()},
        }

    def picture(self, width: int) -> list[str]:
        """Return the tables, one in a line."""
        rows = [
            [each.flat.name, f"{each.rows:,}", str(len(each.flat.schema)), ", ".join(each.flat.keys)]
            for each in self.tables
        ]
        return clip_lines(["table", "rows", "columns", "key"], rows, width)[0]


@dataclass(frozen=True)
class ShownTables(Outcome):
    """What the flat tables of the first records look like; nothing was written."""

    plan: ExplodePlan
    records: int
    previews: Mapping[str, Preview]

    @property
    def summary(self) -> str:
        tables, records = counted(len(self.previews), "table"), counted(self.records, "record")
        return f"{tables}, shown of the first {records}; give an output_path to have them written."

    def to_dict(self) -> dict[str, Any]:
        return {
            "Tables": [{"Name": name, **preview.to_dict()} for name, preview in self.previews.items()],
            "JsonTexts": list(map(describe_path, self.plan.form.texts)),
        }

    def picture(self, width: int) -> list[str]:
        """Return every table, below its name."""
        lines: list[str] = []
        for name, preview in self.previews.items():
            lines += ["", name, *preview.picture(width)]
        return lines[1:]
