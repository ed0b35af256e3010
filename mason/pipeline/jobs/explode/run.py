"""Runs an explode: tasks until everything fits, the sums, and one commit for all tables.

The tables are folders of one output, a database, each with a commit record of its own beside it. All
are staged together and become visible in one step, when the output's own folder is exchanged: there is no moment at
which a child shows rows of which the parent knows nothing.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.explode.numbering import first_rows
from mason.pipeline.jobs.explode.outcome import ExplodeResult, WrittenTable
from mason.pipeline.jobs.explode.plan import ExplodePlan
from mason.pipeline.jobs.explode.shape import Path, describe_path
from mason.pipeline.jobs.explode.sink import explode_spec
from mason.pipeline.jobs.merge.outcome import Sums, check_share
from mason.pipeline.jobs.table_output import StagedTable, TableOutput
from mason.pipeline.reading.request import ReadOptions
from mason.pipeline.reading.scan import ScanResult, run_scan
from mason.pipeline.reading.tasks.staging import empty, list_accepted_paths
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.blocks import write_bytes
from mason.pipeline.storage.files import make_folder
from mason.pipeline.tables.commit import CommitRecord, CommittedFile
from mason.pipeline.tables.room import room_of
from mason.pipeline.types.column_types import NOTHING, Evidence, merge
from mason.pipeline.types.evidence_json import decode, encode_schema
from mason.pipeline.work.base import Progress
from mason.pipeline.work.row_sums import RowsLost, RowSums, rows_lost
from mason.pipeline.work.tasks import TaskRunner

LOG = logging.getLogger("mason.pipeline")
MOST_ROUNDS = 10
_REMEDY = "Mend the files, or merge them into a table first, where you can say how they are to be read."


def run_explode(plan: ExplodePlan, runner: TaskRunner, job_id: str, progress: Progress) -> ExplodeResult:
    """Run a plan and commit its tables.

    Raises:
        Conflict: another job committed to the output meanwhile.
        RowsLost: a table has not as many rows as there are records, or elements in its lists.
        TooManyBadRecords: so many records are none that something else must be wrong.
        UnreadableFile: a file cannot be read, or changed after the plan was made.
    """
    assert plan.job.output is not None
    output = TableOutput.of(plan.job.output, plan.job.foreign)
    with output.stage(job_id) as staged:
        plan, scanned = _run_until_it_fits(plan, runner, staged.location, job_id, progress)
        tables = _tables(plan, staged.take(list_accepted_paths(scanned.results)))
        quarantine = staged.take_quarantine(scanned.scan.plan, scanned.results)
        _check_rows(tables, scanned)
        sums = Sums.of(scanned.results, tables[0].rows, quarantine.records)
        check_share(staged.filesystem, ReadOptions(), sums, quarantine.files, _REMEDY)
        for table in tables:
            _write_record(staged, table, plan)
        committed = _commit(staged, tables, plan, sums.rows)
    return ExplodeResult(plan=plan, commit=committed, tables=tables, sums=sums.rows, kept=_count_kept_texts(scanned))


def _run_until_it_fits(
    plan: ExplodePlan, runner: TaskRunner, staging: Location, job_id: str, progress: Progress
) -> tuple[ExplodePlan, ScanResult]:
    """The types of what texts hold, and the number of rows before each task, are hypotheses: the tasks tell."""
    filesystem = open_filesystem(plan.job.path.storage)
    firsts = first_rows(filesystem, plan.scan.plan) if plan.tables[0].keys else ()
    for _ in range(MOST_ROUNDS):
        scanned = run_scan(plan.scan, explode_spec(plan.form, firsts), runner, job_id, progress, staging)
        plan = replace(plan, scan=scanned.scan)
        seen = _collect_evidence(scanned.payloads)
        counts = [payload["rows"] for payload in scanned.payloads]
        right = list(accumulate(counts, initial=0))[:-1]
        if seen:
            plan = plan.widen_with(seen)
            LOG.info("There is more in %s than the sample showed: the tasks run again.", _list_paths(seen))
        elif plan.tables[0].keys and right != [payload["first"] for payload in scanned.payloads]:
            LOG.info("There are other records than were counted: the tasks run again with the numbers of the rows.")
        else:
            return plan, scanned
        firsts = right
        empty(staging)
    raise RowsLost(f"No types were found for the texts in {MOST_ROUNDS} rounds.")


def _collect_evidence(payloads: Sequence[Mapping[str, Any]]) -> dict[Path, Evidence]:
    united: dict[Path, Evidence] = {}
    for payload in payloads:
        for names, seen in payload["seen"]:
            united[tuple(names)] = merge(united.get(tuple(names), NOTHING), decode(seen))
    return united


def _list_paths(seen: Mapping[Path, Evidence]) -> str:
    return ", ".join(f'"{describe_path(path)}"' for path in seen)


def _count_kept_texts(scanned: ScanResult) -> Mapping[Path, int]:
    counts: Counter[Path] = Counter()
    for payload in scanned.payloads:
        for names, count in payload["kept"]:
            counts[tuple(names)] += count
    return {path: count for path, count in counts.items() if count}


def _tables(plan: ExplodePlan, files: Sequence[CommittedFile]) -> Sequence[WrittenTable]:
    """The tables with their files, as paths below the folders of the tables."""
    found: dict[str, list[CommittedFile]] = {}
    for each in files:
        folder, _, name = each.path.partition("/")
        found.setdefault(folder, []).append(replace(each, path=name))
    return [WrittenTable(table, found.get(table.folder, [])) for table in plan.tables]


def _check_rows(tables: Sequence[WrittenTable], scanned: ScanResult) -> None:
    """Hold the footers against the records, and against the lengths of the lists.

    Raises:
        RowsLost: they do not add up.
    """
    expected = Counter({tables[0].flat.name: scanned.rows})
    for payload in scanned.payloads:
        expected.update(payload["elements"])
    for table in tables:
        name = table.flat.name
        if table.rows != expected[name]:
            raise rows_lost(f'Table "{name}" should have {expected[name]:,} rows, but {table.rows:,} were written.')


def _write_record(staged: StagedTable, table: WrittenTable, plan: ExplodePlan) -> None:
    """Write the commit record of one of the tables, which comes with it when the output is published."""
    details = {"exploded": {"from": str(plan.job.path), "with": str(plan.job.output)}}
    prepared = staged.prepare(table.files, RowSums(table.rows, table.rows), table.flat.schema, details=details)
    before, now = staged.output.expected, datetime.now(UTC).isoformat(timespec="microseconds")
    record = replace(prepared, number=before.number + 1 if before else 1, created_at=now)
    place = f"{room_of(f'{staged.folder}/{table.flat.folder}')}/{record.place}"
    make_folder(staged.filesystem, place.rpartition("/")[0])
    write_bytes(staged.filesystem, place, json.dumps(record.to_dict(), indent=1).encode())


def _commit(staged: StagedTable, tables: Sequence[WrittenTable], plan: ExplodePlan, sums: RowSums) -> CommitRecord:
    """Commit the output: who reads the output itself gets the table of the records."""
    main = tables[0]
    files = [replace(each, path=f"{main.flat.folder}/{each.path}") for each in main.files]
    details = {
        table.flat.name: {
            "folder": table.flat.folder,
            "rows": table.rows,
            "keys": list(table.flat.keys),
            "files": [each.__dict__ for each in table.files],
            "schema": encode_schema(table.flat.schema),
        }
        for table in tables
    }
    return staged.commit(files, sums, main.flat.schema, details={"tables": details, "from": str(plan.job.path)})
