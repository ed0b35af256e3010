"""What a merge did, and whether its numbers hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.metastore.models.schema import SchemaConflict, TypeInFile
from mason.errors import Unprocessable
from mason.pipeline.formats.file_readings import describe_readings
from mason.pipeline.formats.file_warnings import FileWarnings
from mason.pipeline.formats.scanning.header_repeats import REPEATS
from mason.pipeline.jobs.merge.plan import MergePlan
from mason.pipeline.reading.request import OnBadRecord, ReadOptions
from mason.pipeline.reading.tasks.task import TaskResult
from mason.pipeline.storage.blocks import read_bytes
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.work.base import Outcome
from mason.pipeline.work.record_parts import describe_columns, describe_files, where_given
from mason.pipeline.work.row_sums import QUARANTINED, LeftOut, RowSums
from mason.util.words import counted

FEW_RECORDS = 10
FILES_NAMED = 5
_REASONS_NAMED = 3


class TooManyBadRecords(Unprocessable):
    """Raised when more records do not fit than the caller accepts. 422 · exit 1"""


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What the tasks counted, what the footers say, and how many lines the quarantine has."""

    rows_in: int
    rows_out: int
    quarantined: int
    bad_values: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    differing: Mapping[str, int] = field(default_factory=dict)
    finer: Mapping[str, int] = field(default_factory=dict)
    broken: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    cut: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def rows(self) -> RowSums:
        """Where the rows went."""
        return RowSums(self.rows_in, self.rows_out, [LeftOut(QUARANTINED, self.quarantined)])

    @classmethod
    def of(cls, results: Iterable[TaskResult], rows_out: int, quarantined: int) -> Sums:
        rows_in = 0
        bad, differing, finer, cut = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        values: dict[str, Counter[str]] = {}
        broken: dict[str, Counter[str]] = {}
        notes: dict[str, dict[str, None]] = {}
        for each in results:
            rows_in += each.records
            bad.update(each.bad_values)
            differing.update(each.differing)
            finer.update(each.finer)
            cut.update(each.cut)
            for name, counts in each.values.items():
                values.setdefault(name, Counter()).update(counts)
            for name, counts in each.broken.items():
                broken.setdefault(name, Counter()).update(counts)
            for name, said in each.notes.items():
                notes.setdefault(name, {}).update(dict.fromkeys(said))
        found = {name: list(said) for name, said in notes.items()}
        return cls(
            rows_in=rows_in,
            rows_out=rows_out,
            quarantined=quarantined,
            bad_values=bad,
            values=values,
            differing=differing,
            finer=finer,
            broken=broken,
            cut=cut,
            notes=found,
        )


@dataclass(frozen=True, kw_only=True)
class MergeResult(Outcome):
    """What a merge did."""

    commit: CommitRecord
    plan: MergePlan
    sums: Sums
    rounds: int
    foreseen: Collection[str] = ()
    """The columns of which the plan had said already that files disagree on them."""

    @property
    def rows_rewritten(self) -> int:
        return self.plan.rows_rewritten

    @property
    def rows_in(self) -> int:
        return self.sums.rows_in - self.rows_rewritten

    @property
    def rows_out(self) -> int:
        return self.sums.rows_out - self.rows_rewritten

    @property
    def quarantined(self) -> int:
        return self.sums.quarantined

    @property
    def rows(self) -> RowSums:
        """Where the rows went that came from outside of the table."""
        return replace(self.sums.rows, rows_in=self.rows_in, rows_out=self.rows_out)

    @property
    def values_nulled(self) -> Mapping[str, int]:
        return self.sums.bad_values if self.plan.job.options.on_bad_record is OnBadRecord.NULL else {}

    @property
    def conflicts(self) -> Sequence[SchemaConflict]:
        """The conflicts of the plan, with the number of values of each type."""
        return [_count_conflict(each, self.sums.values.get(each.column, {})) for each in self.plan.conflicts]

    @property
    def summary(self) -> str:
        set_aside = f", {self.quarantined:,} quarantined" if self.quarantined else ""
        if not self.rounds:
            merged = counted(self.plan.merged_before, "file")
            if not self.plan.job.options.incremental:
                return f"Nothing to add: an earlier attempt at this step has added {merged} to {self.plan.job.output}."
            which = f"all {merged} are" if self.plan.merged_before > 1 else f"the {merged} is"
            return f"Nothing new: {which} in {self.plan.job.output} already."
        taken, written = counted(self.rows_in, "record"), counted(self.rows_out, "row")
        return f"{taken} in, {written} out{set_aside}: {self.plan.job.output}"

    @property
    def warnings(self) -> Iterator[str]:
        yield from (str(each) for each in self.plan.conflicts if each.column not in self.foreseen)
        for column, misfit in self.plan.misfits.items():
            chosen = self.plan.schema.field(column).type
            if pa.types.is_string(chosen) or (pa.types.is_floating(chosen) and misfit.is_decimal_expected):
                yield misfit.describe(column, chosen)
        for column, note in self.plan.respelled.items():
            if column not in self.foreseen or column in self.plan.misfits:
                yield note
        for column, count in self.sums.differing.items():
            if count:
                found = counted(count, "value")
                yield f'Column "{column}" is what the folders say; {found} in the files differ from that.'
        for column, count in self.sums.finer.items():
            lost = counted(count, "time")
            yield f'In column "{column}" {lost} lost what is finer than a microsecond, the finest that a table has.'
        for column, count in self.values_nulled.items():
            nulled = counted(count, "value")
            yield f'In column "{column}" {nulled} became null for not being of type {self._type(column)}.'
        yield from _describe_cut_fields(self.sums.cut)
        yield from _describe_notes(self.plan, self.sums.notes)
        yield from _describe_broken_files(self.sums.broken)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "Output": str(self.plan.job.output),
            "Commit": self.commit.id,
            **self.rows.to_dict(),
            **describe_files(self.commit),
            "Columns": describe_columns(self.plan.schema),
            "SchemaConflicts": [each.to_dict() for each in self.conflicts],
            "Readings": describe_readings(self.plan.schemas, with_records=False),
        }
        document |= where_given({"RowsRewritten": self.rows_rewritten, "ValuesNulled": dict(self.values_nulled)})
        if self.plan.job.options.incremental or self.plan.merged_before:
            document["MergedBefore"] = self.plan.merged_before
        return {**document, **where_given({"Adopted": list(self.plan.adopted)})}

    def _type(self, column: str) -> str:
        return str(self.plan.schema.field(column).type)


def _describe_cut_fields(cut: Mapping[str, int]) -> Iterator[str]:
    for file, count in islice(cut.items(), FILES_NAMED):
        yield f"{file}: {counted(count, 'record')} lost fields for which there is no column (ragged: cut)."
    if len(cut) > FILES_NAMED:
        more = counted(len(cut) - FILES_NAMED, "more file")
        yield f"{more} have records that lost fields, {sum(cut.values()):,} in all (ragged: cut)."


def _describe_notes(plan: MergePlan, notes: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """What tasks have seen in files, where the plan had not seen it in their beginnings."""
    foreseen = {each.file.name: each.schema.warnings for each in plan.files if each.file.name in notes}
    warnings = FileWarnings()
    for name, said in notes.items():
        for note in said:
            if not any(each.startswith(note) for each in foreseen.get(name, ())):
                warnings.add(name, note)
    return warnings.lines()


def _describe_broken_files(broken: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What is said of files with records in the quarantine: of each how many, and why, the commonest reasons first."""
    for file, reasons in islice(broken.items(), FILES_NAMED):
        count = sum(reasons.values())
        are = "is" if count == 1 else "are"
        yield f"{file}: {counted(count, 'record')} {are} in the quarantine: {_describe_reasons(reasons)}."
    if len(broken) > FILES_NAMED:
        yield f"{counted(len(broken) - FILES_NAMED, 'more file')} have records in the quarantine."


def _describe_reasons(reasons: Mapping[str, int]) -> str:
    if len(reasons) == 1:
        return next(iter(reasons))
    first = [f"{times:,} ({why})" for why, times in Counter(reasons).most_common(_REASONS_NAMED)]
    more = sum(reasons.values()) - sum(times for _, times in Counter(reasons).most_common(_REASONS_NAMED))
    return ", ".join([*first, *([f"{more:,} for other reasons"] if more else [])])


def check_share(
    filesystem: pafs.FileSystem, options: ReadOptions, sums: Sums, quarantine: Sequence[str], remedy: str = ""
) -> None:
    """See that what does not fit is an exception and not the rule. `remedy` is for who has no such options as a merge.

    Headers that stand again among the records are no sign of a wrong reading, however many they are.

    Raises:
        TooManyBadRecords: more than the stated share of all records, or of a column's values, is bad.
    """
    worst = max(sums.bad_values.items(), key=lambda each: each[1], default=("", 0))
    limit = _limit(options, sums.rows_in)
    if worst[1] > limit:
        raise TooManyBadRecords(
            f'{worst[1]:,} of {sums.rows_in:,} values of column "{worst[0]}" are not of the type in the schema'
            f"{_examples(filesystem, quarantine)}.",
            hint=f"Give the column another type, mend the files, or allow more ({_describe_options(options)}). "
            "Nothing was committed.",
        )
    headers = sum(reasons.get(REPEATS, 0) for reasons in sums.broken.values()) if limit else 0
    if sums.quarantined - headers > limit or (sums.quarantined and options.on_bad_record is OnBadRecord.FAIL):
        raise TooManyBadRecords(
            f"{sums.quarantined:,} of {sums.rows_in:,} records do not fit{_examples(filesystem, quarantine)}.",
            hint=f"{remedy or _remedy(options)} Nothing was committed.",
        )


def _limit(options: ReadOptions, records: int) -> float:
    """Few records may be bad in any case, but not most of them; none, if somebody says so."""
    if options.on_bad_record is OnBadRecord.FAIL or not options.most_bad_share:
        return 0
    return max(options.most_bad_share * records, min(FEW_RECORDS, records / 2))


def _remedy(options: ReadOptions) -> str:
    options_text = _describe_options(options)
    how = "Look how they are read (--explain FILE), say how they are to be (delimiter, quote, skip_rows, parse_headers)"
    return f"{how}, mend them, or allow more ({options_text})."


def _describe_options(options: ReadOptions) -> str:
    if options.on_bad_record is OnBadRecord.FAIL:
        return "on_bad_record: quarantine"
    return f"most_bad_share, now {options.most_bad_share:g}"


def _examples(filesystem: pafs.FileSystem, quarantine: Sequence[str]) -> str:
    lines = [line for path in quarantine[:3] for line in read_bytes(filesystem, path).splitlines()[:3]][:3]
    rejects = [Reject.of(json.loads(line)) for line in lines]
    examples = "; ".join(f"{each.file} record {each.record:,} ({each.reason})" for each in rejects)
    return f", such as {examples}" if examples else ""


def _count_conflict(conflict: SchemaConflict, values: Mapping[str, int]) -> SchemaConflict:
    found: list[TypeInFile] = [replace(each, values=values.get(each.type, 0)) for each in conflict.found]
    return replace(conflict, found=found)
