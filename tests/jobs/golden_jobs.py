"""The JSON of every type of job as it is today: what its plan and its record say. See `test_golden_jobs`.

`python -m tests.jobs.golden_jobs` writes the files anew: look at the difference before it is committed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import Mason, write

GOLDEN = Path(__file__).parent / "golden"

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
    Golden("replay", "quarantine", {"path": "shop/orders", "action": "replay", "file": "mended.jsonl"}),
)  # fmt: skip


def describe_jobs(mason: Mason) -> dict[str, dict[str, Any]]:
    """Return what the plan and the run of each job say, without ids, times and places of this machine."""
    mason.register_examples()
    write(mason.folder, FILES)
    assert mason("config", "shop.yaml").exit_code == 0
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
        for job, told in describe_jobs(Mason(folder, Path(name) / "home")).items():
            text = json.dumps(told, indent=1, ensure_ascii=False)
            (GOLDEN / f"{job}.json").write_text(text + "\n", encoding="utf-8")
            sys.stdout.write(f"{job}\n")


if __name__ == "__main__":
    main()
