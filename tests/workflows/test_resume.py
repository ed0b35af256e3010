"""`--resume`: what failed runs again, and what depends on it; what succeeded and is unchanged does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workflows.conftest import Runs, flow_class, step

PATHS = "  optional:\n    - text\n    - name: input_path\n      type: path\n"

NO_RULES = (
    "from mason.workflows.workflow_definition import WorkflowDefinition\n\n\n"
    "class DemoInner(WorkflowDefinition):\n    pass\n"
)


def breakable(runs: Runs, command: str = "say") -> Path:
    """Add an operator that writes its text into the trace, and fails as long as a file is there; return the file."""
    file = runs.flows.folder / "broken"
    runs.flows.operator(command, f"{runs.tracing()}\nif os.path.exists({str(file)!r}): raise RuntimeError('broken')")
    return file


def texts(*keys: str) -> str:
    return "".join(f"{key}:\n  parameters:\n    text: {key}\n" for key in keys)


def test_what_failed_and_what_depends_on_it_runs_again(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing())
    broken = breakable(runs)
    runs.flows.workflow(
        step("a", command="fine"), step("b", "a", command="say"), step("c", "b", command="fine"),
        step("d", "a", command="fine"),
    )  # fmt: skip
    broken.touch()
    first = runs.run(texts(*"abcd"))
    assert first.statuses == {"a": "succeeded", "b": "failed", "c": "blocked", "d": "succeeded"}
    broken.unlink()
    before = len(runs.trace)

    second = runs.resume(first.run_id)

    assert second.said.response.errors == ()
    assert runs.trace[before:] == ["b", "c"]
    assert set(second.statuses.values()) == {"succeeded"}
    assert second.run["ResumedFrom"] == first.run_id
    assert second.step("a")["ReusedFrom"] == first.run_id
    assert f"a: reused from run {first.run_id}." in second.said.response.info
    assert "b: runs again, since it did not succeed." in second.said.response.info
    assert "c: runs, since it did not before." in second.said.response.info


def test_a_step_that_was_skipped_is_not_said_to_run(runs: Runs) -> None:
    runs.flows.workflow(step("a"), step("b", "a", when="\"{{a.status}} <> 'succeeded'\""))
    first = runs.run()

    second = runs.resume(first.run_id)

    assert second.statuses == {"a": "succeeded", "b": "skipped"}
    assert "b: is looked at again, since it was skipped." in second.said.response.info


def test_a_run_that_succeeded_is_reused_whole(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing()).workflow(step("a", command="fine"), step("b", "a", command="fine"))
    first = runs.run()

    second = runs.resume(first.run_id)

    assert len(runs.trace) == 2
    assert second.statuses == {"a": "succeeded", "b": "succeeded"}
    assert second.run["Status"] == "succeeded"


def test_what_a_reused_step_gave_is_still_there(runs: Runs) -> None:
    runs.flows.operator("give", 'resp.add_data({"Rows": 12})')
    broken = breakable(runs)
    runs.flows.workflow(step("a", command="give"), step("b", "a", command="say", when='"{{a.rows}} = 12"'))
    broken.touch()
    first = runs.run('b:\n  parameters:\n    text: "{{a.rows}}"\n')
    broken.unlink()

    second = runs.resume(first.run_id)

    assert runs.trace == ["12", "12"]
    assert second.statuses == {"a": "succeeded", "b": "succeeded"}


def test_a_step_with_other_parameters_runs_again(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing()).workflow(
        step("a", command="fine"), step("b", "a", command="fine"), step("c", command="fine")
    )
    first = runs.run(texts(*"abc"))

    runs.resume(first.run_id, texts("b", "c") + "a:\n  parameters:\n    text: other\n")

    assert runs.trace[3:] == ["other", "b"]


def test_a_step_whose_operator_was_edited_runs_again(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing()).operator("edited", runs.tracing())
    runs.flows.workflow(step("a", command="fine"), step("b", "a", command="edited"))
    first = runs.run(texts("a", "b"))
    runs.flows.operator("edited", runs.tracing("'edited'"))

    second = runs.resume(first.run_id)

    assert runs.trace == ["a", "b", "edited"]
    assert "b: runs again, since its operator was changed." in second.said.response.info


def test_an_edited_workflow_keeps_what_it_still_has(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing()).workflow(step("a", command="fine"), step("b", "a", command="fine"))
    first = runs.run(texts("a", "b"))
    runs.flows.workflow(step("a", command="fine"), step("new", "a", command="fine"), step("b", "a", command="fine"))

    second = runs.resume(first.run_id, texts("a", "b", "new"))

    assert runs.trace == ["a", "b", "new"]
    assert second.statuses == {"a": "succeeded", "new": "succeeded", "b": "succeeded"}


def test_a_same_size_edit_with_a_restored_time_is_noticed(runs: Runs) -> None:
    runs.flows.operator("read", runs.tracing(), parameters=PATHS).workflow(step("a", command="read"))
    data = runs.flows.folder / "data.csv"
    data.write_text("a\n1\n")
    parameters = f"a:\n  parameters:\n    input_path: {data}\n"
    first = runs.run(parameters)
    assert len(runs.resume(first.run_id).run["Steps"]) == len(runs.trace) == 1
    times = data.stat()
    data.write_text("a\n2\n")
    os.utime(data, ns=(times.st_atime_ns, times.st_mtime_ns))

    second = runs.resume(first.run_id)

    assert len(runs.trace) == 2
    assert "a: runs again, since the files that it reads were changed." in second.said.response.info


def test_an_edit_behind_a_link_is_noticed(runs: Runs) -> None:
    runs.flows.operator("read", runs.tracing(), parameters=PATHS).workflow(step("a", command="read"))
    data, elsewhere = runs.flows.folder / "data", runs.flows.folder / "elsewhere"
    data.mkdir()
    elsewhere.mkdir()
    (elsewhere / "more.csv").write_text("a\n1\n")
    (data / "linked").symlink_to(elsewhere)
    first = runs.run(f"a:\n  parameters:\n    input_path: {data}\n")
    (elsewhere / "more.csv").write_text("a\n1\n2\n")

    second = runs.resume(first.run_id)

    assert len(runs.trace) == 2
    assert "a: runs again, since the files that it reads were changed." in second.said.response.info


def test_a_step_that_wrote_into_the_folder_of_another_is_no_change_of_it(runs: Runs) -> None:
    paths = f"{PATHS}    - name: output_path\n      type: path\n"
    writing = "os.makedirs(str(parameters.get_required('output_path')))"
    runs.flows.operator("write", writing, parameters=paths).operator("read", runs.tracing(), parameters=paths)
    steps = [step("a", command="write"), step("b", "a", command="read"), step("c", "b", command="write")]
    runs.flows.workflow(*steps)
    out = runs.flows.folder / "out"
    given = {"a": f"output_path: {out}", "b": f"input_path: {out}", "c": f"output_path: {out}/more"}
    first = runs.run("".join(f"{key}:\n  parameters: {{{value}}}\n" for key, value in given.items()))
    (out / "more" / "file").write_text("not known to be new")

    second = runs.resume(first.run_id)

    assert set(second.statuses.values()) == {"succeeded"}
    assert len(runs.trace) == 1


class TestStepsThatChangeWhatTheyRead:
    @pytest.fixture
    def table(self, runs: Runs) -> Path:
        """A file that a first step reads; a second one adds to it, and a third one fails."""
        adding = "with open(parameters.get_required('input_path'), 'a') as file: file.write('2')"
        runs.flows.operator("read", runs.tracing("'read'"), parameters=PATHS)
        runs.flows.operator("tidy", f"{adding}\n{runs.tracing(chr(39) + 'tidied' + chr(39))}", parameters=PATHS)
        runs.flows.operator("fail", "raise RuntimeError('broken')")
        runs.flows.workflow(step("a", command="read"), step("b", "a", command="tidy"), step("c", "b", command="fail"))
        file = runs.flows.folder / "table"
        file.write_text("1")
        return file

    def run(self, runs: Runs, table: Path) -> str:
        first = runs.run("".join(f"{key}:\n  parameters: {{input_path: {table}}}\n" for key in "ab"))
        assert first.statuses == {"a": "succeeded", "b": "succeeded", "c": "failed"}
        return first.run_id

    def declare(self, runs: Runs) -> None:
        code = runs.flows.folder / "defs" / "operators" / "demo" / "tidy" / "__init__.py"
        says = (
            "    def changed_paths(self, config, parameters):\n        return [parameters.get_required('input_path')]\n"
        )
        code.write_text(f"{code.read_text()}\n{says}")

    def test_what_a_step_says_that_it_changes_is_no_reason_to_run_those_before_it_again(
        self, runs: Runs, table: Path
    ) -> None:
        self.declare(runs)

        runs.resume(self.run(runs, table))

        assert runs.trace == ["read", "tidied"]
        assert table.read_text() == "12"

    def test_what_others_did_to_it_since_is_one(self, runs: Runs, table: Path) -> None:
        self.declare(runs)
        first = self.run(runs, table)
        table.write_text("3")

        runs.resume(first)

        assert runs.trace == ["read", "tidied", "read", "tidied"]

    def test_what_was_changed_while_a_step_ran_that_does_not_say_so_is_a_change_by_others(
        self, runs: Runs, table: Path
    ) -> None:
        second = runs.resume(self.run(runs, table))

        assert "a: runs again, since the files that it reads were changed." in second.said.response.info


def test_what_is_resumed_in_another_folder_is_reused_only_where_its_paths_lead_to_the_same_files(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.flows.operator("read", runs.tracing(), parameters=PATHS)
    runs.flows.workflow(step("relative", command="read"), step("absolute", command="read"))
    here, there = runs.flows.folder / "here", runs.flows.folder / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "data.csv").write_text("a\n1\n")
    monkeypatch.chdir(here)
    paths = {"relative": "data.csv", "absolute": str(here / "data.csv")}
    given = "".join(f"{key}:\n  parameters: {{text: {key}, input_path: {path}}}\n" for key, path in paths.items())
    first = runs.run(given)
    monkeypatch.chdir(there)

    second = runs.resume(first.run_id)

    assert sorted(runs.trace) == ["absolute", "relative", "relative"]
    assert "relative: runs again, since its paths lead elsewhere from this folder." in second.said.response.info
    runs.resume(second.run_id)
    assert len(runs.trace) == 3


def test_a_step_whose_answer_depends_on_the_time_runs_again_and_what_depends_on_it(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing()).operator("look", runs.tracing())
    code = runs.flows.folder / "defs" / "operators" / "demo" / "look" / "__init__.py"
    code.write_text(f"{code.read_text()}\n    def answer_depends_on(self, parameters):\n        return 'the time'\n")
    runs.flows.workflow(step("a", command="fine"), step("b", "a", command="look"), step("c", "b", command="fine"))
    first = runs.run(texts(*"abc"))

    second = runs.resume(first.run_id)

    assert runs.trace == ["a", "b", "c", "b", "c"]
    assert first.step("b")["DependsOn"] == "the time"
    assert "b: runs again, since its answer depends on the time." in second.said.response.info


def test_a_branch_that_ended_well_ends_there_again(runs: Runs) -> None:
    broken = breakable(runs)
    code = (
        "from mason.workflows.workflow_definition import WorkflowDefinition\n\n\nclass DemoFlow(WorkflowDefinition):\n"
        "    def step(self, current, next):\n        return current if next.id == 'b' else next\n"
    )
    runs.flows.workflow(step("a"), step("b", "a"), step("c", "a", command="say"), code=code)
    broken.touch()
    first = runs.run()
    broken.unlink()

    assert runs.resume(first.run_id).statuses == {"a": "succeeded", "b": "skipped", "c": "succeeded"}


def test_a_workflow_that_lost_its_rules_goes_on_where_they_had_ended_a_branch(runs: Runs) -> None:
    runs.flows.operator("fine", runs.tracing())
    ends = flow_class("return current")
    runs.flows.workflow(
        step("x", command="fine"), step("y", "x", command="fine"), command="inner", code=ends.replace("Flow", "Inner")
    )
    nested = step("load", "b", command="inner", type="workflow")
    runs.flows.workflow(
        step("a", command="fine"), step("b", "a", command="fine"), nested, code=flow_class("return next")
    )
    first = runs.run()
    assert first.statuses == {"a": "succeeded", "b": "succeeded", "load.x": "succeeded", "load.y": "skipped"}
    runs.flows.workflow(step("x", command="fine"), step("y", "x", command="fine"), command="inner", code=NO_RULES)

    second = runs.resume(first.run_id)

    assert set(second.statuses.values()) == {"succeeded"}
    assert len(runs.trace) == 4


def test_rules_that_were_edited_are_not_asked_of_what_is_reused_which_is_said(runs: Runs) -> None:
    runs.flows.workflow(step("a"), step("b", "a"), code=flow_class("return current"))
    first = runs.run()
    runs.flows.workflow(step("a"), step("b", "a"), code=flow_class("return next"))

    second, third = runs.resume(first.run_id), runs.resume(first.run_id, first="a")

    assert second.statuses == {"a": "succeeded", "b": "skipped"}
    (warning,) = second.said.response.warnings
    assert warning.startswith("A workflow's own step was edited since: ")
    assert third.statuses == {"a": "succeeded", "b": "succeeded"}
    assert third.said.response.warnings == ()


def test_rules_of_a_nested_workflow_that_were_edited_are_told_as_well_and_those_that_nothing_asks_are_not(
    runs: Runs,
) -> None:
    def nested(inner: str, outer: str = "return next") -> None:
        code = flow_class(inner).replace("Flow", "Inner")
        runs.flows.workflow(step("x"), step("y", "x"), command="inner", code=code)
        runs.flows.workflow(step("load", command="inner", type="workflow"), code=flow_class(outer))

    nested("return current")
    first = runs.run()
    nested("return current", outer="return current")
    same = runs.resume(first.run_id)
    nested("return next")

    second = runs.resume(first.run_id)

    assert same.said.response.warnings == ()
    assert second.statuses == {"load.x": "succeeded", "load.y": "skipped"}
    (warning,) = second.said.response.warnings
    assert warning.startswith("A workflow's own step was edited since: ")


def test_what_a_job_raises_while_paths_are_looked_at_from_another_folder_is_told_by_its_step_alone(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "  optional:\n    - name: password\n      type: secret\n"
    runs.flows.operator("login", parameters=secret).workflow(step("a", command="login"))
    code = runs.flows.folder / "defs" / "operators" / "demo" / "login" / "__init__.py"
    broken, folder = runs.flows.folder / "broken", runs.flows.folder / "elsewhere"
    code.write_text(
        f"{code.read_text()}\n    def changed_paths(self, config, parameters):\n"
        f"        if os.path.exists({str(broken)!r}): raise ValueError(parameters.get_optional('password'))\n"
        "        return []\n"
    )
    given = "a:\n  parameters: {password: hunter2hunter2}\n"
    first = runs.run(given)
    folder.mkdir()
    monkeypatch.chdir(folder)
    broken.touch()

    said = runs.resume(first.run_id, given).said

    assert "a: runs again, since its paths lead elsewhere from this folder." in said.response.info
    assert said.response.errors == (f"a: {code}:15: demo:login failed in its own code: ValueError: REDACTED",)
    assert "hunter2hunter2" not in caplog.text


class TestChoices:
    @pytest.fixture
    def first(self, runs: Runs) -> str:
        runs.flows.operator("fine", runs.tracing()).workflow(
            step("a", command="fine"), step("b", "a", command="fine"), step("c", "b", command="fine")
        )
        return runs.run(texts(*"abc")).run_id

    def test_from_a_step_on(self, runs: Runs, first: str) -> None:
        runs.resume(first, first="b")

        assert runs.trace[3:] == ["b", "c"]

    def test_a_step_alone(self, runs: Runs, first: str) -> None:
        ran = runs.resume(first, only="b")

        assert runs.trace[3:] == ["b"]
        assert ran.statuses == {"a": "succeeded", "b": "succeeded"}

    def test_a_step_alone_needs_what_comes_before_it(self, runs: Runs) -> None:
        broken = breakable(runs)
        runs.flows.workflow(step("a", command="say"), step("b", "a", command="say"))
        broken.touch()
        first = runs.run()

        said = runs.resume(first.run_id, only="b").said

        assert said.response.errors == ('"b" cannot run alone: "a" before it has to run again. Use --from.',)

    def test_a_step_that_is_not_there(self, runs: Runs, first: str) -> None:
        assert runs.resume(first, first="bb").said.response.errors == ('There is no step "bb". Did you mean "b"?',)
        assert runs.resume(first, only="merge").said.response.errors == ('There is no step "merge". Steps: a, b, c.',)


def test_an_unknown_run_is_refused(runs: Runs) -> None:
    runs.flows.workflow(step("a"))

    assert runs.resume("nope").said.response.errors == ('There is no run "nope". `mason workflow --runs` lists them.',)


def test_a_run_is_found_by_the_beginning_of_its_id(runs: Runs) -> None:
    runs.flows.workflow(step("a"))
    first = runs.run()

    assert runs.resume(first.run_id[:8]).run["ResumedFrom"] == first.run_id
