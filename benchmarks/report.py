"""Writes docs/performance.md from the results: nobody edits a figure by hand.

.venv/bin/python -m benchmarks.report
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import LARGEST_SIZE_DIFFERENCE, RESULTS, Comparison, Output, Profile, Result, Runs, read_results

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
UNITS = {
    "s": "{:.2f} s",
    "ms": "{:.0f} ms",
    "ms a step": "{:.2f} ms a step",
    "ms a request": "{:.2f} ms",
    "MB": "{:.0f} MB",
    "requests": "{:.0f}",
}


@dataclass(frozen=True)
class Group:
    """A part of the page: the results of some scripts, and how they were taken."""

    title: str
    text: str
    names: Sequence[str]
    script: str


GROUPS = (
    Group(
        "Merge into Parquet",
        "Wall time of whole jobs in a process that is running, Mason on a warm Spark: listing, sniffing, checks for "
        "conflicts, counting, quarantine, commit with fsync, and the job's record included. DuckDB gets all cores, the "
        "same codec (snappy), and the files from the same warm cache; once written as a user would, once tuned.",
        ("merge_csv", "merge_quoted_csv", "merge_parquet", "merge_json"),
        "merge",
    ),
    Group(
        "Explode into flat tables",
        "Wall time of whole jobs in a process that is running, Mason on a warm Spark, with all that a merge has in it. "
        "DuckDB reads the records once, numbers them, and writes every table from them with `unnest`; all cores, the "
        "same codec. Rows of lists are compared by the id of their record, so that any key will do.",
        ("explode",),
        "explode",
    ),
    Group(
        "Merge beside plain PySpark",
        "The same job as the first above. PySpark has a warm session of `local[*]` in a process of its own.",
        ("merge_csv_pyspark",),
        "merge_pyspark",
    ),
    Group(
        "Parquet to CSV",
        "The whole of `table format`, as above; DuckDB writes one file, or, tuned, one per thread.",
        ("format",),
        "format",
    ),
    Group(
        "Merge from S3 to S3",
        "The first merge above once more, with a SeaweedFS on this machine as the store, which takes its share of the "
        "two cores; beside the same merge on the disk, and beside plain PySpark over S3A.",
        ("s3_merge", "s3_requests"),
        "s3",
    ),
    Group(
        "What record and commit cost",
        "Mason's whole merge beside the same plan and the same tasks on the same warm session, with no sums, no commit "
        "and no record.",
        ("overhead",),
        "overhead",
    ),
    Group(
        "A small merge, the whole command",
        "Wall time of a process from its start to its end, on a server that is warm. The rival is a bare Spark Connect "
        "client that keeps its session id and runs one `mapInArrow`, which reads the same files and writes Parquet.",
        ("small_merge",),
        "small_merge",
    ),
    Group(
        "A call in a process of its own",
        "What the server's pool of children adds to a call that does nothing; the rival is the time that was allowed.",
        ("pool",),
        "pool",
    ),
    Group(
        "Summarize",
        "Wall time of whole jobs in a process that is running, Mason on a warm Spark, with the plan, the checks and "
        "the job's record. DuckDB gets all cores and the same files from the same warm cache; once as a user would "
        "write it, once with the aggregates of SUMMARIZE written by hand, each asked for once.",
        ("summarize",),
        "summarize",
    ),
    Group(
        "Dedupe",
        "Keeping the latest row of each key. Wall time of whole jobs in a process that is running, Mason on a warm "
        "Spark, commit with fsync and record included. DuckDB gets all cores, the same codec and the same warm cache; "
        "once as a user would write it, once tuned.",
        ("dedupe",),
        "dedupe",
    ),
    Group(
        "Query",
        "A join and a grouping. Wall time of whole jobs in a process that is running, Mason on a warm Spark with the "
        "plan and the record. PySpark has a warm session of `local[*]` in a process of its own.",
        ("query",),
        "query",
    ),
    Group(
        "A query of one row, the whole command",
        "Wall time of a process from its start to its end, on a server that is warm. The rival is a bare Spark Connect "
        "client that keeps its session id and asks the same of the same files.",
        ("small_query",),
        "small_query",
    ),
    Group(
        "Memory of a worker",
        "The peak of the resident memory (VmHWM) of a fresh process that runs all tasks of a merge of one file, one "
        "after the other, as a worker of Spark does; for a file of 1 GB beside one of 100 MB.",
        ("memory",),
        "memory",
    ),
    Group(
        "Two executors",
        "A standalone cluster on this machine, spark-submit with one executor of one core beside two. The tasks' part "
        "is from the launch of the first task to the end of the last, from Spark's event log; the whole job has the "
        "start of spark-submit in it. The control runs the same tasks in one and in two plain processes: more than "
        "that the machine does not give.",
        ("executors",),
        "executors",
    ),
    Group(
        "Workflows",
        "Wall time of whole runs in a process that is running: the workflow found and checked as a whole, every step "
        "run by the local scheduler and recorded in the state. Prefect runs a flow of tasks that its own server on "
        "this machine records, Dagster a job in its process with an instance on disk, Luigi tasks with its local "
        "scheduler and a file for each; what they need to be started or defined is not counted.",
        ("workflow",),
        "workflow",
    ),
    Group(
        "The tables of a Glue catalog",
        "Wall time of a listing in a process that is running. A server on this machine has the answers ready, in pages "
        "of 100 as AWS cuts them; the rival reads no more of them than the names.",
        ("glue",),
        "glue",
    ),
    Group(
        "The REST API",
        "Requests of a load generator in a process of its own, over 8 connections. The bare connexion application "
        "returns a constant; Flask's development server reads every definition and the configuration anew at each "
        "request. The first answer after a start is that of an operator, or the constant.",
        ("api",),
        "api",
    ),
    Group(
        "Commands",
        "CPU time of whole processes, user and system. DuckDB's plain `DESCRIBE` takes the schema of the first file "
        "for all; `table get` looks into every file, as DuckDB does with `union_by_name`.",
        ("commands", "projects"),
        "commands",
    ),
)

HEAD = """\
# Figures

Written by `benchmarks/report.py` from the files in `benchmarks/results/`, which the scripts beside them make;
`benchmarks/all.sh` runs them all. A test compares this page with the files.

Mason and its rivals run in turn, after a warm-up each. A figure is the median of the runs, with the least and the most
in brackets. The ratio is that of the medians, with the least and the most of the single rounds in brackets; the times
themselves are one machine's. Where the results are tables, a digest over all columns of all rows has proven them equal,
whatever the order of the rows; a number is compared as double where one of them has chosen decimal.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    options.page.write_text(render_page(read_results(options.results)), encoding="utf-8")


def render_page(results: Mapping[str, Result]) -> str:
    """Return the page."""
    lines = [HEAD]
    for group in GROUPS:
        lines += [f"## {group.title}", "", _wrapped(f"{group.text} (`benchmarks/{group.script}.py`)"), ""]
        for name in group.names:
            lines += render_result(results[name]) if name in results else [f"{name}: not measured yet.", ""]
    return "\n".join(lines).rstrip() + "\n"


def render_result(result: Result) -> list[str]:
    """Return the lines of one result."""
    return [
        f"**{result.data}**",
        "",
        "| | figure | rival's figure | ratio | target | |",
        "|---|---|---|---|---|---|",
        *map(_row, result.comparisons),
        "",
        _wrapped(" ".join(_sentences(result))),
        "",
        *(_profile(result.profile) if result.profile else ()),
    ]


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _row(comparison: Comparison) -> str:
    told = "" if comparison.met is None else "met" if comparison.met else "**not met**"
    spread = _range(comparison.ratios, "{:.2f}")
    faster = " as fast" if comparison.ratio_is == "speed-up" else ""
    ratios = f"{comparison.ratio:.2f} ×{faster} ({spread})"
    figures = (_figure(comparison.ours, comparison.unit), _figure(comparison.rival, comparison.unit))
    return f"| {comparison.job} | {' | '.join(figures)} | {ratios} | {_target(comparison)} | {told} |"


def _figure(runs: Runs, unit: str) -> str:
    shown = UNITS[unit]
    spread = f" ({_range(runs.values, shown.partition(' ')[0])})" if len(runs.values) > 1 else ""
    return f"{runs.label}: {shown.format(runs.median)}{spread}"


def _range(values: Sequence[float], shown: str) -> str:
    return f"{shown.format(min(values))}–{shown.format(max(values))}"


def _target(comparison: Comparison) -> str:
    if comparison.limit is None:
        return ""
    if comparison.ratio_is == "speed-up":
        return f"at least {round(comparison.limit, 2):g} ×"
    return f"at most {round(comparison.limit, 2):g} ×"


def _sentences(result: Result) -> Iterator[str]:
    yield from result.notes
    if result.outputs:
        yield f"{result.outputs[0].rows:,} rows, proven equal. {_sizes(result.outputs)}"
    machine = result.machine
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "pyspark", "pyarrow", "duckdb"))
    scale = "" if result.scale == 1 else f" Only a try, on {result.scale:g} of the data."
    rounds = len(result.comparisons[0].ours.values)
    yield (
        f"{rounds} round{'s' * (rounds != 1)} on {result.date}, {machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB, {versions}.{scale}"
    )


def _sizes(outputs: Sequence[Output]) -> str:
    """Say how large the outputs are, and whether Mason's, which is the last, is about as large as each rival's."""
    ours = outputs[-1]
    told = [f"On disk: {ours.label} {ours.bytes / 1e6:.1f} MB"]
    for rival in outputs[:-1]:
        share = ours.bytes / rival.bytes
        verdict = "within" if abs(share - 1) <= LARGEST_SIZE_DIFFERENCE else "**not within**"
        told.append(f"{rival.label} {rival.bytes / 1e6:.1f} MB ({share:.2f} ×, {verdict} 10 %)")
    return "; ".join(told) + "."


def _profile(profile: Profile) -> Iterator[str]:
    yield f"Profile of {profile.what}, {profile.seconds:.2f} s, by the time in the function itself:"
    yield ""
    yield "| function | calls | seconds | share |"
    yield "|---|---|---|---|"
    for each in profile.functions:
        share = each.seconds / profile.seconds
        yield f"| `{each.function}` | {each.calls:,} | {each.seconds:.2f} | {share:.0%} |"
    yield ""


if __name__ == "__main__":
    main()
