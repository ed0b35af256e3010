"""Merges records again that were quarantined and have been mended: those that fit now leave the quarantine."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pyarrow.fs as pafs

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import NotFound
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.delimited.swallowed_lines import LINE_END
from mason.pipeline.formats.delimited.tokens import split_exactly
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.mended import NotMended, read_mended
from mason.pipeline.jobs.merge.outcome import MergeResult, Sums
from mason.pipeline.jobs.merge.plan import MergePlan
from mason.pipeline.jobs.merge.run import Reading, find_reading, run_merge
from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.inspection import PlanRefused, constants_of
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import OnBadRecord
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.blocks import read_bytes, write_bytes
from mason.pipeline.storage.file_stamp import file_stamp
from mason.pipeline.storage.files import DataFile, make_folder, partition_of
from mason.pipeline.tables.commit import ChangedMeanwhile, CommitRecord, open_table
from mason.pipeline.tables.foreign_files import Foreign, check_foreign
from mason.pipeline.tables.rejects import Reject, read_quarantine
from mason.pipeline.tables.room import QUARANTINE
from mason.pipeline.types.column_types import NOTHING
from mason.pipeline.types.sql_types import parse_given_schema
from mason.pipeline.work.base import Outcome, Progress
from mason.pipeline.work.request import JobRequest, input_named, output_named
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted

_OPTIONS_OF_VALUES = ("nulls", "timezone", "names")


class _NoRecord(Exception):
    """Raised when a text cannot be replayed; its message says why."""


@dataclass(frozen=True)
class ReplayJob(JobRequest):
    """Merge the mended records of a file into the table that had set them aside."""

    type = "replay"
    table: Annotated[Location, output_named("path")]
    mended: Annotated[Location, input_named("path")]
    """A file of this machine."""
    foreign: str = Foreign.REFUSE


@dataclass(frozen=True, kw_only=True)
class ReplayPlan:
    """The records that go back, and how many stay in the quarantine as they are."""

    job: ReplayJob
    base: CommitRecord
    records: Sequence[Reject]
    """What was quarantined, with its text as it is now. Where a text holds several records, each of them has an id."""
    replaced: Collection[str]
    """The ids in the quarantine that they come from."""
    unchanged: int
    others: int
    options: Mapping[str, Any]
    """Those of the merges that set the records aside."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "Output": str(self.job.table),
            "Records": len(self.records),
            "Unchanged": self.unchanged,
            "Quarantined": len(self.replaced) + self.unchanged + self.others,
        }


@dataclass(frozen=True)
class ReplayResult(Outcome):
    """What became of them."""

    merge: MergeResult
    plan: ReplayPlan

    @property
    def summary(self) -> str:
        mended, added = counted(self.merge.rows_in, "record"), counted(self.merge.rows_out, "row")
        return f"{mended} mended, {added} added: {self.plan.job.table}"

    @property
    def warnings(self) -> Iterable[str]:
        if self.merge.quarantined:
            yield f"{counted(self.merge.quarantined, 'record')} did not fit again: see the quarantine."

    def to_dict(self) -> dict[str, Any]:
        left = self.merge.quarantined + self.plan.unchanged + self.plan.others
        written = {"Output": str(self.plan.job.table), "Commit": self.merge.commit.id}
        return {**written, **self.merge.rows.to_dict(), "StillQuarantined": left}


def plan_replay(job: ReplayJob) -> ReplayPlan:
    """Find out which records were mended.

    Raises:
        NotFound: there is no table that a merge has made.
        NotMended: no record is another one than before.
        UnreadableFile: the file with the mended records is not what an export wrote.
        ForeignFiles, ChangedFiles: the table holds data of others, or they have written over its own.
        PlanRefused: some of them are not one record each, are not in the quarantine, or were read in different ways.
    """
    table = open_table(job.table, job.foreign)
    current = table.current()
    if current is None:
        raise NotFound(f"At {job.table} there is no table that a merge has made.")
    check_foreign(table, str(job.table))
    mended = read_mended(Path(job.mended.path))
    quarantined = {each.id: each for each in read_quarantine(job.table)}
    gone = [name for name in mended if name not in quarantined]
    problems = [_describe_missing(gone, str(job.table))] if gone else []
    changed = {name: raw for name, raw in mended.items() if name in quarantined and raw != quarantined[name].raw}
    commits = _commits(job)
    records: list[Reject] = []
    for name, raw in changed.items():
        try:
            records += _mend(quarantined[name], raw, _find_reading(commits, quarantined[name]))
        except _NoRecord as problem:
            problems.append(str(problem))
    if problems:
        raise PlanRefused(problems)
    if not changed:
        raise NotMended(
            f"None of the {counted(len(mended), 'record')} in {job.mended} was changed.", hint='Mend their "Raw".'
        )
    unchanged = len(mended) - len(changed)
    others = len(quarantined) - len(mended)
    options = _common_options(commits, records)
    return ReplayPlan(
        job=job,
        base=current,
        records=records,
        replaced=set(changed),
        unchanged=unchanged,
        others=others,
        options=options,
    )


def run_replay(plan: ReplayPlan, runner: TaskRunner, job_id: str, progress: Progress) -> ReplayResult:
    """Merge the records into their table and take them out of the quarantine.

    Raises:
        ChangedMeanwhile: another job committed to the table meanwhile.
    """
    filesystem = open_filesystem(plan.job.table.storage)
    with _scratch(filesystem, plan, job_id) as (files, origins):
        base = BaseTable.of(plan.base)
        job = _merge_job(plan)
        merge = MergePlan(
            request=job.reading,
            job=job,
            files=files,
            evidence=dict.fromkeys(base.schema.names, NOTHING),
            given=_types(base),
            base=base,
        )

        def finish(staging: str, quarantine: Sequence[str], sums: Sums) -> None:
            if sums.rows_in != len(plan.records):
                raise RowsLost(f"{counted(len(plan.records), 'record')} to be replayed, but {sums.rows_in:,} read.")
            _tell_origins(filesystem, quarantine, origins)
            _take_out(filesystem, plan, staging)

        result = run_merge(merge.check(), runner, job_id, progress, finish=finish)
    return ReplayResult(result, plan)


def _types(base: BaseTable) -> Mapping[str, Any]:
    """The table's types are given: a record that is mended is to fit the table, and not the other way round."""
    return {field.name: field.type for field in base.schema}


def _merge_job(plan: ReplayPlan) -> MergeJob:
    nowhere = Location("")
    options = MergeJob.of(Job(MergeJob.type, {"path": nowhere}, {"path": nowhere}, plan.options)).options
    # However many are still bad, they are where they were before: in the quarantine.
    bad: dict[str, Any] = {"on_bad_record": OnBadRecord.QUARANTINE, "most_bad_share": 1.0}
    given: dict[str, Any] = {"mode": Mode.APPEND, "incremental": False, "foreign": Foreign(plan.job.foreign)}
    again = replace(options, repartition_keys=(), **given, **bad)
    return MergeJob(plan.job.mended, plan.job.table, again)


def _options(commit: CommitRecord | None) -> Mapping[str, Any]:
    return {**asdict(MergeOptions()), **(commit.details.get("options", {}) if commit else {})}


def _common_options(commits: Mapping[str, CommitRecord], records: Sequence[Reject]) -> Mapping[str, Any]:
    """Return the options of the merges that set records aside.

    Raises:
        PlanRefused: values of some of them would be read in another way than those of others.
    """
    found = [_options(commits.get(name)) for name in dict.fromkeys(each.commit for each in records)]
    differing = [name for name in _OPTIONS_OF_VALUES if len({json.dumps(each[name]) for each in found}) > 1]
    if len({json.dumps(dict(parse_given_schema(each["schema"]).patterns)) for each in found}) > 1:
        differing.append("the patterns of their schema")
    if differing:
        raise PlanRefused(
            [f"The records come from merges that differ in {', '.join(differing)}."],
            hint="Replay those of one merge at a time: what is not in the file stays in the quarantine.",
        )
    return found[0]


@contextmanager
def _scratch(
    filesystem: pafs.FileSystem, plan: ReplayPlan, job_id: str
) -> Iterator[tuple[list[PlannedFile], Mapping[str, Sequence[Reject]]]]:
    """Give files with the records as they stood in their own files, each with what its records were before."""
    commits = _commits(plan.job)
    groups: dict[tuple[str, str], list[Reject]] = {}
    for each in plan.records:
        groups.setdefault((each.commit, each.file), []).append(each)
    # Staged as a version is: what a killed job leaves behind is removed by the next one.
    with open_table(plan.job.table).stage(f"{job_id}-replay") as folder:
        files, origins = [], {}
        for number, ((commit, _), records) in enumerate(groups.items()):
            extracts = _options(commits.get(commit))["extract_paths"]
            place = plan.job.table.beside(f"{folder}/{number}")
            files.append(_write_records(filesystem, place, records, _find_reading(commits, records[0]), extracts))
            origins[files[-1].file.name] = records
        yield files, origins


def _write_records(
    filesystem: pafs.FileSystem, place: Location, records: Sequence[Reject], reading: Reading, extracts: bool
) -> PlannedFile:
    folder = place.path
    file = f"{folder}/records.{'csv' if reading.format == 'csv' else 'jsonl'}"
    make_folder(filesystem, folder)
    text = "".join(each.raw.rstrip("\r\n") + "\n" for each in records)
    write_bytes(filesystem, file, text.encode("utf-8", "surrogateescape"))
    stamp = file_stamp(filesystem, file)
    assert stamp, "it was just written"
    kind, columns = ("csv", reading.columns) if reading.format == "csv" else ("jsonl", ())
    csv = _as_mended(reading.csv) if reading.csv else None
    schema = FileSchema(format=kind, columns=dict.fromkeys(columns, NOTHING), csv=csv, encoding="utf-8")
    name = records[0].file
    constants = constants_of(
        DataFile(path=name, name=name, size=0, partition=partition_of(name.rpartition("/")[0])), extracts
    )
    data = DataFile(path=file, name=folder.rpartition("/")[2], size=stamp.size)
    return PlannedFile(
        file=data, stamp=stamp.number, schema=schema, constants=constants, is_scratch=True, storage=place.storage
    )


def _as_mended(reading: CsvReading) -> CsvReading:
    """How mended records are read: as those of their file, but nothing stands around them, and quotes are meant."""
    return replace(reading, dialect=replace(reading.dialect, sure=True), header=False, skip_rows=0, skip_footer=0)


def _tell_origins(
    filesystem: pafs.FileSystem, quarantine: Sequence[str], origins: Mapping[str, Sequence[Reject]]
) -> None:
    """Give records that still do not fit the place where they first stood."""
    for path in quarantine:
        lines = []
        for line in read_bytes(filesystem, path).splitlines():
            reject = Reject.of(json.loads(line))
            origin = origins[reject.file][reject.record - 1]
            again = replace(origin, column=reject.column, reason=reject.reason)
            lines.append(json.dumps(again.to_dict()))
        write_bytes(filesystem, path, "".join(line + "\n" for line in lines).encode())


def _take_out(filesystem: pafs.FileSystem, plan: ReplayPlan, staging: str) -> None:
    """Stage the quarantine without the records that go back; its other files are carried over by the commit."""
    left = 0
    for path in open_table(plan.job.table).quarantine():
        lines = read_bytes(filesystem, path).splitlines(keepends=True)
        remaining = [line for line in lines if json.loads(line)["Id"] not in plan.replaced]
        left += len(remaining)
        if len(remaining) < len(lines):
            make_folder(filesystem, f"{staging}/{QUARANTINE}")
            write_bytes(filesystem, f"{staging}/{QUARANTINE}/{path.rpartition('/')[2]}", b"".join(remaining))
    if left != plan.unchanged + plan.others:
        current = open_table(plan.job.table).current()
        if current is None or current.id != plan.base.id:
            raise ChangedMeanwhile(str(plan.job.table), current)
        raise RowsLost(f"{left:,} records would stay in the quarantine instead of {plan.unchanged + plan.others:,}.")


def _commits(job: ReplayJob) -> dict[str, CommitRecord]:
    return {each.id: each for each in open_table(job.table).history()}


def _find_reading(commits: Mapping[str, CommitRecord], reject: Reject) -> Reading:
    commit = commits.get(reject.commit)
    found = find_reading(commit.details, reject.file) if commit else None
    return found or Reading("jsonl", None, ())


def _describe_missing(names: Sequence[str], table: str) -> str:
    those = f'Record "{names[0]}" is' if len(names) == 1 else f'{len(names):,} records, such as "{names[0]}", are'
    return f"{those} not in the quarantine of {table} any more: export what is there now."


def _mend(record: Reject, raw: str, reading: Reading) -> list[Reject]:
    """Return a record of the quarantine with its new text: as several if that holds several.

    Raises:
        _NoRecord: the text would take other records with it, or is none.
    """
    text = raw.rstrip("\r\n")
    if not text.strip() and (reading.format != "csv" or len(reading.columns) > 1):
        raise _NoRecord(f"Record {record.id} is empty: leave it out of the file if it is to stay in the quarantine.")
    if reading.csv is None:
        if "\n" in text:
            raise _NoRecord(f"Record {record.id} must be on one line.")
        return [replace(record, raw=raw)]
    found = list(split_exactly(f"{text}\n", _as_mended(reading.csv).dialect))
    if problem := next((each.problem for each in found if each.problem), ""):
        raise _NoRecord(f"Record {record.id}: {problem}.")
    if not found:
        raise _NoRecord(f"Record {record.id} is a comment: leave it out if it is to stay in the quarantine.")
    if len(found) == 1:
        return [replace(record, raw=raw)]
    _check_lines(record, len(found))
    parts = [each.raw for each in found if len(reading.columns) == 1 or not each.is_blank]
    return [replace(record, id=f"{record.id}.{number}", raw=part) for number, part in enumerate(parts, 1)]


def _check_lines(record: Reject, records: int) -> None:
    """See that a text holds no more records than it had lines: more were not in its file."""
    lines = len(LINE_END.split(record.raw.rstrip("\r\n")))
    if records > lines:
        raise _NoRecord(
            f"Record {record.id} holds {records:,} records instead of "
            f"{'one' if lines == 1 else f'{lines:,} at most'}: it was {counted(lines, 'line')} of its file. "
            "Put quotes around a field with line ends; what is new belongs into a file of its own, to be merged."
        )
