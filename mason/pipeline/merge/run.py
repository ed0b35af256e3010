"""Runs a merge: tasks, the sums, the commit. Nothing is visible before the last of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from mason.pipeline.blocks import read_bytes
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.compact import united
from mason.pipeline.merge.job import Mode
from mason.pipeline.merge.numbering import number_records
from mason.pipeline.merge.outcome import MergeResult, Sums, check_share, check_sums
from mason.pipeline.merge.plan import MergePlan
from mason.pipeline.merge.readings import readings
from mason.pipeline.merge.rounds import Rounds
from mason.pipeline.merge.sources_merged import fingerprints
from mason.pipeline.merge.staging import quarantine_files, remove_strangers, written
from mason.pipeline.sinks import table_spec
from mason.pipeline.storage_address import open_filesystem
from mason.pipeline.table_commit import CommitRecord, CommittedFile, open_table
from mason.pipeline.tasks import TaskRunner
from mason.pipeline.work import Progress

Finish = Callable[[str, Sequence[str]], None]
"""Called with the staging folder and the new files of the quarantine in it, when all that is left is the commit."""


def run_merge(
    plan: MergePlan, runner: TaskRunner, job_id: str, progress: Progress, finish: Finish | None = None
) -> MergeResult:
    """Run a plan and commit its result.

    Raises:
        Conflict: another job committed to the output meanwhile.
        TooManyBadRecords: so much does not fit that something else must be wrong.
        RowsLost: rows in are not rows out and quarantined ones.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    if not plan.files and plan.base:  # an incremental merge that finds nothing new
        return MergeResult(plan.base.commit, plan, Sums(0, 0, 0), 0)
    filesystem = open_filesystem(plan.job.storage)
    table = open_table(plan.job.storage, plan.job.output)
    expected = table.current() if plan.job.options.mode is Mode.REPLACE else plan.base_commit
    with table.stage(job_id) as staging:
        plan, results, rounds = Rounds(runner, table_spec(plan.partition_keys), job_id, progress, staging).run(plan)
        files = _united(plan, runner, staging, job_id, written(filesystem, staging, results.values()))
        quarantine = quarantine_files(filesystem, staging, results.values())
        number_records(filesystem, plan.files, quarantine)
        quarantined = sum(read_bytes(filesystem, path).count(b"\n") for path in quarantine)
        sums = Sums.of(results.values(), sum(each.rows for each in files), quarantined)
        check_sums(sums)
        check_share(filesystem, plan.job.options, sums, quarantine)
        if finish:
            finish(staging, quarantine)
        kept = _kept(plan, files)
        committed = table.publish(staging, _record(plan, job_id, files, sums), expected=expected, kept=kept)
    return MergeResult(committed, plan, sums, rounds)


def _united(
    plan: MergePlan, runner: TaskRunner, staging: str, job_id: str, pieces: Sequence[CommittedFile]
) -> Sequence[CommittedFile]:
    """Unite the pieces of partitions; without partitions every task has written one file of a sensible size."""
    filesystem = open_filesystem(plan.job.storage)
    remove_strangers(filesystem, staging, pieces)
    return united(runner, plan.job.storage, staging, job_id, pieces) if plan.partition_keys else pieces


def _kept(plan: MergePlan, files: Sequence[CommittedFile]) -> Sequence[CommittedFile]:
    """The files of the table that stay in it."""
    if plan.base is None or plan.rewrites_base:
        return ()
    if plan.job.options.mode is Mode.APPEND:
        return plan.base.commit.files
    replaced = {each.path.rpartition("/")[0] for each in files}
    return [each for each in plan.base.commit.files if each.path.rpartition("/")[0] not in replaced]


def _record(plan: MergePlan, job_id: str, files: Sequence[CommittedFile], sums: Sums) -> CommitRecord:
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
        details={"options": asdict(plan.job.options), "sources": fingerprints(plan.files), **readings(plan)},
    )
