"""`mason workflow -d`: a workflow is kept with its schedule, and `--scheduler` runs it when it is due."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from mason.operators.registration.registry import remove
from mason.state.home import open_state, read_state
from mason.state.models import Kind, Name, Record
from mason.state.schedules import LOCAL, Change, change_schedule, find_schedule, forget_schedule
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.workflows.runs.recorded_runs import list_runs, show_run
from mason.workflows.schedules.due import Firing
from mason.workflows.schedules.scheduled import run_due
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls
from tests.cli.support import errors, operator_with, registered, strict_json
from tests.conftest import EXAMPLES, Mason, write
from tests.workflows.conftest import NOOP_PARAMETERS, Runs, step, workflow_yaml


@pytest.fixture
def deployed(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Deploys `demo:flow` in this process and returns what was said."""
    monkeypatch.setenv("MASON_HOME", str(runs.env.home))
    monkeypatch.chdir(runs.flows.folder)

    def deploy(parameters: str = "", **more: str) -> dict[str, Any]:
        runs.register()
        return workflow_calls.deploy(runs.env, replace(runs.call(parameters), **more)).to_dict()

    return deploy


def fire(runs: Runs, name: str = "demo_flow") -> dict[str, Any]:
    """Run what is due now, in this process, as the scheduler's child would."""
    firing = Firing.now("2026-11-16T06:00:00+00:00", datetime.now(UTC))
    store = open_state(runs.env)
    change_schedule(store, LOCAL, name, lambda before: {**before, "Firing": firing.to_dict()})
    return run_due(runs.env, name).to_dict()


class TestDeploy:
    def test_a_secret_is_not_written_down_with_a_workflow(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        password = "  optional:\n    - text\n    - name: password\n      type: secret\n"
        runs.flows.operator("log_in", parameters=password).workflow(step("a", command="log_in"))

        said = deployed("a:\n  parameters:\n    password: not-to-be-kept\n", schedule="@daily")

        assert "and a secret is among them: a." in said["Errors"][0]
        in_url = deployed("a:\n  parameters:\n    text: postgresql://me:not-to-be-kept@host/db\n", schedule="@daily")
        assert "and a secret is among them: a." in in_url["Errors"][0]
        kept = b"".join(file.read_bytes() for file in runs.env.home.glob("state.db*"))
        assert b"not-to-be-kept" not in kept

    def test_it_says_what_the_documents_say(self, runs: Runs, deployed: Callable[..., dict[str, Any]]) -> None:
        runs.flows.workflow(step("a"))

        said = deployed(schedule="0 6 * * * Europe/Berlin")

        assert said["Errors"] == []
        assert said["Info"][0] == "Registering workflow dag demo_flow with local."
        assert said["Info"][-1] == "Registered schedule demo_flow"
        assert said["Data"][0]["Name"] == "demo_flow"
        assert said["Data"][0]["Schedule"] == "0 6 * * * Europe/Berlin"
        assert said["Data"][0]["NextDueAt"]

    def test_nothing_is_run(self, runs: Runs, deployed: Callable[..., dict[str, Any]]) -> None:
        runs.flows.operator("say", runs.tracing("'ran'")).workflow(step("a", command="say"))

        deployed(schedule="@daily")

        assert runs.trace == []
        assert list_runs(read_state(runs.env)) == []

    def test_a_flag_is_stronger_than_the_parameters_and_these_than_the_workflow(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))
        yaml = runs.flows.folder / "defs" / "workflows" / "flow" / "workflow.yaml"
        yaml.write_text(yaml.read_text() + 'schedule: "@weekly"\n')
        given = 'schedule: "@daily"\nschedule_name: mine\na:\n  parameters: {text: x}\n'

        found = [
            deployed()["Data"][0],
            deployed(given)["Data"][0],
            deployed(given, schedule="@hourly", schedule_name="other")["Data"][0],
        ]

        assert [(each["Name"], each["Schedule"]) for each in found] == [
            ("demo_flow", "@weekly"),
            ("mine", "@daily"),
            ("other", "@hourly"),
        ]

    def test_without_a_schedule_it_waits_to_be_triggered(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))

        said = deployed()

        assert (
            "demo_flow is due when it is triggered; `mason run` or `mason workflow --scheduler` runs what is due."
            in said["Info"]
        )
        assert "NextDueAt" not in said["Data"][0]

    def test_what_is_lost_by_deploying_it_again_is_told(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a")).workflow(step("a"), command="other")
        assert deployed(schedule="0 6 * * *")["Warnings"] == []
        assert deployed(schedule="0 7 * * *")["Warnings"] == []

        without = deployed()
        call = WorkflowCall(name="demo:other", schedule_name="demo_flow")
        other = workflow_calls.deploy(runs.env, call).to_dict()

        assert without["Warnings"] == [
            'demo_flow was due by "0 7 * * *" until now; without --schedule it is when it is triggered.'
        ]
        assert other["Warnings"] == [
            "demo_flow ran demo:flow until now, which gives way. -s gives this one another name."
        ]

    def test_what_another_process_has_just_deleted_is_not_told_to_be_lost(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runs.flows.workflow(step("a"))
        deployed(schedule="0 6 * * *")

        def overtaken(store: StateStore, scheduler: str, name: str, change: Change) -> Record:
            change(find_schedule(store, scheduler, name).document)
            forget_schedule(store, scheduler, name)
            return change_schedule(store, scheduler, name, change)

        monkeypatch.setattr("mason.clients.local.scheduler.change_schedule", overtaken)

        assert deployed()["Warnings"] == []

    def test_a_schedule_that_means_no_moment_is_refused_with_what_to_write(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))

        said = deployed(schedule="0 25 * * *")

        assert said["Errors"] == ['The schedule of "demo_flow": the hour "25" must be 0 to 23; write "0 0 * * *".']

    def test_a_schedule_in_the_parameters_is_refused_with_its_line(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))

        said = deployed('a:\n  parameters: {text: x}\nschedule: "@dayly"\n')

        assert said["Errors"][0].endswith(
            'parameters.yaml:3: schedule: "@dayly" is not a word for a schedule. Did you mean "@daily"?'
        )

    def test_a_schedule_in_a_workflow_is_refused_when_it_is_registered(self, runs: Runs) -> None:
        runs.flows.workflow(step("a"))
        yaml = runs.flows.folder / "defs" / "workflows" / "flow" / "workflow.yaml"
        yaml.write_text(yaml.read_text() + 'schedule: "0 6 * *"\n')

        assert runs.flows.registration_problems() == [
            '11: schedule: "0 6 * *" has 4 fields instead of 5: write "0 6 * * *"'
        ]

    def test_a_step_that_leads_out_of_its_field_is_refused_wherever_a_person_writes_it(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))

        told = deployed(schedule="*/60 * * * *")["Errors"] + deployed('schedule: "*/60 * * * *"\n')["Errors"]
        yaml = runs.flows.folder / "defs" / "workflows" / "flow" / "workflow.yaml"
        yaml.write_text(yaml.read_text() + 'schedule: "*/60 * * * *"\n')

        assert len(told) == 2
        for said in (*told, *runs.flows.registration_problems()):
            assert 'the minute "*/60" goes beyond 59 with its first step; write "0 * * * *"' in said

    def test_a_name_that_can_be_none_is_refused(self, runs: Runs, deployed: Callable[..., dict[str, Any]]) -> None:
        runs.flows.workflow(step("a"))

        said = deployed(schedule_name="two words")

        assert '"two words" cannot be the name of a schedule' in said["Errors"][0]

    def test_a_workflow_with_problems_is_not_deployed(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))

        said = deployed("a:\n  parameters: {txt: x}\n", schedule="@daily")

        assert "a.parameters.txt" in said["Errors"][0]
        assert read_state(runs.env).list_configurations() == []
        with pytest.raises(Exception, match='There is no schedule "demo_flow"'):
            find_schedule(read_state(runs.env), LOCAL, "demo_flow")

    def test_both_flags_deploy_and_run(self, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MASON_HOME", str(runs.env.home))
        runs.flows.operator("say", runs.tracing("'ran'")).workflow(step("a", command="say"))
        runs.register()

        said = workflow_calls.deploy_and_run(runs.env, replace(runs.call(), schedule="@daily")).to_dict()

        assert said["Errors"] == []
        assert runs.trace == ["ran"]
        assert said["Data"][-1]["Status"] == "succeeded"
        assert find_schedule(read_state(runs.env), LOCAL, "demo_flow").document["Schedule"] == "@daily"


class TestWhatIsDue:
    def test_it_runs_as_it_was_deployed_whatever_became_of_the_files(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.operator("say", runs.tracing()).workflow(step("a", command="say"))
        deployed("a:\n  parameters: {text: then}\n", schedule="@daily")
        (runs.flows.folder / "parameters.yaml").unlink()
        runs.flows.workflow(step("a", command="say"), step("b", "a", command="say"))
        runs.register()

        said = fire(runs)

        assert said["Errors"] == []
        assert runs.trace == ["then"]

    def test_its_run_says_which_schedule_it_is_of(self, runs: Runs, deployed: Callable[..., dict[str, Any]]) -> None:
        runs.flows.workflow(step("a"))
        deployed(schedule="@daily")

        run_id = fire(runs)["Data"][-1]["RunID"]

        run = show_run(read_state(runs.env), run_id)
        assert (run["Schedule"], run["DueAt"]) == ("demo_flow", "2026-11-16T06:00:00+00:00")
        assert Firing.of(find_schedule(read_state(runs.env), LOCAL, "demo_flow").document).run_id == run_id

    def test_one_claim_is_run_once(self, runs: Runs, deployed: Callable[..., dict[str, Any]]) -> None:
        runs.flows.operator("say", runs.tracing("'ran'")).workflow(step("a", command="say"))
        deployed(schedule="@daily")
        fire(runs)

        again = run_due(runs.env, "demo_flow").to_dict()

        assert "already" in again["Errors"][0]
        assert runs.trace == ["ran"]
        assert "LastError" not in find_schedule(read_state(runs.env), LOCAL, "demo_flow").document

    def test_parameters_that_were_kept_with_a_schedule_that_would_not_be_taken_today_are_run(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.operator("say", runs.tracing()).workflow(step("a", command="say"))
        deployed("a:\n  parameters: {text: ran}\nschedule: '0 * * * *'\n")
        change_schedule(
            open_state(runs.env),
            LOCAL,
            "demo_flow",
            lambda before: {**before, "Parameters": before["Parameters"].replace("0 * * * *", "*/60 * * * *")},
        )

        assert fire(runs)["Errors"] == []
        assert runs.trace == ["ran"]

    def test_an_operator_that_is_gone_is_an_error_of_the_schedule(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))
        deployed(schedule="@daily")
        remove(runs.env, open_state(runs.env), Name(Kind.OPERATOR, "demo", "noop"))

        said = fire(runs)

        assert 'Operator "demo:noop" not found' in said["Errors"][0]
        assert (
            'Operator "demo:noop" not found'
            in find_schedule(read_state(runs.env), LOCAL, "demo_flow").document["LastError"]
        )

    def test_nothing_is_due_of_a_schedule_that_nobody_claimed(
        self, runs: Runs, deployed: Callable[..., dict[str, Any]]
    ) -> None:
        runs.flows.workflow(step("a"))
        deployed(schedule="@daily")

        assert run_due(runs.env, "demo_flow").to_dict()["Errors"] == ['Nothing of the schedule "demo_flow" is due.']


class TestCommand:
    @pytest.fixture
    def flow(self, mason: Mason) -> Mason:
        """`demo:flow` whose step writes into a file where the command runs, and the operators on schedules."""
        write_it = "open('ran', 'a').write(parameters.get_optional('text') + '\\n')"
        operator_with(mason.folder / "defs", "demo", "say", parameters=NOOP_PARAMETERS, body=write_it)
        write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml([step("a", command="say")])})
        write(mason.folder, {"p.yaml": "a:\n  parameters: {text: hello}\n"})
        registered(mason, mason.folder / "defs")
        return registered(mason, EXAMPLES / "operators" / "schedule")

    @pytest.fixture
    def scheduler(self, flow: Mason) -> Iterator[subprocess.Popen[str]]:
        process = flow.start("workflow", "--scheduler")
        yield process
        process.kill()
        process.communicate()

    def test_a_schedule_is_deployed_listed_run_and_deleted(self, flow: Mason, scheduler: subprocess.Popen[str]) -> None:
        elsewhere = flow.folder / "elsewhere"
        write(elsewhere, {"json.py": "raise RuntimeError('a file of the user is no module')"})
        deploy = flow(
            "workflow",
            "demo",
            "flow",
            "-f",
            str(flow.folder / "p.yaml"),
            "-d",
            "--schedule",
            "@yearly",
            folder=elsewhere,
        )
        assert deploy.exit_code == 0, deploy.stdout
        (flow.folder / "p.yaml").unlink()

        triggered = flow("operator", "schedule", "trigger", "-p", "schedule_name:demo_flow")
        assert triggered.exit_code == 0, triggered.stdout
        run_id = strict_json(triggered)["Data"][0]["SchedulerRun"]
        _eventually(lambda: _status(flow, run_id) == "succeeded")
        (listed,) = strict_json(flow("operator", "schedule", "list"))["Data"]
        scheduler.send_signal(signal.SIGINT)
        _, told = scheduler.communicate(timeout=30)
        deleted = flow("operator", "schedule", "delete", "-p", "schedule_name:demo_flow")

        assert (elsewhere / "ran").read_text() == "hello\n"
        assert (listed["Name"], listed["LastRunID"]) == ("demo_flow", run_id)
        assert scheduler.returncode == 130
        assert f"run {run_id}" in told
        assert "Traceback" not in told
        assert deleted.exit_code == 0
        assert strict_json(flow("operator", "schedule", "list"))["Data"] == []
        assert errors(flow, "schedule", "delete", "-p", "schedule_name:demo_flow") == [
            'There is no schedule "demo_flow". None is deployed: `mason workflow … -d` deploys one.'
        ]

    def test_a_run_goes_with_its_scheduler_when_that_is_asked_to_end(
        self, flow: Mason, scheduler: subprocess.Popen[str]
    ) -> None:
        begun = flow.folder / "begun"
        body = f"open({str(begun)!r}, 'w').close()\nfor _ in range(6000): time.sleep(0.01)"
        operator_with(flow.folder / "slow", "demo", "say", parameters=NOOP_PARAMETERS, body=body)
        assert flow("register", "-f", "slow").exit_code == 0
        assert flow("workflow", "demo", "flow", "-d").exit_code == 0
        flow("operator", "schedule", "trigger", "-p", "schedule_name:demo_flow")
        _eventually(begun.exists)

        scheduler.send_signal(signal.SIGTERM)
        _, told = scheduler.communicate(timeout=60)

        assert scheduler.returncode == 0, told
        (run,) = json.loads(flow("workflow", "--runs", "--json").stdout)["Data"]
        assert run["Status"] == "cancelled"

    @pytest.mark.parametrize("flags", [["--schedule", "@daily"], ["-s", "x"]])
    def test_a_run_that_would_leave_out_when_it_is_due_is_refused(self, flow: Mason, flags: list[str]) -> None:
        result = flow("workflow", "demo", "flow", "-r", *flags)

        assert strict_json(result)["Errors"] == [
            "local runs a workflow at once, and leaves out when else it is due. "
            "--schedule and --schedule-name go with --deploy."
        ]
        assert json.loads(flow("workflow", "--runs", "--json").stdout)["Data"] == []
        assert flow("workflow", "demo", "flow", "-d", *flags).exit_code == 0

    @pytest.mark.parametrize("flags", [["--schedule", "@daily"], ["-s", "x"], ["-d", "--save", "plan.json"]])
    def test_flags_that_do_not_go_together_are_a_usage_error(self, mason: Mason, flags: list[str]) -> None:
        assert mason("workflow", "demo", "flow", *flags).exit_code == 2


def _status(mason: Mason, run_id: str) -> str:
    found = list_runs(read_state(MasonEnvironment(mason.home)))
    return next((str(each["Status"]) for each in found if each["RunID"] == run_id), "")


def _eventually(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
