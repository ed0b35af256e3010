"""The workflows that come with Mason do what they say, on this machine and without Spark."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import configured, registered, strict_json
from tests.conftest import EXAMPLES, Mason, Result, write

HERE = (
    "id: examples\nmetastore_engine: local\nstorage_engine: local\nscheduler_engine: local\nexecution_engine: local\n"
)

DIES_BEFORE_IT_IS_RECORDED = """
import os, signal
from mason.__main__ import main
from mason.clients.local.dag_loop import DagLoop
DagLoop._end = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
main()
"""


def rows_of(mason: Mason, path: str) -> int:
    versions = strict_json(mason("operator", "table", "history", "-p", f"path:{path}"))["Data"]
    return int(next(each["Rows"] for each in versions if "Rows" in each))


def killed_run(mason: Mason, *call: str) -> str:
    """Run something that is killed when its first step has committed and is not recorded; return the run."""
    known = {each["RunID"] for each in json.loads(mason("workflow", "--runs", "--json").stdout)["Data"]}
    died = subprocess.run(
        [sys.executable, "-c", DIES_BEFORE_IT_IS_RECORDED, *call],
        cwd=mason.folder, env=mason.environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    runs = [each["RunID"] for each in json.loads(mason("workflow", "--runs", "--json").stdout)["Data"]]
    (run_id,) = (each for each in runs if each not in known)
    return str(run_id)


@pytest.fixture
def examples(mason: Mason) -> Mason:
    shutil.copytree(EXAMPLES / "data" / "suppliers", mason.folder / "suppliers")
    configured(mason.register_examples(), HERE)
    result = mason("register", "mason/examples/workflows")
    assert result.exit_code == 0, result.stderr
    return mason


def run(mason: Mason, command: str, file: str | Path, *flags: str) -> Result:
    return mason("workflow", "table", command, "-f", str(file), *(flags or ["-r"]))


def statuses(result: Result) -> dict[str, str]:
    found: dict[str, str] = strict_json(result)["Data"][0]["Statuses"]
    return found


def test_infer(examples: Mason) -> None:
    result = run(examples, "infer", "mason/examples/parameters/workflow_table_infer.yaml")

    assert statuses(result) == {"step_1": "succeeded"}


def test_validated_infer_keeps_a_table_that_works(examples: Mason) -> None:
    result = run(examples, "validated_infer", "mason/examples/parameters/validated_infer.yaml")

    assert result.exit_code == 0, result.stdout
    assert statuses(result) == {f"step_{number}": "succeeded" for number in range(1, 5)} | {"step_5": "skipped"}
    tables = examples("operator", "table", "list", "-p", "database_name:suppliers")
    assert "acme_articles" in tables.stdout


def test_validated_infer_cleans_up_after_a_query_that_fails_and_has_failed(examples: Mason) -> None:
    given = (EXAMPLES / "parameters" / "validated_infer.yaml").read_text()
    (examples.folder / "p.yaml").write_text(given.replace("select sku, price", "select nothing"))

    result = run(examples, "validated_infer", "p.yaml")

    assert result.exit_code == 1
    assert statuses(result) == {
        "step_1": "succeeded",
        "step_2": "succeeded",
        "step_3": "failed",
        "step_4": "failed",
        "step_5": "succeeded",
    }
    tables = examples("operator", "table", "list", "-p", "database_name:suppliers")
    assert "acme_articles" not in tables.stdout


def test_export(examples: Mason) -> None:
    result = run(examples, "export", "mason/examples/parameters/workflow_table_export.yaml")

    assert result.exit_code == 0, result.stdout
    (file,) = (examples.folder / "exported" / "csv").glob("*.csv")
    assert file.read_text().startswith("sku,price\n")


@pytest.mark.parametrize(("as_of", "is_reused"), [("", False), ("      as_of: 2026-01-31T12:00:00\n", True)])
def test_a_check_of_ages_is_asked_again_by_a_resume_unless_it_is_told_the_moment(
    examples: Mason, as_of: str, is_reused: bool
) -> None:
    what = "{id: check, type: operator, namespace: table, command: check}"
    yaml = f"type: workflow\nnamespace: demo\ncommand: fresh\ndag: [{what}]\nsupported_schedulers: [local]\n"
    write(examples.folder / "flows" / "fresh", {"workflow.yaml": yaml})
    registered(examples, examples.folder / "flows")
    given = f'    path: in.csv\n    checks: ["freshness day max_age=5200w"]\n{as_of[2:]}'
    write(examples.folder, {"in.csv": "day\n2026-01-31\n", "p.yaml": f"check:\n  parameters:\n{given}"})
    first = strict_json(examples("workflow", "demo", "fresh", "-f", "p.yaml", "-r"))["Data"][0]["RunID"]

    info = strict_json(examples("workflow", "--resume", first))["Info"]

    assert (f"check: reused from run {first}." in info) is is_reused
    assert ("check: runs again, since its answer depends on the time." in info) is not is_reused


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("vacuum", "{path: made/table, keep: 0, older_than_days: 0}"),
        ("vacuum", "{database_name: made, table_name: table, keep: 0, older_than_days: 0}"),
        ("rollback", "{path: made/table, to: '1'}"),
        ("quarantine", "{path: made/table, action: replay, file: mended.csv}"),
    ],
)
def test_a_resume_runs_nothing_again_for_a_table_that_a_later_step_of_the_run_tidied(
    examples: Mason, command: str, given: str
) -> None:
    write(examples.folder, {"in/a.csv": "n\n1\n2\nx\n", "failing.csv": "n\n1\n"})
    for _ in range(2):
        where = "input_path:in,output_path:made/table,schema:n bigint,most_bad_share:1"
        merged = examples("operator", "table", "merge", "-p", where)
        assert merged.exit_code == 0, merged.stdout
    exported = examples("operator", "table", "quarantine", "-p", "path:made/table,action:export,file:mended.csv")
    assert exported.exit_code == 0, exported.stdout
    file = examples.folder / "mended.csv"
    file.write_text(file.read_text().replace(',"x"', ',"3"'))
    step = "  - {{id: {0}, type: operator, namespace: table, command: {1}, dependencies: [{2}]}}\n"
    steps = [step.format("add", "merge", ""), step.format("tidy", command, "add"), step.format("fail", "check", "tidy")]
    yaml = f"type: workflow\nnamespace: demo\ncommand: tidy\ndag:\n{''.join(steps)}supported_schedulers: [local]\n"
    write(examples.folder / "flows" / "tidy", {"workflow.yaml": yaml})
    registered(examples, examples.folder / "flows")
    adds = "{input_path: made/table, output_path: made/sum, mode: append}"
    checks = "{path: failing.csv, checks: ['row_count min=9']}"
    parameters = f"add:\n  parameters: {adds}\ntidy:\n  parameters: {given}\nfail:\n  parameters: {checks}\n"
    write(examples.folder, {"p.yaml": parameters})
    first = examples("workflow", "demo", "tidy", "-f", "p.yaml", "-r")
    assert statuses(first) == {"add": "succeeded", "tidy": "succeeded", "fail": "failed"}, first.stdout

    again = strict_json(examples("workflow", "--resume", strict_json(first)["Data"][0]["RunID"]))

    assert [line for line in again["Info"] if "runs again" in line] == ["fail: runs again, since it did not succeed."]


def test_a_table_whose_record_is_damaged_is_made_anew_by_a_resume(examples: Mason) -> None:
    run_id = strict_json(run(examples, "daily", TestDaily.FILE))["Data"][0]["RunID"]
    record = max((examples.folder / "daily/.mason/tables/summary/commits").iterdir())
    record.write_text(record.read_text()[:20])

    again = examples("workflow", "--resume", run_id)

    assert "summarize: runs again, since what it wrote is not there any more." in strict_json(again)["Info"]


class TestDaily:
    FILE = "mason/examples/parameters/workflow_table_daily.yaml"

    def test_the_dry_run_writes_nothing_and_shows_what_the_first_step_would_do(self, examples: Mason) -> None:
        result = examples("workflow", "table", "daily", "-f", self.FILE)

        assert result.exit_code == 0, result.stdout
        steps = {each["Id"]: each for each in strict_json(result)["Data"][0]["Steps"]}
        assert "Plan" in steps["merge"]
        assert all("Waits" in steps[key] for key in ("dedupe", "check", "summarize", "csv", "report"))
        assert sorted(path.name for path in examples.folder.iterdir() if path.name != "configs") == ["suppliers"]

    def test_it_runs_and_a_resume_after_new_data_runs_it_again_and_else_nothing(self, examples: Mason) -> None:
        first = run(examples, "daily", self.FILE)
        assert first.exit_code == 0, first.stdout
        run_id = strict_json(first)["Data"][0]["RunID"]

        unchanged = examples("workflow", "--resume", run_id)
        (examples.folder / "suppliers" / "acme" / "2026-03.csv").write_text("sku,name,price\n00599,rasp,9.00\n")
        changed = examples("workflow", "--resume", run_id)

        shown = examples("workflow", "--show", strict_json(unchanged)["Data"][0]["RunID"], "--json").json["Data"][0]
        assert all("ReusedFrom" in each for each in shown["Steps"])
        assert set(statuses(changed).values()) == {"succeeded"}
        assert "merge: runs again, since the files that it reads were changed." in strict_json(changed)["Info"]
        (file,) = (examples.folder / "daily" / "csv").glob("*.csv")
        assert "00599" in file.read_text()

    def test_a_check_that_fails_keeps_the_steps_behind_it_from_running(self, examples: Mason) -> None:
        (examples.folder / "suppliers" / "acme" / "2026-03.csv").write_text("sku,name\n00501,another saw\n")

        result = run(examples, "daily", self.FILE)

        assert result.exit_code == 1
        assert statuses(result) == {
            "merge": "succeeded",
            "dedupe": "succeeded",
            "check": "failed",
            **dict.fromkeys(("summarize", "csv", "report"), "blocked"),
        }
        assert strict_json(result)["Errors"] == ["check: unique sku: 2 of 14 rows fail, such as sku 00501."]
        shown = examples("workflow", "--show", strict_json(result)["Data"][0]["RunID"], "--json").json["Data"][0]
        (data,) = next(each for each in shown["Steps"] if each["Id"] == "check")["Response"]["Data"]
        assert [each["Status"] for each in data["Checks"]] == ["passed", "failed", "warned", "passed"]
        assert (examples.folder / "daily" / "failed").exists()
        assert not (examples.folder / "daily" / "csv").exists()

    @pytest.mark.parametrize("how", ["mode: replace", "incremental: true", "mode: append"])
    def test_a_table_that_was_committed_when_the_run_was_killed_has_no_row_twice(
        self, examples: Mason, how: str
    ) -> None:
        given = (EXAMPLES / "parameters" / "workflow_table_daily.yaml").read_text()
        (examples.folder / "p.yaml").write_text(given.replace("input_path:", f"{how}\n    input_path:"))
        call = ["workflow", "table", "daily", "-f", "p.yaml", "-r"]
        run_id = killed_run(examples, *call)
        assert rows_of(examples, "daily/articles") == 13

        run_id = killed_run(examples, "workflow", "--resume", run_id)  # the work is that of the first run
        again = examples("workflow", "--resume", run_id)

        assert again.exit_code == 0, again.stdout
        assert "merge: runs again, since it did not succeed." in strict_json(again)["Info"]
        assert rows_of(examples, "daily/articles") == 13

    def test_a_step_that_has_succeeded_adds_again_when_it_is_asked_to(self, examples: Mason) -> None:
        given = (EXAMPLES / "parameters" / "workflow_table_daily.yaml").read_text()
        (examples.folder / "p.yaml").write_text(given.replace("input_path:", "mode: append\n    input_path:"))
        run_id = strict_json(examples("workflow", "table", "daily", "-f", "p.yaml", "-r"))["Data"][0]["RunID"]

        examples("workflow", "--resume", run_id, "--only", "merge")

        assert rows_of(examples, "daily/articles") == 26

    @pytest.mark.parametrize("deleted", ["", "part-*"])
    def test_a_resume_makes_anew_what_was_deleted(self, examples: Mason, deleted: str) -> None:
        run_id = strict_json(run(examples, "daily", self.FILE))["Data"][0]["RunID"]
        summary = examples.folder / "daily" / "summary"
        if deleted:
            next(summary.glob(deleted)).unlink()
        else:
            shutil.rmtree(summary)

        again = examples("workflow", "--resume", run_id)

        info = strict_json(again)["Info"]
        assert "summarize: runs again, since what it wrote is not there any more." in info
        assert f"csv: reused from run {run_id}." in info
        assert list(summary.glob("part-*"))

    def test_a_resume_notices_what_others_did_to_a_table_between_two_steps(self, examples: Mason) -> None:
        run_id = strict_json(run(examples, "daily", self.FILE))["Data"][0]["RunID"]
        write(examples.folder / "late", {"more.csv": "sku,name,price\n00599,rasp,9.00\n"})
        added = examples("operator", "table", "merge", "-p", "input_path:late,output_path:daily/articles,mode:append")
        assert added.exit_code == 0, added.stdout

        again = examples("workflow", "--resume", run_id)
        info = strict_json(again)["Info"]
        later = strict_json(examples("workflow", "--resume", strict_json(again)["Data"][0]["RunID"]))["Info"]

        assert f"merge: reused from run {run_id}." in info
        assert "dedupe: runs again, since the files that it reads were changed." in info
        (file,) = (examples.folder / "daily" / "csv").glob("*.csv")
        assert "00599" in file.read_text()
        assert not [line for line in later if "runs again" in line]
