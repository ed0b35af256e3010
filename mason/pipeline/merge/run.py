"""Runs a merge: tasks, the sums, the commit. Nothing is visible before the last of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from mason.errors import MasonError
from mason.pipeline.blocks import read_bytes
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.appending import Patience, may_follow
from mason.pipeline.merge.carried import carried_sources, carry_quarantine
from mason.pipeline.merge.compact import united
from mason.pipeline.merge.job import Mode
from mason.pipeline.merge.kept_patterns import pattern_details
from mason.pipeline.merge.numbering import number_records
from mason.pipeline.merge.outcome import MergeResult, Sums, check_share, check_sums
from mason.pipeline.merge.plan import MergePlan
from mason.pipeline.merge.readings import readings
from mason.pipeline.merge.rounds import Rounds
from mason.pipeline.merge.sources_merged import fingerprints
from mason.pipeline.merge.staging import committed_file, quarantine_files, remove_strangers, written
from mason.pipeline.sinks import table_spec
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import (
    ChangedMeanwhile,
    CommitRecord,
    CommittedFile,
    MayFollow,
    Overtaken,
    TableStore,
    open_table,
)
from mason.pipeline.table_writer import write_empty_file
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Progress

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
        return MergeResult(plan.base.commit, plan, Sums(0, 0, 0), 0)
    filesystem = open_filesystem(plan.job.storage)
    table = open_table(plan.job.storage, plan.job.output, plan.job.options.foreign)
    expected = _expected(plan, table)
    foreseen = {each.column for each in plan.conflicts}
    patience = patience or Patience(plan.job.options.commit_timeout)
    with _while_nobody_else_commits(plan, expected), table.stage(job_id) as staging:
        plan, results, rounds = Rounds(runner, table_spec(plan.partition_keys), job_id, progress, staging).run(plan)
        files = _united(plan, runner, staging, job_id, written(filesystem, staging, results.values()))
        files = files or _no_rows(plan, staging, job_id)
        quarantine = quarantine_files(filesystem, staging, results.values())
        number_records(filesystem, plan.files, quarantine)
        quarantined = sum(read_bytes(filesystem, path).count(b"\n") for path in quarantine)
        sums = Sums.of(results.values(), sum(each.rows for each in files), quarantined)
        check_sums(sums)
        check_share(filesystem, plan.job.options, replace(sums, rows_in=sums.rows_in - plan.rows_rewritten), quarantine)
        if finish:
            finish(staging, quarantine, sums)
        record = _record(plan, job_id, files, sums, _carried(plan, table, staging))
        kept = _kept(plan, files)
        publish = partial(table.publish, staging, record, expected=expected, kept=kept, adopted=plan.adopted)
        # Who has something to finish has looked at the table itself, not only at its columns.
        committed = _published(publish, None if finish else partial(may_follow, plan), patience)
    return MergeResult(committed, plan, sums, rounds, foreseen)


def _published(publish: Callable[..., CommitRecord], may_follow: MayFollow | None, patience: Patience) -> CommitRecord:
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
        storage, output = plan.job.storage, plan.job.output
        if not plan.adopted and (plan.base is None or plan.base.is_there(open_filesystem(storage), output)):
            raise
        current = open_table(storage, output).current()
        if (current and current.id) == (expected and expected.id):
            raise
        raise ChangedMeanwhile(output, current) from error


def _expected(plan: MergePlan, table: TableStore) -> CommitRecord | None:
    """The version that the table must still have at the end: the one whose rows were read, where it is written anew."""
    if plan.job.options.mode is not Mode.REPLACE:
        return plan.base_commit
    return plan.rewritten if plan.job.is_in_place else table.current()


def _united(
    plan: MergePlan, runner: TaskRunner, staging: str, job_id: str, pieces: Sequence[CommittedFile]
) -> Sequence[CommittedFile]:
    """Unite the pieces of partitions; without partitions every task has written one file of a sensible size."""
    filesystem = open_filesystem(plan.job.storage)
    remove_strangers(filesystem, staging, pieces)
    return united(runner, plan.job.storage, staging, job_id, pieces) if plan.partition_keys else pieces


def _no_rows(plan: MergePlan, staging: str, job_id: str) -> Sequence[CommittedFile]:
    """Write the columns of a table that would have no file at all: who looks into its folder finds them there.

    Not of one that is divided: its files lie in the folders of their values, and there are none.
    """
    if plan.partition_keys or _kept(plan, ()):
        return []
    filesystem = open_filesystem(plan.job.storage)
    name = f"part-{job_id}-no-rows.parquet"
    write_empty_file(filesystem, staging, name, plan.schema)
    return [committed_file(filesystem, staging, name)]


def _kept(plan: MergePlan, files: Sequence[CommittedFile]) -> Sequence[CommittedFile]:
    """The files of the table that stay in it."""
    if plan.base is None or plan.rewrites_base:
        return ()
    if plan.job.options.mode is Mode.APPEND:
        return plan.base.commit.files
    replaced = {each.path.rpartition("/")[0] for each in files}
    return [each for each in plan.base.commit.files if each.path.rpartition("/")[0] not in replaced]


def _carried(plan: MergePlan, table: TableStore, staging: str) -> Mapping[str, Any]:
    """Stage what a table that is merged with itself takes along, and return the files that it was merged from."""
    if not plan.job.is_in_place or plan.base:
        return {}
    carry_quarantine(open_filesystem(plan.job.storage), plan.job.output, staging)
    return carried_sources(table)


def _record(
    plan: MergePlan, job_id: str, files: Sequence[CommittedFile], sums: Sums, sources: Mapping[str, Any]
) -> CommitRecord:
    read = {**sources, **fingerprints(plan.files)}
    return CommitRecord(
        job_id,
        0,
        None,
        job_id,
        files,
        sums.rows_out,
        sums.quarantined,
        encode_schema(plan.schema),
        partition_keys=list(plan.partition_keys),
        adds=plan.base is not None,
        details={
            "options": asdict(plan.job.options),
            "sources": read,
            **readings(plan),
            **pattern_details(plan.base_commit or plan.rewritten, plan.job.options.schema),
            **_made_for(plan),
        },
    )


def _made_for(plan: MergePlan) -> Mapping[str, Any]:
    return plan.work.to_details() if plan.work else {}
