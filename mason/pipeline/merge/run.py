"""Runs a merge: tasks, the sums, the commit. Nothing is visible before the last of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mason.errors import MasonError, Unprocessable
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.job import Mode, OnBadRecord
from mason.pipeline.merge.kernel import evidence_of_results
from mason.pipeline.merge.plan import MergePlan
from mason.pipeline.merge.task import KERNEL, TaskResult, tasks_of
from mason.pipeline.rejects import Reject
from mason.pipeline.table_commit import OWN_FOLDER, CommitRecord, CommittedFile, TableFolder
from mason.pipeline.tasks import TaskRunner

MOST_ROUNDS = 10
MOST_QUARANTINED_SHARE = 0.1
FEW_RECORDS = 100

Progress = Callable[[int, int, int], None]
"""Called with tasks done, tasks in all, and records read so far."""


class RowsLost(MasonError):
    """500 · exit 1 · the sums do not hold: nothing was committed"""


class TooManyBadRecords(Unprocessable):
    """422 · exit 1"""


@dataclass(frozen=True)
class MergeResult:
    """What a merge did."""

    commit: CommitRecord
    plan: MergePlan
    rows_in: int
    rows_out: int
    quarantined: int
    rounds: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "Output": self.plan.job.output,
            "Commit": self.commit.id,
            "RowsIn": self.rows_in,
            "RowsOut": self.rows_out,
            "RowsQuarantined": self.quarantined,
            "Files": [each.path for each in self.commit.files],
            "Bytes": sum(each.bytes for each in self.commit.files),
            "Columns": [{"Name": field.name, "Type": str(field.type)} for field in self.plan.schema],
            "SchemaConflicts": [each.to_dict() for each in self.plan.conflicts],
        }


def run_merge(plan: MergePlan, runner: TaskRunner, job_id: str, progress: Progress) -> MergeResult:
    """Run a plan and commit its result.

    Raises:
        Conflict: another job committed to the output meanwhile.
        TooManyBadRecords: so much does not fit that something else must be wrong.
        RowsLost: rows in are not rows out and quarantined ones.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    table = TableFolder(plan.job.output)
    expected = table.current()
    with table.stage(job_id) as staging:
        plan, results, rounds = _run_until_it_fits(plan, runner, staging, job_id, progress)
        files = list(_written(staging, results))
        rows_in = sum(each.records for each in results.values())
        rows_out = sum(each.rows for each in files)
        quarantined = _count_quarantined(staging, results)
        _check_sums(rows_in, rows_out, quarantined)
        _check_share(plan, staging, results, rows_in, quarantined)
        schema = encode_schema(plan.schema)
        record = CommitRecord(job_id, 0, None, job_id, files, rows_out, quarantined, schema)
        append = plan.job.options.mode is Mode.APPEND
        committed = table.publish(staging, record, expected=expected, append=append)
    return MergeResult(committed, plan, rows_in, rows_out, quarantined, rounds)


def _run_until_it_fits(
    plan: MergePlan, runner: TaskRunner, staging: Path, job_id: str, progress: Progress
) -> tuple[MergePlan, Mapping[int, TaskResult], int]:
    """A sampled schema is a hypothesis: where values beyond the sample need a wider type, the tasks run again."""
    for number in range(1, MOST_ROUNDS + 1):
        results = _run_tasks(plan, runner, staging, job_id, progress)
        seen = evidence_of_results(results)
        if not seen:
            return plan, results, number
        wider = plan.widened(seen)
        if wider.schema == plan.schema:
            raise RowsLost(f"Columns {', '.join(seen)} do not fit the schema that was decided for them.")
        plan = wider
        _empty(staging)
    raise RowsLost(f"No schema was found in {MOST_ROUNDS} rounds.")


def _run_tasks(
    plan: MergePlan, runner: TaskRunner, staging: Path, job_id: str, progress: Progress
) -> Mapping[int, TaskResult]:
    tasks = tasks_of(plan, str(staging), job_id)
    results: dict[int, TaskResult] = {}
    records = 0
    for number, content in runner.run(KERNEL, [task.to_bytes() for task in tasks]):
        results[number] = TaskResult.of(content)
        records += results[number].records
        progress(len(results), len(tasks), records)
    if len(results) != len(tasks):
        raise RowsLost(f"{len(tasks) - len(results)} of {len(tasks)} tasks gave no result.")
    return results


def _written(staging: Path, results: Mapping[int, TaskResult]) -> Iterator[CommittedFile]:
    """Yield the accepted files, each with the rows that its own footer states."""
    for number in sorted(results):
        for path in results[number].files:
            rows = pq.read_metadata(staging / path).num_rows
            yield CommittedFile(path, rows, (staging / path).stat().st_size)
    accepted = {path for result in results.values() for path in result.files}
    for file in staging.glob("part-*"):
        if file.name not in accepted:  # of an attempt that the engine gave up
            file.unlink()


def _count_quarantined(staging: Path, results: Mapping[int, TaskResult]) -> int:
    files = [staging / result.quarantine for result in results.values() if result.quarantine]
    for file in (staging / OWN_FOLDER / "quarantine").glob("*"):
        if file not in files:
            file.unlink()
    return sum(file.read_bytes().count(b"\n") for file in files)


def _check_sums(rows_in: int, rows_out: int, quarantined: int) -> None:
    if rows_in != rows_out + quarantined:
        raise RowsLost(
            f"{rows_in:,} records were read, but {rows_out:,} were written and {quarantined:,} quarantined.",
            hint="Nothing was committed. This is a defect of Mason: please report it.",
        )


def _check_share(
    plan: MergePlan, staging: Path, results: Mapping[int, TaskResult], rows_in: int, quarantined: int
) -> None:
    too_many = quarantined > max(FEW_RECORDS, MOST_QUARANTINED_SHARE * rows_in)
    if quarantined and (too_many or plan.job.options.on_bad_record is OnBadRecord.FAIL):
        examples = "; ".join(_examples(staging, results))
        raise TooManyBadRecords(
            f"{quarantined:,} of {rows_in:,} records do not fit, such as {examples}.",
            hint="Mend the files, or say how they are to be read (input_format, parse_headers). Nothing was committed.",
        )


def _examples(staging: Path, results: Mapping[int, TaskResult]) -> Sequence[str]:
    paths = [result.quarantine for result in results.values() if result.quarantine]
    lines = [line for path in paths for line in (staging / path).read_text().splitlines()[:3]][:3]
    rejects = [Reject.of(json.loads(line)) for line in lines]
    return [f"{each.file} record {each.record:,} ({each.reason})" for each in rejects]


def _empty(staging: Path) -> None:
    for entry in staging.iterdir():
        if entry.name != OWN_FOLDER:
            entry.unlink()
    shutil.rmtree(staging / OWN_FOLDER / "quarantine", ignore_errors=True)
