"""Runs a merge: tasks, the sums, the commit. Nothing is visible before the last of them.

How the files were read is kept with the commit: a quarantined record is read in the same way again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from mason.errors import MasonError
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.writers.table_writer import write_empty_file
from mason.pipeline.jobs.merge.appending import Patience, may_follow
from mason.pipeline.jobs.merge.job import Mode
from mason.pipeline.jobs.merge.outcome import MergeResult, Sums, check_share
from mason.pipeline.jobs.merge.plan import MergePlan
from mason.pipeline.jobs.merge.sources_merged import fingerprints
from mason.pipeline.jobs.table_output import SOURCES, StagedTable, TableOutput
from mason.pipeline.reading.plan.patterns import pattern_details
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.tasks.rounds import Rounds
from mason.pipeline.reading.tasks.sinks import table_spec
from mason.pipeline.reading.tasks.staging import list_accepted_paths
from mason.pipeline.tables.commit import (
    ChangedMeanwhile,
    CommitRecord,
    CommittedFile,
    MayFollow,
    Overtaken,
    open_table,
)
from mason.pipeline.work.base import Progress
from mason.pipeline.work.tasks import TaskRunner


@dataclass(frozen=True)
class Reading:
    """The dialect and the columns of a file."""

    format: str
    csv: CsvReading | None
    columns: tuple[str, ...]

    @classmethod
    def of(cls, planned: PlannedFile) -> Reading:
        schema = planned.schema
        return cls(schema.format, schema.csv, tuple(schema.columns) if schema.format == "csv" else ())

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reading:
        if "delimiter" in value:  # an older Mason kept nothing else of a dialect
            csv = CsvReading(dialect=Dialect(delimiter=value["delimiter"])) if value["format"] == "csv" else None
        else:
            csv = CsvReading.of(value["csv"]) if value["csv"] else None
        return cls(value["format"], csv, tuple(value["columns"]))


def readings(plan: MergePlan) -> Mapping[str, Any]:
    """Return the ways in which files were read, and for each file which of them: most share one."""
    numbers: dict[Reading, int] = {}
    files = {
        each.file.name: numbers.setdefault(Reading.of(each), len(numbers)) for each in plan.files if each.is_source
    }
    return {"readings": [asdict(each) for each in numbers], "read_by": files}


def find_reading(details: Mapping[str, Any], file: str) -> Reading | None:
    """Return how a file was read, by the details of a commit."""
    if file not in details.get("read_by", {}):
        return None
    value = details["readings"][details["read_by"][file]]
    return Reading.from_json(value)


Finish = Callable[[str, Sequence[str], Sums], None]
"""Called with the staging folder, the new files of the quarantine in it, and the sums, when only the commit is left."""


def run_merge(
    plan: MergePlan,
    runner: TaskRunner,
    job_id: str,
    progress: Progress,
    *,
    finish: Finish | None = None,
    patience: Patience | None = None,
) -> MergeResult:
    """Run a plan and commit its result. What only adds to a table is added to what that is by then, if it fits.

    Raises:
        ChangedMeanwhile: another job committed to the output meanwhile, and the merge has to be planned again.
        TooManyBadRecords: so much does not fit that something else must be wrong.
        RowsLost: rows in are not rows out and quarantined ones.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    if not (plan.files or plan.adopted) and plan.base:  # an incremental merge that finds nothing new
        return MergeResult(
            commit=plan.base.commit, plan=plan, sums=Sums(rows_in=0, rows_out=0, quarantined=0), rounds=0
        )
    output = _output(plan)
    foreseen = {each.column for each in plan.conflicts}
    patience = patience or Patience(plan.job.options.commit_timeout)
    with _while_nobody_else_commits(plan, output.expected), output.stage(job_id) as staged:
        tasks = Rounds(
            runner=runner,
            sink=table_spec(plan.partition_keys),
            job_id=job_id,
            progress=progress,
            staging=staged.location,
        )
        plan, results, rounds = tasks.run(plan)
        files = _files(plan, runner, staged, list_accepted_paths(results.values()))
        quarantine = staged.take_quarantine(plan, results.values())
        sums = Sums.of(results.values(), sum(each.rows for each in files), quarantine.records)
        sums.rows.check()
        from_outside = replace(sums, rows_in=sums.rows_in - plan.rows_rewritten)
        check_share(staged.filesystem, plan.job.options, from_outside, quarantine.files)
        if finish:
            finish(staged.folder, quarantine.files, sums)
        record = staged.prepare(
            files,
            sums.rows,
            plan.schema,
            partition_keys=plan.partition_keys,
            adds=plan.base is not None,
            details=_details(plan),
        )
        old_files, adopted = _files_to_keep(plan, files), plan.adopted
        publish = partial(
            output.store.publish, staged.folder, record, expected=output.expected, kept=old_files, adopted=adopted
        )
        # Who has something to finish has looked at the table itself, not only at its columns.
        committed = _publish(publish, None if finish else partial(may_follow, plan), patience)
    return MergeResult(commit=committed, plan=plan, sums=sums, rounds=rounds, foreseen=foreseen)


def _publish(publish: Callable[..., CommitRecord], may_follow: MayFollow | None, patience: Patience) -> CommitRecord:
    """Publish what is staged, again where somebody was faster by a moment: no data is read again for it."""
    while True:
        try:
            return publish(may_follow=may_follow)
        except Overtaken as error:
            if may_follow is None:
                raise
            patience.pause(error)


@contextmanager
def _while_nobody_else_commits(plan: MergePlan, expected: CommitRecord | None) -> Iterator[None]:
    """Take a failure for a lost race if another job may have moved what is read: on a disk a replacement moves the
    files that the merge adds to, and anywhere a merge moves those that it adopts.

    Raises:
        ChangedMeanwhile: it is one.
    """
    try:
        yield
    except (MasonError, OSError) as error:
        output = plan.job.output
        if not plan.adopted and (plan.base is None or plan.base.is_there(output)):
            raise
        current = open_table(output).current()
        if (current and current.id) == (expected and expected.id):
            raise
        raise ChangedMeanwhile(str(output), current) from error


def _output(plan: MergePlan) -> TableOutput:
    """The table, with the version that it must still have at the end: that whose rows were read, where it is written
    anew."""
    job = plan.job
    if job.options.mode is Mode.REPLACE and not job.is_in_place:
        return TableOutput.of(job.output, job.options.foreign)
    expected = plan.rewritten if job.options.mode is Mode.REPLACE else plan.base_commit
    store = open_table(job.output, job.options.foreign)
    return TableOutput(job.output, store, expected, is_rewritten=job.is_in_place and plan.base is None)


def _files(plan: MergePlan, runner: TaskRunner, staged: StagedTable, paths: Sequence[str]) -> Sequence[CommittedFile]:
    """The files of the new version; without partitions every task has written one file of a sensible size."""
    pieces = staged.take(paths)
    return (staged.unite(runner, pieces) if plan.partition_keys else pieces) or _no_rows(plan, staged)


def _no_rows(plan: MergePlan, staged: StagedTable) -> Sequence[CommittedFile]:
    """Write the columns of a table that would have no file at all: who looks into its folder finds them there.

    Not of one that is divided: its files lie in the folders of their values, and there are none.
    """
    if plan.partition_keys or _files_to_keep(plan, ()):
        return []
    name = f"part-{staged.job_id}-no-rows.parquet"
    write_empty_file(staged.filesystem, staged.folder, name, plan.schema)
    return staged.take([name])


def _files_to_keep(plan: MergePlan, files: Sequence[CommittedFile]) -> Sequence[CommittedFile]:
    """The files of the table that stay in it."""
    if plan.base is None or plan.rewrites_base:
        return ()
    if plan.job.options.mode is Mode.APPEND:
        return plan.base.commit.files
    replaced = {each.path.rpartition("/")[0] for each in files}
    return [each for each in plan.base.commit.files if each.path.rpartition("/")[0] not in replaced]


def _details(plan: MergePlan) -> Mapping[str, Any]:
    made_for = plan.work.to_details() if plan.work else {}
    return {
        "options": asdict(plan.job.options),
        SOURCES: fingerprints(plan.files),
        **readings(plan),
        **pattern_details(plan.base_commit or plan.rewritten, plan.job.options.schema),
        **made_for,
    }
