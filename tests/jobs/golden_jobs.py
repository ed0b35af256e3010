"""The JSON of every type of job as it is today: what its plan and its record say. See `test_golden_jobs`.

`python -m tests.jobs.golden_jobs` writes the files anew: look at the difference before it is committed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mason.engines.storage.models.infer_options import DelimitedOptions
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions
from mason.pipeline.jobs.diff.job import DiffJob, DiffOptions
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.replay import ReplayJob
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.transform.job import CodeFolder, TransformJob
from mason.pipeline.reading.request import Names, OnBadRecord, OnConflict
from mason.pipeline.tables.foreign_files import Foreign
from tests.conftest import Mason, write

GOLDEN = Path(__file__).parent / "golden"
COMMITS = "commits"
REQUESTS = "requests"

CONFIGURATION = """\
id: shop
metastore_engine: local
storage_engine: local
execution_engine: local
"""

FILES = {
    "shop.yaml": CONFIGURATION,
    "in/january.csv": "id,name,amount\n1,Ann,5.50\n2,Bob,7\n3,Cid,x\n2,Bob,7\n",
    "in/february.csv": 'id,name,amount\n4,"Dee, Dr.",9.25\n5,Eve,\n',
    "own/operator.yaml": """\
type: operator
namespace: table
command: dear
parameters:
  required:
    - {name: orders, type: table, access: read}
    - {name: output, type: table, access: write}
  optional:
    - {name: least, type: number, default: 6}
checks: [not_null id]
""",
    "own/transform.sql": "SELECT id, name FROM orders WHERE amount >= :least",
    "nested/orders.jsonl": '{"id": 1, "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}\n{"id": 2, "lines": []}\n',
}

PREPARATION = (
    ("table", "merge", {"input_path": "in", "output_path": "shop/orders", "schema": "amount decimal(10,2)",
                        "most_bad_share": "0.5"}),
    ("table", "merge", {"input_path": "in/january.csv", "output_path": "shop/former"}),
)  # fmt: skip


@dataclass(frozen=True)
class Golden:
    """A job that is planned and run."""

    name: str
    operator: str
    parameters: Mapping[str, str] = field(default_factory=dict)


JOBS = (
    Golden("merge", "merge", {"input_path": "in", "output_path": "out/merged"}),
    Golden(
        "merge_partitioned",
        "merge",
        {"input_path": "in", "output_path": "out/parts", "repartition_keys": "name", "schema": "amount decimal(10,2)",
         "most_bad_share": "0.5"},
    ),
    Golden("merge_append", "merge", {"input_path": "in/february.csv", "output_path": "shop/former", "mode": "append"}),
    Golden("dedupe", "dedupe", {"path": "shop/orders", "output_path": "out/once", "removed_path": "out/removed"}),
    Golden(
        "query",
        "query",
        {"database_name": "shop", "query_string": "select name, sum(amount) t from orders group by name order by name"},
    ),
    Golden(
        "query_written",
        "query",
        {"database_name": "shop", "query_string": "select id, amount from orders", "output_path": "out/answer"},
    ),
    Golden("explode", "explode", {"path": "nested", "output_path": "out/flat"}),
    Golden("format", "format", {"path": "shop/orders", "output_path": "out/csv", "format": "csv"}),
    Golden("summarize", "summarize", {"path": "shop/orders"}),
    Golden("check", "check", {"path": "shop/orders", "checks": "not_null name"}),
    Golden("diff", "diff", {"path": "shop/orders", "other_path": "shop/former", "keys": "id"}),
    Golden(
        "transform",
        "dear",
        {"orders": "shop.orders", "output": "out/dear", "checks": "range id max=3 on_failure=warn"},
    ),
    Golden("replay", "quarantine", {"path": "shop/orders", "action": "replay", "file": "mended.jsonl"}),
)  # fmt: skip


def describe_jobs(mason: Mason) -> dict[str, dict[str, Any]]:
    """Return what the plan and the run of each job say, without ids, times and places of this machine."""
    mason.register_examples()
    write(mason.folder, FILES)
    assert mason("config", "shop.yaml").exit_code == 0
    assert mason("register", "own").exit_code == 0
    for namespace, command, parameters in PREPARATION:
        prepared = _run(mason, f"{namespace} {command}", parameters)
        assert not prepared["Errors"], prepared["Errors"]
    _run(mason, "table quarantine", {"path": "shop/orders", "action": "export", "file": "mended.jsonl"})
    _mend(mason.folder / "mended.jsonl")
    found = {}
    for job in JOBS:
        operator = f"table {job.operator}"
        plan = _run(mason, operator, job.parameters, "--plan")
        found[job.name] = {"plan": _plain(plan, mason), "run": _plain(_run(mason, operator, job.parameters), mason)}
    return found


def describe_commits(mason: Mason) -> dict[str, Any]:
    """Return what the commit records of all tables say, the newest of each table last; not those of former versions."""
    found = {}
    records = [each for each in mason.folder.rglob(".mason/tables/*/commits/*") if "kept" not in each.parts]
    for file in sorted(records):
        table = (file.parents[4] / file.parents[1].name).relative_to(mason.folder)
        number = file.name.partition("-")[0]
        found[f"{table} {number}"] = _plain(json.loads(file.read_text(encoding="utf-8")), mason)
    return found


def describe_requests() -> dict[str, Any]:
    """Return every type of job as an engine is asked for it, with as little and with as much as can be said."""
    return {name: json.loads(json.dumps(asdict(request.to_job()))) for name, request in example_requests().items()}


def example_requests() -> dict[str, Any]:
    """Return requests of every type: as short as can be, and with every field set."""
    checks = [
        Check(kind="not_null", name="names", columns=["name"]),
        Check(kind="foreign_key", name="k", columns=["id"], references="/shop/b"),
    ]
    csv = DelimitedOptions(quote="'", skip_rows=2, widths=(3, 4), ragged="pad")
    merge = MergeOptions(
        delimiter=";", nulls=("n/a",), on_conflict=OnConflict.STRING, on_bad_record=OnBadRecord.NULL, mode=Mode.APPEND,
        names=Names.FOLD, schema="id bigint", sample=7, repartition_keys=("day",), incremental=True, csv=csv,
        foreign=Foreign.KEEP,
    )  # fmt: skip
    diff = DiffOptions(version="1", other_version="2", keys=("id",), limit=3)
    dedupe = DedupeOptions(keys=("id",), order_by=("day",), keep="last")
    format_ = FormatOptions(
        format="csv",
        columns=("id",),
        filter="id > 1",
        partition_columns=("day",),
        file_size="1MB",
        compression="gzip",
        sample_size=9,
    )
    return {
        "merge": MergeJob(Location("/in"), Location("/out")),
        "merge, all": MergeJob(Location("b/in", "s3://b"), Location("b/out", "s3://b"), merge),
        "replay": ReplayJob(Location("/out"), Location("/mended")),
        "replay, all": ReplayJob(Location("b/out", "s3://b"), Location("/mended"), Foreign.KEEP),
        "dedupe": DedupeJob(path=Location("/in"), output=Location("/out")),
        "dedupe, all": DedupeJob(
            path=Location("b/in", "s3://b"),
            output=Location("b/out", "s3://b"),
            removed=Location("b/removed", "s3://b"),
            options=dedupe,
            foreign=Foreign.KEEP,
        ),
        "format": FormatJob(Location("/in"), Location("/out"), FormatOptions(format="csv")),
        "format, all": FormatJob(Location("b/in", "s3://b"), Location("b/out", "s3://b"), format_, Foreign.KEEP),
        "explode": ExplodeJob(path=Location("/in"), name="orders"),
        "explode, all": ExplodeJob(
            path=Location("b/in", "s3://b"),
            name="orders",
            output=Location("b/out", "s3://b"),
            columns=("lines",),
            separator="__",
            limit=5,
            foreign=Foreign.KEEP,
        ),
        "summarize": SummaryJob(path=Location("/in")),
        "summarize, all": SummaryJob(
            path=Location("b/in", "s3://b"),
            columns=("id",),
            exact=True,
            histogram=5,
            output=Location("b/out", "s3://b"),
            html=Location("/page"),
            overwrite=True,
            foreign=Foreign.KEEP,
        ),
        "check": CheckJob(path=Location("/in"), checks=checks[:1]),
        "check, all": CheckJob(
            path=Location("b/in", "s3://b"),
            checks=checks,
            references={"/shop/b": Location("/shop/b")},
            failures=Location("b/failed", "s3://b"),
            samples=3,
            as_of="2026-01-01",
            foreign=Foreign.KEEP,
        ),
        "diff": DiffJob(Location("/in"), Location("/other")),
        "diff, all": DiffJob(Location("b/in", "s3://b"), Location("b/other", "s3://b"), diff),
        "transform": TransformJob(
            name="shop:dear",
            digest="12ab",
            source="own",
            tables={"t": TableRef("a/t", Location("/a/t"))},
            output=Location("/out"),
        ),
        "transform, all": TransformJob(
            name="shop:dear",
            digest="12ab",
            source="own",
            tables={"t": TableRef("shop.t", Location("b/t", "s3://b"))},
            output=Location("b/out", "s3://b"),
            statement="select 1",
            code=CodeFolder(path="/own", class_name="ShopDear", function="a:b", packages=("numpy",)),
            declared=("t", "least"),
            parameters={"least": 1},
            versions={"t": "3"},
            mode=Mode.APPEND,
            partition_by=("day",),
            checks=checks,
            references={"/shop/b": Location("/shop/b")},
            failures=Location("b/failed", "s3://b"),
            allow_empty=True,
        ),
        "query": QueryJob(statement="select 1", database="shop", tables={}),
        "query, all": QueryJob(
            statement="select 1",
            database="shop",
            tables={"t": TableRef("t", Location("b/t", "s3://b"))},
            parameters={"n": 1},
            limit=5,
            output=Location("b/out", "s3://b"),
            format="csv",
            foreign=Foreign.KEEP,
        ),
    }


def _run(mason: Mason, operator: str, parameters: Mapping[str, str], *options: str) -> dict[str, Any]:
    arguments = [part for name, value in parameters.items() for part in ("-p", f"{name}:{value}")]
    return mason("operator", *operator.split(), "-c", "shop", *arguments, *options).json


def _mend(file: Path) -> None:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    mended = [{**line, "Raw": line["Raw"].replace("x", "6")} for line in lines]
    file.write_text("".join(json.dumps(line) + "\n" for line in mended), encoding="utf-8")


_LARGEST_COUNT = 10**15  # above it is a time in nanoseconds
_REPLACED = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "<time>"),
    (re.compile(r"\b\d{8}-[0-9a-f]{16}\b"), "<commit>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"[0-9a-f]{16}(-\d{5}-[0-9a-f]{8})?"), r"<id>"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b"), "<seconds>"),
)


def _plain(value: Any, mason: Mason) -> Any:
    """Return a document as it would be in any other folder, at any other time."""
    if isinstance(value, Mapping):
        return {_plain(name, mason): _plain(each, mason) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, mason) for each in value]
    if isinstance(value, str):
        text = value.replace(str(mason.folder), "<folder>")
        for pattern, placeholder in _REPLACED:
            text = pattern.sub(placeholder, text)
        return text
    return "<stamp>" if isinstance(value, int) and value > _LARGEST_COUNT else value


def main() -> None:
    """Write the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        mason = Mason(folder, Path(name) / "home")
        jobs = describe_jobs(mason)
        for job, told in {**jobs, COMMITS: describe_commits(mason), REQUESTS: describe_requests()}.items():
            text = json.dumps(told, indent=1, ensure_ascii=False)
            (GOLDEN / f"{job}.json").write_text(text + "\n", encoding="utf-8")
            sys.stdout.write(f"{job}\n")


if __name__ == "__main__":
    main()
