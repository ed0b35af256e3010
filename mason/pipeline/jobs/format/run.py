"""Writes a table in another format: tasks, the document if it is one, the sums, the commit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.format import document
from mason.pipeline.jobs.format.document import DocumentTask, group_pieces, write_document
from mason.pipeline.jobs.format.outcome import FormatResult
from mason.pipeline.jobs.format.plan import FormatPlan
from mason.pipeline.jobs.format.sink import COUNT_SINK, FORMAT_SINK, draw
from mason.pipeline.jobs.merge.outcome import Sums, check_share
from mason.pipeline.jobs.table_output import StagedTable, TableOutput
from mason.pipeline.reading.scan import ScanResult, run_scan
from mason.pipeline.reading.tasks.sinks import SinkSpec
from mason.pipeline.tables.commit import FORMAT, CommittedFile
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.work.base import Progress
from mason.pipeline.work.row_sums import QUARANTINED, LeftOut, RowSums
from mason.pipeline.work.tasks import TaskRunner, running, without_beats


def run_format(plan: FormatPlan, runner: TaskRunner, job_id: str, progress: Progress) -> FormatResult:
    """Carry a plan out and commit its result.

    Raises:
        CannotHold: the format would mangle a value.
        Conflict: another job committed to the output meanwhile.
        RowsLost: rows in are not rows out and those left out.
        TooManyForFormat: there are more rows than the format has room for.
        TooManyBadRecords: so much does not fit that something else must be wrong.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    planned, job = plan, plan.job
    with TableOutput.of(job.output, job.foreign, [plan.scan]).stage(job_id) as staged:
        plan, sample = _draw_sample(plan, runner, job_id, progress)
        scanned = run_scan(plan.scan, sink_of(plan, sample), runner, job_id, progress, staged.location)
        plan = plan.widen_with(scanned.scan)
        payloads = _documents(plan, runner, job_id, staged.location, scanned)
        files = _collect_files(staged, payloads)
        sums = _check_sums(staged, scanned, sum(each.rows for each in files))
        details = {FORMAT: plan.format.name, "written_by": asdict(job.options)}
        committed = staged.commit(
            files, sums, plan.schema, partition_keys=job.options.partition_columns, details=details
        )
    noted = Counter[str]()
    for each in payloads:
        noted.update(each["noted"])
    return FormatResult(planned=planned, plan=plan, commit=committed, sums=sums, noted=noted)


def _draw_sample(
    plan: FormatPlan, runner: TaskRunner, job_id: str, progress: Progress
) -> tuple[FormatPlan, Mapping[str, Any]]:
    """Count the rows that there are to choose from, and draw."""
    options = plan.job.options
    if options.sample_size is None:
        return plan, {}
    keys = list(options.partition_columns)
    counter = SinkSpec(COUNT_SINK, {"filter": options.filter}, keys)
    counted = run_scan(plan.scan, counter, runner, job_id, progress)
    drawn = draw([each["rows"] for each in counted.payloads], options.sample_size)
    return plan.widen_with(counted.scan), drawn


def sink_of(plan: FormatPlan, sample: Mapping[str, Any] | None = None) -> SinkSpec:
    """Return the sink that the tasks have; `sample` is what was drawn."""
    options = plan.job.options
    pieces = plan.format.is_document
    values = {
        "filter": options.filter,
        "columns": list(options.columns),
        "partition_columns": list(options.partition_columns),
        "format": document.PIECES if pieces else plan.format.name,
        "compression": "snappy" if pieces else plan.compression,
        "file_size": plan.file_size,
        "sample": sample or {},
    }
    return SinkSpec(FORMAT_SINK, values, list(options.partition_columns))


def _documents(
    plan: FormatPlan, runner: TaskRunner, job_id: str, staging: Location, scanned: ScanResult
) -> Sequence[Mapping[str, Any]]:
    """Make documents of pieces where the format has such; a table without rows is one file without rows in any case."""
    common: dict[str, Any] = {
        "staging": staging,
        "schema": encode_schema(plan.file_schema),
        "format": plan.format.name,
        "compression": plan.compression,
    }
    names = f"part-{job_id}"
    if not scanned.files:
        empty = DocumentTask(name=f"{names}-00000", pieces=[], **common)
        return [] if plan.job.options.partition_columns else [write_document(empty)]
    if not plan.format.is_document:
        return scanned.payloads
    counts = {name: rows for each in scanned.payloads for name, rows in each["rows"].items()}
    tasks = []
    for number, pieces in enumerate(group_pieces(scanned.files).values()):
        plan.format.check_size(sum(counts[piece] for piece in pieces), len(plan.file_schema))
        tasks.append(DocumentTask(name=f"{names}-{number:05}", pieces=pieces, **common))
    with running(runner, document.KERNEL, [task.to_bytes() for task in tasks]) as events:
        made = {number: json.loads(content) for number, content in without_beats(events)}
    return [made[number] for number in sorted(made)]


def _collect_files(staged: StagedTable, payloads: Sequence[Mapping[str, Any]]) -> list[CommittedFile]:
    """The files with the rows that were counted in them again after they were written: not all formats have footers."""
    files = [
        CommittedFile(name, rows, staged.filesystem.get_file_info(f"{staged.folder}/{name}").size)
        for each in payloads
        for name, rows in each["rows"].items()
    ]
    staged.keep_only(files)
    return files


def _check_sums(staged: StagedTable, scanned: ScanResult, rows_out: int) -> RowSums:
    quarantine = staged.take_quarantine(scanned.scan.plan, scanned.results)
    filtered, not_sampled = (sum(each[what] for each in scanned.payloads) for what in ("filtered", "not_sampled"))
    left_out = [
        LeftOut("Filtered", filtered),
        LeftOut("NotSampled", not_sampled, "not in the sample"),
        LeftOut(QUARANTINED, quarantine.records),
    ]
    sums = RowSums(scanned.rows_in, rows_out, left_out)
    sums.check()
    bad = Sums.of(scanned.results, rows_out, quarantine.records)
    check_share(staged.filesystem, scanned.scan.plan.request.options, bad, quarantine.files)
    return sums
