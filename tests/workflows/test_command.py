"""`mason workflow` as a user has it: the dry run, runs, ctrl-C, kill -9, a locked state."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from mason.clients.local.dag_loop import GRACE_SECONDS
from mason.workflows.definition.validation import validate_workflow
from mason.workflows.picture import draw
from scripts.kill_workflows import kill_runs
from tests.cli.support import operator_with, registered, strict_json, tree
from tests.conftest import Mason, write
from tests.workflows.conftest import NOOP_PARAMETERS, Flows, step, workflow_yaml


def flow(mason: Mason, *steps: str, **operators: str) -> Mason:
    """Register a workflow, and operators by their bodies."""
    for command, body in {"noop": "pass", **operators}.items():
        operator_with(mason.folder / "defs", "demo", command, parameters=NOOP_PARAMETERS, body=body)
    write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml(steps)})
    return registered(mason, mason.folder / "defs")


def trace(mason: Mason, line: str) -> str:
    return f"with open({str(mason.folder / 'trace')!r}, 'a') as trace: trace.write({line} + '\\n')"


def wait_for(file: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


class TestDryRun:
    def test_it_is_the_default_and_says_so_in_the_words_of_the_seeds(self, mason: Mason) -> None:
        flow(mason, step("step_1"), step("step_2", "step_1"))

        result = mason("workflow", "demo", "flow")

        assert result.exit_code == 0
        info = strict_json(result)["Info"]
        assert info[0] == (
            "Performing Dry Run for Workflow.  To Deploy workflow use --deploy -d flag.  "
            "To run now use the --run -r flag"
        )
        assert info[2:4] == ["Valid Workflow DAG Definition:", "-" * 80]
        assert info[4] == "* step_1  demo:noop\n* step_2  demo:noop"
        assert "| Workflow Response  |" in result.stderr

    def test_it_writes_nothing(self, mason: Mason) -> None:
        flow(mason, step("a", command="say"), step("b", "a", command="say"), say=trace(mason, "'ran'"))
        mason("workflow", "demo", "flow")  # whatever SQLite keeps beside its file is there now
        before = tree(mason.folder.parent)

        assert mason("workflow", "demo", "flow").exit_code == 0

        assert tree(mason.folder.parent) == before

    def test_it_plans_each_step_as_far_as_its_inputs_exist(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders/1.csv": "id\n1\n"})
        merge = "  - id: {}\n    type: operator\n    namespace: table\n    command: {}\n"
        steps = [merge.format("merge", "merge"), merge.format("dedupe", "dedupe") + "    dependencies: [merge]\n"]
        write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml(steps)})
        registered(mason, mason.folder / "defs")
        write(
            mason.folder,
            {
                "p.yaml": "merge:\n  parameters: {input_path: shop/orders, output_path: out}\n"
                "dedupe:\n  parameters: {path: out}\n"
            },
        )

        result = mason("workflow", "demo", "flow", "-f", "p.yaml")

        assert result.exit_code == 0, result.stdout
        planned = strict_json(result)["Data"][0]["Steps"]
        assert planned[0]["Plan"][1]["JobType"] == "merge"
        orders, out = (str(mason.folder / each) for each in ("shop/orders", "out"))
        assert (planned[0]["Reads"], planned[0]["Writes"], planned[1]["Reads"]) == ([orders], [out], [out])
        assert planned[1]["Waits"] == 'planned when "merge" has made what it reads'
        told = strict_json(result)["Info"][6:]
        assert told[0] == f"merge: reads {orders} and writes {out}."
        assert told[-1] == 'dedupe: It is planned when "merge" has made what it reads.'

    def test_a_first_step_that_could_not_run_is_an_error(self, mason: Mason) -> None:
        mason.register_examples()
        steps = ["  - id: merge\n    type: operator\n    namespace: table\n    command: merge\n"]
        write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml(steps)})
        registered(mason, mason.folder / "defs")
        write(mason.folder, {"p.yaml": "merge:\n  parameters: {input_path: nowhere, output_path: out}\n"})

        result = mason("workflow", "demo", "flow", "-f", "p.yaml")

        assert result.exit_code == 1
        (error,) = strict_json(result)["Errors"]
        assert error.startswith("merge: ")
        assert "nowhere" in error

    def test_every_problem_is_in_the_response(self, mason: Mason) -> None:
        flow(mason, step("a"), step("b", command="nop"))
        write(mason.folder, {"p.yaml": "a:\n  parameters: {txt: 1}\n"})

        result = mason("workflow", "demo", "flow", "-f", "p.yaml")

        assert result.exit_code == 1
        assert len(strict_json(result)["Errors"]) == 2
        assert "p.yaml:2: a.parameters.txt" in strict_json(result)["Errors"][1]

    def test_an_unknown_workflow_names_the_nearest(self, mason: Mason) -> None:
        flow(mason, step("a"))

        result = mason("workflow", "demo", "flwo")

        assert result.exit_code == 1
        assert strict_json(result)["Errors"] == ['Workflow "demo:flwo" not found. Did you mean "demo:flow"?']


class TestPictures:
    def test_a_diamond_in_every_form(self, mason: Mason) -> None:
        flow(mason, step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"))

        assert mason("workflow", "demo", "flow", "--draw", "text").stdout.splitlines() == [
            "* a  demo:noop",
            "├─╮",
            "* │ b  demo:noop",
            "│ * c  demo:noop",
            "├─╯",
            "* d  demo:noop",
        ]
        mermaid = mason("workflow", "demo:flow", "--draw", "mermaid").stdout
        assert mermaid.startswith('flowchart TD\n  s0["a<br/>demo:noop"]')
        assert mermaid.endswith("  s0 --> s1\n  s0 --> s2\n  s1 --> s3\n  s2 --> s3\n")
        drawn = json.loads(mason("workflow", "demo", "flow", "--draw", "json").stdout)
        assert [each["Dependencies"] for each in drawn["Steps"]] == [[], ["a"], ["a"], ["b", "c"]]

    def test_a_condition_is_in_every_form(self, mason: Mason) -> None:
        flow(mason, step("a"), step("b", "a", when="\"{{a.status}} = 'x'\""))

        assert mason("workflow", "demo", "flow", "--draw", "text").stdout.endswith("when {{a.status}} = 'x'\n")
        mermaid = mason("workflow", "demo", "flow", "--draw", "mermaid").stdout
        assert '["b<br/>demo:noop<br/>when #123;#123;a.status#125;#125; #61; #39;x#39;"]' in mermaid
        drawn = json.loads(mason("workflow", "demo", "flow", "--draw", "json").stdout)
        assert drawn["Steps"][1]["When"] == "{{a.status}} = 'x'"

    def test_what_is_too_wide_for_a_terminal_is_a_list(self, mason: Mason) -> None:
        keys = [f"s{number}" for number in range(30)]
        flow(mason, step("a"), *[step(key, "a") for key in keys], step("z", *keys))

        lines = mason("workflow", "demo", "flow", "--draw", "text").stdout.splitlines()

        assert lines[1] == "* s0  demo:noop  after a"
        assert lines[-1] == "* z  demo:noop  after s0, s1, s2, s3, s4 and 25 more"

    @pytest.mark.parametrize("width", [30, 40, 80, 160])
    def test_no_line_is_wider_than_the_terminal(self, flows: Flows, width: int) -> None:
        when = "\"{{a.status}} = 'succeeded' and {{a.rows}} > 1 and {{a.name}} <> 'a long name'\""
        flows.workflow(step("a"), *[step(f"branch_{each}", "a", when=when) for each in "bcd"], step("z", "branch_b"))
        keys = [f"branch_{number}" for number in range(12)]
        flows.workflow(step("a"), *[step(key, "a") for key in keys], step("z", *keys), command="wide")
        flow = flows.valid()
        wide = validate_workflow(flow.definitions, flow.definitions.workflow("demo:wide"), flow.file)

        drawn, listed = draw(flow.dag, width), draw(wide.dag, width)

        assert max(map(len, [*drawn, *listed])) <= width
        assert (listed[1] == "├─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─╮") is (width > 40)
        assert drawn[1:3] == ["├─┬─╮", drawn[2]]
        if width == 40:
            assert drawn[2:6] == [
                "* │ │ branch_b  demo:noop when",
                "│ │ │   {{a.status}} = 'succeeded' and",
                "│ │ │   {{a.rows}} > 1 and {{a.name}} <>",
                "│ │ │   'a long name'",
            ]
            assert listed[-3:] == [
                "* z  demo:noop  after branch_0,",
                "    branch_1, branch_2, branch_3,",
                "    branch_4 and 7 more",
            ]


class TestRun:
    def test_a_run_is_shown_afterwards(self, mason: Mason) -> None:
        flow(mason, step("a"), step("b", "a", command="fail"), fail="raise RuntimeError('broken')")

        result = mason("workflow", "demo", "flow", "-r")

        assert result.exit_code == 1
        ran = strict_json(result)
        code = mason.folder / "defs" / "demo" / "fail" / "__init__.py"
        told = f"{code}:11: demo:fail failed in its own code: RuntimeError: broken"
        assert ran["Errors"] == [f"b: {told}"]
        run = ran["Data"][0]
        assert run["Steps"] == {"succeeded": 1, "failed": 1}
        listed = mason("workflow", "--runs").stdout.splitlines()
        assert listed[2].split()[:3] == [run["RunID"], "failed", "demo:flow"]
        assert json.loads(mason("workflow", "--runs", "--json").stdout)["Data"][0]["RunID"] == run["RunID"]
        shown = mason("workflow", "--show", run["RunID"][:6]).stdout
        assert re.search(r"^b +failed +demo:fail +[0-9:]{8} +[0-9.]+ s$", shown, re.MULTILINE)
        assert shown.endswith(f"\n\nb: error: {told}\n")
        assert json.loads(mason("workflow", "--show", run["RunID"], "--json").stdout)["Data"][0]["Status"] == "failed"

    def test_what_an_operator_prints_does_not_get_into_the_response(self, mason: Mason) -> None:
        flow(mason, step("a", command="loud"), loud="print('loud')")

        result = mason("workflow", "demo", "flow", "--run")

        assert strict_json(result)["Errors"] == []
        assert "loud" in result.stderr

    def test_no_runs_says_how_to_make_one(self, mason: Mason) -> None:
        assert mason("workflow", "--runs").stdout == "No Runs.  Run a workflow with -r\n"

    def test_an_unknown_run_says_where_to_look(self, mason: Mason) -> None:
        result = mason("workflow", "--show", "nope")

        assert result.exit_code == 1
        assert '"nope"' in result.stderr

    def test_a_run_from_a_saved_plan(self, mason: Mason) -> None:
        flow(mason, step("a"))

        assert mason("workflow", "demo", "flow", "--save", "plan.json").exit_code == 0
        assert mason("workflow", "demo", "flow", "-r", "--from-plan", "plan.json").exit_code == 0
        flow_again = mason.folder / "defs" / "flow" / "workflow.yaml"
        flow_again.write_text(workflow_yaml([step("a"), step("b")]))
        assert mason("register", "-f", "defs").exit_code == 0
        refused = mason("workflow", "demo", "flow", "-r", "--from-plan", "plan.json")

        assert refused.exit_code == 1
        assert 'plan.json: the step "b" is new' in strict_json(refused)["Errors"]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_ctrl_c_stops_the_run_and_says_so(self, mason: Mason, number: int) -> None:
        begun = mason.folder / "begun"
        body = (
            f"open({str(begun)!r}, 'w').close()\nfor _ in range(6000): time.sleep(0.01)\n{trace(mason, repr('late'))}"
        )
        flow(mason, step("a", command="slow"), step("b", "a"), slow=body)
        process = mason.start("workflow", "demo", "flow", "-r")
        wait_for(begun, process)

        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)

        assert process.returncode == 130, stderr
        assert "Traceback" not in stderr
        ran = json.loads(stdout)
        assert ran["Errors"] == ["Interrupted: the run was stopped."]
        shown = mason("workflow", "--show", ran["Data"][0]["RunID"], "--json").json["Data"][0]
        assert shown["Status"] == "cancelled"
        assert [each["Status"] for each in shown["Steps"]] == ["cancelled"]
        assert not (mason.folder / "trace").exists()

    @pytest.mark.parametrize("numbers", list(permutations([signal.SIGINT, signal.SIGTERM])))
    def test_who_sends_another_signal_of_either_kind_does_not_wait_for_a_step_that_goes_on(
        self, mason: Mason, numbers: Sequence[int]
    ) -> None:
        begun, stopping = mason.folder / "begun", mason.folder / "stopping"
        # It has heard that it should end, and does not.
        body = f"""open({str(begun)!r}, 'w').close()
try:
    for _ in range(6000): time.sleep(0.01)
finally:
    open({str(stopping)!r}, 'w').close()
    time.sleep(60)
"""
        flow(mason, step("a", command="slow", timeout=600), slow=body)
        process = mason.start("workflow", "demo", "flow", "-r")
        wait_for(begun, process)

        process.send_signal(numbers[0])
        wait_for(stopping, process)
        since = time.monotonic()
        process.send_signal(numbers[1])
        _, stderr = process.communicate(timeout=60)

        assert process.returncode == 130, stderr
        assert time.monotonic() - since < GRACE_SECONDS / 2

    def test_steps_with_a_spark_of_their_own_have_a_process_of_their_own(self, mason: Mason) -> None:
        write(mason.folder, {"in/a.csv": "id\n1\n2\n"})
        for name in ("one", "two"):
            spark = f"{{configuration: {{runner: {{type: local, warm: never, conf: {{spark.hadoop.x: {name}}}}}}}}}"
            roles = "metastore_engine: local\nstorage_engine: local\nexecution_engine: spark\nscheduler_engine: local"
            (mason.folder / f"{name}.yaml").write_text(f"id: {name}\n{roles}\nclients: {{spark: {spark}}}\n")
            assert mason("config", f"{name}.yaml").exit_code == 0
        merge = """
from mason.pipeline.jobs.merge.job import MergeJob
job = MergeJob(config.location("in"), config.location(f"out_{config.id}")).to_job()
plan, resp = config.execution.client.plan_job(job, response=resp)
record, resp = config.execution.client.run_job(plan, response=resp)
resp.add_data({"Rows": record.details["RowsOut"], "Process": os.getpid()})
"""
        flow(mason, step("a", command="merge"), step("b", "a", command="merge"), merge=merge)
        (mason.folder / "p.yaml").write_text("a: {config_id: one}\nb: {config_id: two}\n")

        process = mason.start("workflow", "demo", "flow", "-r", "-f", "p.yaml", "-c", "one")
        stdout, stderr = process.communicate(timeout=400)  # two Sparks are started

        assert process.returncode == 0, stderr
        shown = mason("workflow", "--show", json.loads(stdout)["Data"][-1]["RunID"], "--json").json["Data"][0]
        [first], [second] = (each["Response"]["Data"] for each in shown["Steps"])
        assert first["Rows"] == second["Rows"] == 2
        assert first["Process"] != second["Process"]

    def test_ctrl_c_ends_the_job_of_a_step_which_commits_nothing(self, mason: Mason) -> None:
        write(mason.folder, {"shop/numbers/a.csv": "n\n" + "".join(f"{each}\n" for each in range(1000))})
        roles = ("metastore", "storage", "execution", "scheduler")
        (mason.folder / "shop.yaml").write_text("id: shop\n" + "".join(f"{each}_engine: local\n" for each in roles))
        body = f"""
from mason.engines.storage.models.location import Location, TableRef
from mason.pipeline.jobs.query.job import QueryJob
statement = "select count(*) as n from t a, t b, t c, t d where (a.n * b.n + c.n * d.n) % 1009 = 500"
folder = {str(mason.folder / "shop")!r}
numbers = TableRef("shop.t", Location(f"{{folder}}/numbers"))
output = Location(f"{{folder}}/out")
job = QueryJob(statement=statement, database="shop", tables={{"t": numbers}}, output=output).to_job()
plan, resp = config.execution.client.plan_job(job, response=resp)
open({str(mason.folder / "begun")!r}, "w").close()
config.execution.client.run_job(plan, response=resp)
"""
        assert mason("config", "shop.yaml").exit_code == 0
        flow(mason, step("a", command="slow"), slow=body)
        process = mason.start("workflow", "demo", "flow", "-r", "-c", "shop")
        wait_for(mason.folder / "begun", process)
        time.sleep(1)

        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)

        assert process.returncode == 130, stderr
        [job] = mason("job", "list", "-c", "shop").json["Data"]
        assert (job["Status"], job["Error"]) == ("cancelled", "The run was stopped. Nothing was committed.")
        assert not (mason.folder / "shop" / "out").exists()

    def test_a_step_that_waits_for_another_attempt_is_cancelled_by_ctrl_c(self, mason: Mason) -> None:
        flow(mason, step("a", command="fail", retry="constant(600)"), step("b", "a"), fail="raise RuntimeError('no')")
        process = mason.start("workflow", "demo", "flow", "-r")
        assert process.stderr is not None
        while "the next is in" not in (line := process.stderr.readline()):
            assert line

        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)

        assert process.returncode == 130, stderr
        shown = mason("workflow", "--show", json.loads(stdout)["Data"][0]["RunID"], "--json").json["Data"][0]
        assert [(each["Status"], each["Reason"]) for each in shown["Steps"]] == [("cancelled", "The run was stopped.")]
        assert shown["Steps"][0]["Attempts"][0]["Reason"].endswith("RuntimeError: no")

    def test_a_run_that_goes_on_cannot_be_resumed(self, mason: Mason) -> None:
        begun, end = mason.folder / "begun", mason.folder / "end"
        body = f"open({str(begun)!r}, 'w').close()\nwhile not os.path.exists({str(end)!r}): time.sleep(0.01)"
        flow(mason, step("a", command="slow"), slow=body)
        process = mason.start("workflow", "demo", "flow", "-r")
        wait_for(begun, process)
        run_id = json.loads(mason("workflow", "--runs", "--json").stdout)["Data"][0]["RunID"]

        result = mason("workflow", "--resume", run_id)

        end.touch()
        process.communicate(timeout=60)
        assert result.exit_code == 1
        assert strict_json(result)["Errors"] == [
            f'The run "{run_id}" goes on in another process. Wait for it, or stop it.'
        ]

    @pytest.mark.parametrize("seed", range(3))
    def test_a_run_that_is_killed_is_resumed_and_nothing_is_missed_or_done_twice(self, mason: Mason, seed: int) -> None:
        body = "time.sleep(0.02)\n" + trace(mason, "parameters.get_optional('text')")
        keys = [f"s{number}" for number in range(30)]
        steps = [step(key, *keys[max(0, at - 1) : at], command="say") for at, key in enumerate(keys)]
        flow(mason, *steps, say=body)
        write(mason.folder, {"p.yaml": "".join(f"{key}:\n  parameters: {{text: {key}}}\n" for key in keys)})
        process = mason.start("workflow", "demo", "flow", "-f", "p.yaml", "-r")
        wait_for(mason.folder / "trace", process)
        time.sleep(random.Random(seed).uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        (run,) = json.loads(mason("workflow", "--runs", "--json").stdout)["Data"]
        assert run["Status"] in ("lost", "succeeded")
        shown = mason("workflow", "--show", run["RunID"], "--json").json["Data"][0]
        committed = [each["Id"] for each in shown["Steps"] if each["Status"] == "succeeded"]

        result = mason("workflow", "--resume", run["RunID"])

        assert result.exit_code == 0, result.stdout
        done = (mason.folder / "trace").read_text().splitlines()
        assert set(done) == set(keys)
        assert all(done.count(key) == 1 for key in committed)
        assert len(done) <= len(keys) + 1  # the step that was killed may have done its work and not been recorded

    @pytest.mark.parametrize(
        ("lines", "found"),
        [
            (["_Judge.reason = lambda *_: 'so'"], "a step that was recorded ran twice"),
            (
                # What had begun when the kill came is taken for done.
                [
                    "_Judge.reason = lambda self, step, _: '' if step.key in self._rows else 'so'",
                    "Reused.results = property(lambda self: {key: {} for key in self.steps})",
                ],
                "a step was missed",
            ),
        ],
    )
    def test_the_kill_loop_catches_a_resume_that_is_wrong(self, tmp_path: Path, lines: list[str], found: str) -> None:
        imports = ["from mason.__main__ import main", "from mason.workflows.runs.resume import Reused, _Judge"]
        broken = "\n".join([*imports, *lines, "main()"])

        with pytest.raises(AssertionError, match=found):
            list(kill_runs(tmp_path, 5, 1, [sys.executable, "-c", broken]))

    def test_the_kill_loop_finds_nothing_in_one_that_is_right(self, tmp_path: Path) -> None:
        assert len(list(kill_runs(tmp_path, 2, 1))) == 2

    def test_a_state_that_another_process_locks_for_a_while_is_waited_for(self, mason: Mason) -> None:
        begun = mason.folder / "begun"
        body = f"open({str(begun)!r}, 'w').close()\ntime.sleep(0.5)"
        flow(mason, step("a", command="slow"), step("b", "a"), slow=body)
        process = mason.start("workflow", "demo", "flow", "-r")
        wait_for(begun, process)
        lock = sqlite3.connect(mason.home / "state.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        time.sleep(1.5)  # the step ends while the state is locked
        lock.execute("ROLLBACK")
        lock.close()

        stdout, _ = process.communicate(timeout=60)

        assert process.returncode == 0
        assert json.loads(stdout)["Data"][0]["Steps"] == {"succeeded": 2}

    def test_a_home_that_cannot_be_written_refuses_the_run_before_anything_runs(self, mason: Mason) -> None:
        flow(mason, step("a", command="say"), say=trace(mason, "'ran'"))
        lock = sqlite3.connect(mason.home / "state.db", isolation_level=None)
        lock.execute("PRAGMA user_version = 99")
        lock.close()

        result = mason("workflow", "demo", "flow", "-r")

        assert result.exit_code == 1
        assert "was made by a newer Mason" in result.stdout
        assert not (mason.folder / "trace").exists()
