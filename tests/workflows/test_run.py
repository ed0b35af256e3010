"""A run on the local scheduler: what follows what, retries, timeouts, conditions, and what is recorded."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from mason.clients.response import Response
from mason.engines.scheduler.models.dags.valid_dag_step import Retry
from mason.operators.registration.registry import find_operator
from mason.state.home import open_state, read_state
from mason.state.models import RecordKind
from mason.util.processes import ProcessId
from mason.workflows.definition.parameter_file import parameters_of_request
from mason.workflows.runs.outside_runs import OutsideRun, StepExit, judge_outside_run, run_outside_step
from mason.workflows.runs.recorded_runs import list_runs
from mason.workflows.workflow_calls import WorkflowCall, find_workflow
from tests import workflow_calls
from tests.workflows.conftest import Runs, flow_class, step

FAIL = 'raise RuntimeError("broken")'
SEEDS_CLASS = """\
from typing import Union

from mason.engines.metastore.models.table import Table

from mason.engines.scheduler.models.dags.failed_dag_step import FailedDagStep
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.workflows.workflow_definition import WorkflowDefinition

class DemoFlow(WorkflowDefinition):
    def step(self, current: ExecutedDagStep, next: ValidDagStep) -> Union[ValidDagStep, FailedDagStep]:
        if current.step.id == "step_1":
            if isinstance(current.operator_response.object, Table):
                return next
            else:
                return current.failed("Table not found in operator_response")
        else:
            return next

"""


def test_steps_run_in_the_order_of_their_dependencies(runs: Runs) -> None:
    runs.flows.operator("say", runs.tracing()).workflow(
        step("d", "b", "c", command="say"),
        step("b", "a", command="say"),
        step("c", "a", command="say"),
        step("a", command="say"),
    )
    texts = "".join(f"{key}:\n  parameters:\n    text: {key}\n" for key in "abcd")

    ran = runs.run(texts)

    assert ran.said.response.errors == ()
    assert ran.run["Status"] == "succeeded"
    assert runs.trace[0] == "a"
    assert runs.trace[-1] == "d"
    assert sorted(runs.trace) == ["a", "b", "c", "d"]


def test_what_a_step_gave_becomes_a_parameter_of_a_later_one(runs: Runs) -> None:
    runs.flows.operator("give", 'resp.add_data({"JobID": "j7", "Names": ["x", "y"], "Rows": 12})')
    runs.flows.operator("say", runs.tracing("(parameters.get_optional('text'), parameters.get_optional('count'))"))
    runs.flows.workflow(step("a", command="give"), step("b", "a", command="say"))

    ran = runs.run('b:\n  parameters:\n    text: "{{a.job_id}}/{{a.data.0.Names.1}}"\n    count: "{{a.data.0.Rows}}"\n')

    assert runs.trace == ["('j7/y', 12)"]
    assert ran.step("b")["Parameters"] == {"text": "j7/y", "count": 12}


def test_a_reference_that_a_result_has_nothing_for_fails_its_step_and_says_what_there_is(runs: Runs) -> None:
    runs.flows.operator("give", 'resp.add_data({"JobID": "j7"})')
    runs.flows.workflow(step("a", command="give"), step("b", "a"))

    ran = runs.run('b:\n  parameters:\n    text: "{{a.rows}}"\n')

    assert ran.said.response.errors == ('b: "{{a.rows}}" has no value: it gave no "rows"; it has JobID.',)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("errors.0", "errors is an empty list"),
        ("data.1", 'data is a list of 1, and "1" is not a number from 0 to 0'),
        (f"data.{'9' * 5000}", f'data is a list of 1, and "{"9" * 5000}" is not a number from 0 to 0'),
    ],
)
def test_a_place_in_a_list_that_is_not_there_fails_its_step(runs: Runs, words: str, reason: str) -> None:
    runs.flows.operator("give", 'resp.add_data({"JobID": "j7"})')
    runs.flows.workflow(step("a", command="give"), step("b", "a"))

    ran = runs.run(f"b:\n  parameters:\n    text: '{{{{a.{words}}}}}'\n")

    assert ran.said.response.errors == (f'b: "{{{{a.{words}}}}}" has no value: {reason}.',)


def test_a_value_from_a_step_that_does_not_fit_fails_its_step(runs: Runs) -> None:
    runs.flows.operator("give", 'resp.add_data({"Rows": "many"})')
    runs.flows.workflow(step("a", command="give"), step("b", "a"))

    ran = runs.run('b:\n  parameters:\n    count: "{{a.rows}}"\n')

    assert ran.said.response.errors == ('b: The parameter "count" must be a whole number, not "many".',)


def test_a_branch_that_fails_does_not_stop_another(runs: Runs) -> None:
    runs.flows.operator("fail", FAIL).workflow(
        step("a", command="fail"), step("after_a", "a"), step("b"), step("after_b", "b"), step("both", "a", "b")
    )

    ran = runs.run()

    assert ran.statuses == {
        "a": "failed",
        "after_a": "blocked",
        "b": "succeeded",
        "after_b": "succeeded",
        "both": "blocked",
    }
    assert ran.run["Status"] == "failed"
    code = runs.flows.folder / "defs" / "operators" / "demo" / "fail" / "__init__.py"
    assert ran.said.response.errors == (f"a: {code}:11: demo:fail failed in its own code: RuntimeError: broken",)


def test_an_error_that_an_operator_adds_without_raising_fails_its_step(runs: Runs) -> None:
    runs.flows.operator("fail", 'resp.add_error("no")').workflow(step("a", command="fail"), step("b", "a"))

    assert runs.run().statuses == {"a": "failed", "b": "blocked"}


class TestTheClassOfTheSeeds:
    def test_it_goes_on_when_the_first_step_gave_a_table(self, runs: Runs) -> None:
        body = (
            "from mason.engines.metastore.models.table import Table\n"
            "from mason.engines.metastore.models.schema import Schema\n"
            "return OperatorResponse(resp, Table('t', 'd', Schema('csv', ())))"
        )
        runs.flows.operator("table", body)
        runs.flows.workflow(step("step_1", command="table"), step("step_2", "step_1"), code=SEEDS_CLASS)

        assert runs.run().statuses == {"step_1": "succeeded", "step_2": "succeeded"}

    def test_it_tries_again_and_fails_when_the_first_step_gave_none(self, runs: Runs) -> None:
        runs.flows.operator("say", runs.tracing("'tried'")).workflow(
            step("step_1", command="say", retry="constant(0)", retry_max=2),
            step("step_2", "step_1"),
            code=SEEDS_CLASS,
        )

        ran = runs.run()

        assert runs.trace == ["tried"] * 3
        assert ran.statuses == {"step_1": "failed", "step_2": "blocked"}
        assert ran.said.response.errors == ("step_1: Table not found in operator_response",)
        assert len(ran.step("step_1")["Attempts"]) == 3

    def test_a_step_that_is_not_checked_lets_the_next_run_and_the_run_has_failed_all_the_same(self, runs: Runs) -> None:
        runs.flows.operator("fail", FAIL).workflow(
            step("other", command="fail"), step("clean_up", "other"), code=SEEDS_CLASS
        )

        ran = runs.run()

        assert ran.statuses == {"other": "failed", "clean_up": "succeeded"}
        assert ran.run["Status"] == "failed"


class TestStep:
    def test_an_operator_that_fails_has_no_object_and_its_errors(self, runs: Runs) -> None:
        body = "seen = current.operator_response\nassert seen.object is None and seen.response.errors\nreturn next"
        runs.flows.operator("fail", 'resp.add_error("no")\nreturn OperatorResponse(resp, "an object")')
        runs.flows.workflow(step("a", command="fail"), step("b", "a"), code=flow_class(body))

        assert runs.run().statuses == {"a": "failed", "b": "succeeded"}

    def test_returning_the_current_step_ends_the_branch_well(self, runs: Runs) -> None:
        runs.flows.workflow(
            step("a"), step("b", "a"), step("c", "b"), step("d", "a"),
            code=flow_class('return current if next.id == "b" else next'),
        )  # fmt: skip

        ran = runs.run()

        assert ran.statuses == {"a": "succeeded", "b": "skipped", "c": "skipped", "d": "succeeded"}
        assert ran.run["Status"] == "succeeded"

    def test_a_join_runs_only_when_every_step_before_it_says_so(self, runs: Runs) -> None:
        runs.flows.workflow(
            step("a"), step("b"), step("join", "a", "b"),
            code=flow_class('return current if current.step.id == "b" else next'),
        )  # fmt: skip

        assert runs.run().statuses["join"] == "skipped"

    @pytest.mark.parametrize(
        ("body", "said"), [('raise KeyError("x")', "KeyError: 'x'"), ("raise SystemExit(3)", "SystemExit: 3")]
    )
    def test_an_exception_in_it_fails_the_run_with_the_place(self, runs: Runs, body: str, said: str) -> None:
        runs.flows.workflow(step("a"), step("b", "a"), step("c"), code=flow_class(body))

        ran = runs.run()

        assert ran.statuses == {"a": "failed", "b": "blocked", "c": "succeeded"}
        (error,) = ran.said.response.errors
        assert error.startswith(f"a: step of demo:flow raised {said} (")
        assert error.endswith(f"({runs.flows.folder / 'defs' / 'workflows' / 'flow' / '__init__.py'}:6)")

    def test_what_an_operator_said_stands_beside_what_its_workflow_makes_of_it(self, runs: Runs) -> None:
        runs.flows.operator("fail", 'resp.add_error("The disk is full.")\nresp.add_error("Nothing was written.")')
        code = flow_class('return current.failed("There is no table.") if current.errors else next')
        runs.flows.workflow(step("a", command="fail"), step("b", "a"), code=code)

        ran = runs.run()

        assert ran.statuses == {"a": "failed", "b": "blocked"}
        assert ran.said.response.errors == (
            "a: There is no table.",
            "a: The disk is full.",
            "a: Nothing was written.",
        )

    def test_both_stand_in_the_verdict_on_a_run_elsewhere(self, runs: Runs) -> None:
        runs.flows.operator("fail", 'resp.add_error("The disk is full.")')
        code = flow_class('return current.failed("There is no table.") if current.errors else next')
        runs.flows.workflow(step("a", command="fail"), step("b", "a"), code=code)
        workflow = find_workflow(runs.register().env, runs.call())
        outside, response = OutsideRun("airflow", "daily", "1"), Response()

        assert run_outside_step(workflow, outside, "a", 1) == StepExit.FAILED
        judge_outside_run(workflow, outside, response)

        assert response.errors[:2] == ("a: There is no table.", "a: The disk is full.")

    def test_the_place_is_in_the_workflow_and_not_in_what_it_calls(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"), step("b", "a"), code=flow_class('import json\njson.loads("{")\nreturn next'))

        (error,) = runs.run().said.response.errors

        assert error.startswith("a: step of demo:flow raised JSONDecodeError: ")
        assert error.endswith("__init__.py:7)")

    @pytest.mark.parametrize(
        "body", ["raise ValueError(next.parameters)", "return current.failed(str(next.parameters))"]
    )
    def test_a_secret_that_it_tells_is_in_no_message_and_in_no_record(
        self, runs: Runs, body: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        secret = "  optional:\n    - text\n    - name: password\n      type: secret\n"
        runs.flows.operator("login", parameters=secret)
        runs.flows.workflow(step("a"), step("b", "a", command="login"), code=flow_class(body))

        ran = runs.run("b:\n  parameters:\n    password: hunter2hunter2\n")

        (error,) = ran.said.response.errors
        assert "{'password': 'REDACTED'}" in error
        assert "hunter2hunter2" not in f"{ran.run}{caplog.text}"

    def test_whatever_ends_the_loop_the_run_is_over_and_says_why(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"), step("b", "a"), code=flow_class('raise GeneratorExit("odd")'))

        with pytest.raises(GeneratorExit):
            runs.run()

        (run,) = list_runs(read_state(runs.env))
        code = runs.flows.folder / "defs" / "workflows" / "flow" / "__init__.py"
        told = f"{code}:6: demo:flow failed in its own code: GeneratorExit: odd"
        assert (run["Status"], run["Error"]) == ("failed", told)

    def test_what_is_no_step_is_refused(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"), step("b", "a"), code=flow_class("return None"))

        assert runs.run().said.response.errors == ("a: step of demo:flow returned NoneType, which is not a step.",)

    def test_the_class_of_a_nested_workflow_sees_its_own_ids(self, runs: Runs) -> None:
        inner = flow_class('assert (current.step.id, next.id) == ("x", "y")\nreturn next').replace(
            "DemoFlow", "DemoInner"
        )
        outer = flow_class('assert (current.step.id, next.id) in (("a", "load"), ("load", "z"))\nreturn next')
        runs.flows.workflow(step("x"), step("y", "x"), command="inner", code=inner.replace("DemoFlow", "DemoInner"))
        runs.flows.workflow(
            step("a"), step("load", "a", command="inner", type="workflow"), step("z", "load"), code=outer
        )

        assert runs.run().statuses == dict.fromkeys(("a", "load.x", "load.y", "z"), "succeeded")

    def test_a_workflow_cleans_up_after_one_that_is_nested_in_it(self, runs: Runs) -> None:
        runs.flows.operator("fail", FAIL).operator("say", runs.tracing("'cleaned'"))
        body = (
            "errors = current.operator_response.response.errors\n"
            "assert current.step.id in ('load', 'clean_up')\n"
            "if errors and next.id == 'clean_up':\n"
            "    assert 'did not run' in errors[0]\n"
            "    return next\n"
            "return super().step(current, next)"
        )
        runs.flows.workflow(step("x", command="fail"), step("y", "x"), step("z", "y"), command="inner")
        nested = step("load", command="inner", type="workflow")
        flow = [nested, step("clean_up", "load", command="say"), step("other", "load"), step("behind", "clean_up")]
        runs.flows.workflow(*flow, code=flow_class(body))

        ran = runs.run()

        assert runs.trace == ["cleaned"]
        assert ran.statuses == {
            "load.x": "failed",
            "load.y": "blocked",
            "load.z": "blocked",
            "clean_up": "succeeded",
            "other": "blocked",
            "behind": "succeeded",
        }
        assert ran.run["Status"] == "failed"
        runs.flows.workflow(*flow, code=flow_class("return super().step(current, next)"))
        assert runs.run().statuses["clean_up"] == "blocked"


class TestRetries:
    def test_exponential_waits_double_and_constant_ones_do_not(self) -> None:
        assert [Retry.of("exponential(5)", None).wait(failures) for failures in (1, 2, 3)] == [5, 10, 20]
        assert [Retry.of("constant(5)", 2).wait(failures) for failures in (1, 2)] == [5, 5]
        assert Retry.of("exponential(5)", 1000).wait(1000) == 3600

    def test_the_last_step_is_tried_again_by_its_own_outcome(self, runs: Runs) -> None:
        count = runs.tracing("'x'")
        runs.flows.operator("third", f"{count}\nif {runs.traced} < 3: {FAIL}")
        runs.flows.workflow(step("a", command="third", retry="exponential(0.01)", retry_max=5))

        ran = runs.run()

        assert ran.statuses == {"a": "succeeded"}
        assert len(ran.step("a")["Attempts"]) == 3
        assert ran.said.response.errors == ()

    def test_without_a_policy_a_step_is_tried_once(self, runs: Runs) -> None:
        runs.flows.operator("fail", f"{runs.tracing()}\n{FAIL}").workflow(step("a", command="fail"))

        runs.run()

        assert len(runs.trace) == 1

    def test_a_wait_for_a_retry_keeps_no_other_step_waiting(self, runs: Runs) -> None:
        runs.flows.operator("fail", f"{runs.tracing(repr('failed'))}\n{FAIL}").operator("say", runs.tracing("'other'"))
        runs.flows.workflow(step("a", command="fail", retry="constant(0.3)", retry_max=1), step("b", command="say"))

        runs.run(limit=1)

        assert runs.trace == ["failed", "other", "failed"]


class TestTimeouts:
    def test_a_step_that_hangs_fails_and_others_go_on(self, runs: Runs) -> None:
        runs.flows.operator("hang", "while True: time.sleep(0.01)").workflow(
            step("a", command="hang", timeout=0.2), step("after", "a"), step("b"), step("c", "b")
        )

        began = time.monotonic()
        ran = runs.run(limit=1)

        assert time.monotonic() - began < 10
        assert ran.statuses == {"a": "failed", "after": "blocked", "b": "succeeded", "c": "succeeded"}
        assert ran.said.response.errors == ("a: It took longer than 0.2 seconds.",)

    def test_a_step_over_its_time_is_interrupted_and_does_nothing_more(self, runs: Runs) -> None:
        body = f"for _ in range(50): time.sleep(0.01)\n{runs.tracing(repr('late'))}"
        runs.flows.operator("slow", body).operator("wait", "time.sleep(1)")
        runs.flows.workflow(step("a", command="slow", timeout=0.1), step("b", command="wait"))

        runs.run()

        assert runs.trace == []

    def test_a_step_that_hung_is_tried_again(self, runs: Runs) -> None:
        body = f"{runs.tracing()}\nwhile {runs.traced} < 2: time.sleep(0.01)"
        runs.flows.operator("hang", body)
        runs.flows.workflow(step("a", command="hang", timeout=1, retry="constant(0)", retry_max=1))

        assert runs.run().statuses == {"a": "succeeded"}

    def test_a_step_over_its_time_is_ended_with_all_that_it_has_started(self, runs: Runs, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        body = f"""
import signal, subprocess
signal.signal(signal.SIGINT, signal.SIG_IGN)
born = subprocess.Popen(["sleep", "602"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{born.pid}}")
while True: time.sleep(0.01)"""
        runs.flows.operator("deaf", body).workflow(step("a", command="deaf", timeout=0.5))

        ran = runs.run()

        assert ran.statuses == {"a": "failed"}
        assert ran.said.response.errors[0] == "a: It took longer than 0.5 seconds."
        mine, born = (ProcessId.of(int(each)) for each in pids.read_text().split())
        assert mine.pid != os.getpid()
        assert mine.wait(5) and born.wait(5)

    def test_the_next_attempt_begins_when_the_process_of_the_last_one_is_gone(self, runs: Runs) -> None:
        body = f"""{runs.tracing("'begins'")}
try:
    while {runs.traced} < 3: time.sleep(0.01)
except KeyboardInterrupt:
    time.sleep(0.5)
    {runs.tracing("'ends'")}
"""
        runs.flows.operator("hang", body)
        runs.flows.workflow(step("a", command="hang", timeout=1, retry="constant(0)", retry_max=1))

        runs.run()

        assert runs.trace == ["begins", "ends", "begins"]

    def test_a_step_with_a_timeout_gives_what_it_gives_without(self, runs: Runs) -> None:
        body = "resp.add_info('done'); resp.add_warning('odd'); resp.add_data({'Rows': 3})"
        runs.flows.operator("give", body)
        runs.flows.workflow(step("a", command="give"), step("b", command="give", timeout=60))

        ran = runs.run()

        here, apart = ran.step("a")["Response"], ran.step("b")["Response"]
        assert ran.statuses == {"a": "succeeded", "b": "succeeded"}
        assert here == apart and apart["Data"] == [{"Rows": 3}]

    def test_the_process_of_a_step_that_ends_says_its_last_words(self, runs: Runs) -> None:
        body = "print('first', flush=True); print('my last words', flush=True); os._exit(7)"
        runs.flows.operator("crash", body).operator("abort", "import signal\nos.kill(os.getpid(), signal.SIGKILL)")
        runs.flows.workflow(step("a", command="crash", timeout=60), step("b", command="abort", timeout=60))

        ran = runs.run()

        crashed, killed = sorted(ran.said.response.errors)
        assert crashed == (
            "a: The process that ran demo:crash ended with the exit code 7. It said last:\n  first\n  my last words"
        )
        assert killed == "b: demo:abort was killed by the system, as happens when there is no memory left."


class TestWhen:
    @pytest.mark.parametrize(
        ("condition", "status"),
        [
            ("{{a.rows}} > 10", "succeeded"),
            ("a.rows > 12", "skipped"),
            ("{{a.status}} = 'succeeded' and not {{a.data.0.Name}} in ('x', 'y')", "succeeded"),
            ("{{a.data.0.Nothing}} is null", "succeeded"),
            ("{{a.data.0.Nothing}} = 1 or 1 = 2", "skipped"),
            ("'{{no}}' = a.name", "skipped"),
        ],
    )
    def test_a_step_runs_when_its_condition_holds(self, runs: Runs, condition: str, status: str) -> None:
        runs.flows.operator("give", 'resp.add_data({"Rows": 12, "Name": "z", "Nothing": None})')
        runs.flows.workflow(step("a", command="give"), step("b", "a", when=f'"{condition}"'), step("c", "b"))

        ran = runs.run()

        assert ran.statuses == {"a": "succeeded", "b": status, "c": status}
        assert ran.run["Status"] == "succeeded"

    def test_a_condition_on_what_is_not_there_fails_its_step(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"), step("b", "a", when='"{{a.rows}} > 0"'))

        ran = runs.run()

        assert ran.statuses == {"a": "succeeded", "b": "failed"}
        assert ran.said.response.errors == ('b: when {{a.rows}} > 0: it gave no "rows"; it has nothing.',)

    def test_values_that_cannot_be_compared_fail_the_step(self, runs: Runs) -> None:
        runs.flows.operator("give", 'resp.add_data({"Name": "z"})')
        runs.flows.workflow(step("a", command="give"), step("b", "a", when='"{{a.name}} > 0"'))

        assert runs.run().said.response.errors == ("b: when {{a.name}} > 0: 'z' and 0 cannot be compared.",)

    @pytest.mark.parametrize(
        ("when", "said"),
        [
            ("{{a.name}}", "'z' is neither true nor false."),
            ("-{{a.name}} < 0", "'z' is not a number."),
            ("{{a.rows}} > 1e1", ""),
            ("-{{a.rows}} < -11.5", ""),
        ],
    )
    def test_what_is_no_truth_and_what_is_no_number_fails_its_step_alone(
        self, runs: Runs, when: str, said: str
    ) -> None:
        runs.flows.operator("give", 'resp.add_data({"Name": "z", "Rows": 12})')
        runs.flows.workflow(step("a", command="give"), step("b", "a", when=f'"{when}"'), step("c", "a"))

        ran = runs.run()

        assert ran.said.response.errors == ((f"b: when {when}: {said}",) if said else ())
        assert ran.statuses == {"a": "succeeded", "b": "failed" if said else "succeeded", "c": "succeeded"}


class TestTheRecord:
    def test_a_run_is_recorded_with_its_steps(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"), step("b", "a"))

        run = runs.run("a:\n  parameters:\n    text: x\n").run

        assert run["Workflow"].startswith("demo:flow@sha256:")
        assert run["StartedAt"] <= run["EndedAt"]
        assert [each["Id"] for each in run["Steps"]] == ["a", "b"]
        assert run["Steps"][0]["Parameters"] == {"text": "x"}
        assert run["Steps"][0]["Operator"].startswith("demo:noop@sha256:")
        assert run["Steps"][0]["Response"] == {"Errors": [], "Info": [], "Warnings": [], "Data": []}

    def test_what_ended_and_what_begins_is_written_down_before_it_begins(self, runs: Runs) -> None:
        kept = "[(row.step, row.status) for row in store.list_run_steps(store.list_records('run')[0].id)]"
        look = "from mason.state.home import read_state\nstore = read_state(env)\n" + runs.tracing(kept)
        runs.flows.operator("look", look).workflow(step("a"), step("b"), step("c", "a", "b", command="look"))

        runs.run()

        assert runs.trace == ["[('a', 'succeeded'), ('b', 'succeeded'), ('c', 'running')]"]

    def test_runs_of_a_workflow_are_found_behind_many_of_others(self, runs: Runs) -> None:
        run = runs.flows.workflow(step("a")) and runs.run()
        store = open_state(runs.env)
        for number in range(120):
            store.add_record(RecordKind.RUN, f"other{number}", "succeeded", {"Workflow": "other:flow@sha256:1"})

        assert [each["RunID"] for each in list_runs(store, "demo:flow")] == [run.run_id]
        assert [each["RunID"] for each in list_runs(store, "demo:")] == [run.run_id]
        assert list_runs(store, "dem:") == []
        assert len(list_runs(store)) == len(list_runs(store, "other:")) == 100

    def test_a_secret_is_in_no_record(self, runs: Runs, tmp_path: Path) -> None:
        parameters = "  optional:\n    - name: password\n      type: secret\n"
        body = 'resp.add_info("with " + parameters.get_optional("password"))'
        runs.flows.operator("login", body, parameters=parameters).workflow(step("a", command="login"))

        ran = runs.run("a:\n  parameters:\n    password: hunter2hunter2\n")

        assert ran.step("a")["Parameters"] == {"password": "REDACTED"}
        assert ran.step("a")["Response"]["Info"] == ["with REDACTED"]
        home = tmp_path / "home"
        assert all(b"hunter2hunter2" not in file.read_bytes() for file in home.rglob("*") if file.is_file())

    def test_the_password_of_a_url_is_in_no_record(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"))

        ran = runs.run("a:\n  parameters:\n    text: postgresql://me:hunter2hunter2@host/db\n")

        assert ran.step("a")["Parameters"] == {"text": "postgresql://me:REDACTED@host/db"}
        given = parameters_of_request({"a": {"parameters": {"text": "postgresql://me:hunter2hunter2@host/db"}}})
        call = WorkflowCall(name="demo:flow", given=given)  # what comes with a request is kept where it has no secret
        for said in (workflow_calls.run(runs.env, call), workflow_calls.plan(runs.env, call)):
            assert said.response.errors == ()
            assert "hunter2hunter2" not in str(said.to_dict())
        home = runs.env.home
        assert all(b"hunter2hunter2" not in file.read_bytes() for file in home.rglob("*") if file.is_file())

    def test_very_much_data_are_not_kept(self, runs: Runs) -> None:
        runs.flows.operator("give", 'resp.add_data("x" * 2_000_000)').workflow(step("a", command="give"))

        response = runs.run().step("a")["Response"]

        assert response["Data"] == []
        assert response["DataLeftOut"] is True

    def test_steps_run_at_the_same_time_each_with_a_response_of_its_own(self, runs: Runs) -> None:
        runs.flows.operator("say", 'time.sleep(0.05)\nresp.add_info(parameters.get_optional("text"))')
        keys = [f"s{number}" for number in range(20)]
        runs.flows.workflow(*[step(key, command="say") for key in keys])

        ran = runs.run("".join(f"{key}:\n  parameters:\n    text: {key}\n" for key in keys), limit=20)

        assert {key: ran.step(key)["Response"]["Info"] for key in keys} == {key: [key] for key in keys}

    def test_no_more_steps_run_at_the_same_time_than_may(self, runs: Runs) -> None:
        running = runs.tracing("'+'") + "\ntime.sleep(0.02)\n" + runs.tracing("'-'")
        runs.flows.operator("say", running).workflow(*[step(f"s{number}", command="say") for number in range(12)])

        runs.run(limit=3)

        now = most = 0
        for line in runs.trace:
            now += 1 if line == "+" else -1
            most = max(most, now)
        assert most == 3


@pytest.mark.parametrize("kind", ["object", "data"])
def test_a_result_that_cannot_be_shown_fails_its_step_alone(runs: Runs, kind: str) -> None:
    body = "class Odd:\n    def to_dict(self):\n        raise RuntimeError('not to be shown')\n"
    given = "return OperatorResponse(resp, Odd())" if kind == "object" else "resp.add_data({'odd': Odd()})"
    runs.flows.operator("give", body + given).workflow(step("a", command="give"), step("b", "a"), step("c"))

    ran = runs.run()

    assert ran.statuses == {"a": "failed", "c": "succeeded", "b": "blocked"}
    code = runs.flows.folder / "defs" / "operators" / "demo" / "give" / "__init__.py"
    told = f"{code}:13: demo:give failed in its own code: RuntimeError: not to be shown"
    assert ran.said.response.errors == (f"a: {told}",)
    assert ran.run["Status"] == "failed"


def test_a_run_that_cannot_be_recorded_any_more_stops_and_says_why(runs: Runs) -> None:
    file = runs.flows.folder / "home" / "state.db"
    body = f"import sqlite3\ndb = sqlite3.connect({str(file)!r})\ndb.execute('DROP TABLE run_steps')\ndb.close()"
    runs.flows.operator("drop", body).operator("say", runs.tracing("'late'"))
    runs.flows.workflow(step("a", command="drop"), step("b", "a", command="say"))
    runs.register()

    said = workflow_calls.run(runs.env, runs.call())

    (error,) = said.response.errors
    assert "no such table: run_steps" in error
    assert runs.trace == []
    (run,) = list_runs(read_state(runs.env))
    assert (run["Status"], run["Steps"]) == ("failed", {"succeeded": 1, "cancelled": 1})


def test_an_operator_whose_code_was_deleted_is_named_before_anything_runs(runs: Runs) -> None:
    runs.flows.operator("say", runs.tracing()).operator("gone").workflow(
        step("a", command="say"), step("b", "a", command="gone")
    )
    runs.register()
    gone = find_operator(open_state(runs.env), "demo", "gone")
    open_state(runs.env)._db.execute("DELETE FROM object_files WHERE digest = ?", (gone.digest,))  # type: ignore[attr-defined]
    shutil.rmtree(runs.flows.folder / "defs" / "operators" / "demo" / "gone")
    said = workflow_calls.run(runs.env, runs.call())

    assert runs.trace == []
    assert said.response.errors == (f"The code of demo:gone (sha256:{gone.digest[:12]}) is gone. Register it again.",)
