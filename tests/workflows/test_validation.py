"""A workflow is checked whole before anything runs: every problem in one report, with file and line."""

from __future__ import annotations

import time

import pytest

from mason.workflows.definition.expansion import Extent, Nesting
from mason.workflows.definition.graph import order_keys
from mason.workflows.definition.valid_workflow import Target
from mason.workflows.definition.workflow_spec import StepSpec, WorkflowSpec
from tests.workflows.conftest import Flows, step


def test_checks_that_cannot_be_asked_are_found_before_anything_runs(flows: Flows) -> None:
    checks = "  required:\n    - name: checks\n      type: list\n      elements: checks\n"
    flows.operator("check", parameters=checks).workflow(step("a"), step("b", "a", command="check"))
    given = 'b:\n  parameters:\n    checks:\n      - "not_nul id"\n      - {check: range, column: id}\n'

    assert flows.problems(given) == [
        'parameters.yaml:3: b.parameters.checks: Check 1: there is no check "not_nul". Did you mean "not_null"?',
        "parameters.yaml:3: b.parameters.checks: Check 2: range needs min or max.",
    ]
    one = "parameters.yaml:2: b.parameters.checks: The parameter "
    assert flows.problems("b:\n  parameters: {checks: {check: range}}\n") == [
        one + '"checks" must be a list, not {"check": "range"}.'
    ]


def test_an_unknown_operator_is_named_with_the_nearest(flows: Flows) -> None:
    flows.workflow(step("a", command="nop"))

    assert flows.problems() == [
        'workflow.yaml:9: dag[0].command: Operator "demo:nop" not found. Did you mean "demo:noop"?'
    ]


def test_a_step_without_an_operator_hides_no_configuration_that_is_not_there(flows: Flows) -> None:
    flows.workflow(step("a", command="nop"))

    assert [each.partition(": ")[0] for each in flows.problems("a:\n  config_id: lokal\n")] == [
        "workflow.yaml:9",
        "parameters.yaml:2",
    ]


def test_parameters_are_checked_step_by_step_each_with_its_line(flows: Flows) -> None:
    flows.operator(
        "strict", parameters="  required:\n    - path\n  optional:\n    - name: count\n      type: integer\n"
    )
    flows.workflow(step("a", command="strict"), step("b", command="strict"), step("c"))

    assert flows.problems("a:\n  parameters:\n    count: many\nc:\n  parameters:\n    txt: x\n") == [
        'parameters.yaml:1: b.parameters.path: The parameter "path" is missing.',
        'parameters.yaml:2: a.parameters.path: The parameter "path" is missing.',
        'parameters.yaml:3: a.parameters.count: The parameter "count" must be a whole number, not "many".',
        'parameters.yaml:6: c.parameters.txt: There is no parameter "txt" (in demo:noop). Did you mean "text"?',
    ]


def test_a_step_that_the_workflow_does_not_have_is_refused(flows: Flows) -> None:
    flows.workflow(step("step_1"))

    assert flows.problems("step_l:\n  parameters: {}\n") == [
        'parameters.yaml:1: step_l: the workflow has no such step. Did you mean "step_1"?'
    ]


def test_an_unknown_key_of_a_step_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"))

    assert flows.problems("a:\n  parameter: {}\n") == [
        'parameters.yaml:2: a.parameter: unknown key. Did you mean "parameters"?'
    ]


def test_parameters_of_the_wrong_kind_are_refused(flows: Flows) -> None:
    flows.workflow(step("a"), step("b"))

    assert flows.problems("a: 5\nb:\n  parameters: [1]\n") == [
        "parameters.yaml:1: a: must be a mapping with config_id and parameters",
        "parameters.yaml:3: b.parameters: must be a mapping of names to values",
    ]


def test_a_file_of_parameters_that_is_no_mapping_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"))

    assert flows.problems("- a\n") == [
        "parameters.yaml:1: must be a mapping of the ids of steps to their config_id and parameters"
    ]


def test_a_configuration_that_the_operator_does_not_accept_is_named_with_the_step(flows: Flows) -> None:
    flows.operator("picky", supported='  - metastore: "glue"\n').workflow(step("a", command="picky"))

    (problem,) = flows.problems("a:\n  config_id: local\n")

    assert problem.startswith('parameters.yaml:2: a.config_id: demo:picky does not accept the configuration "local"')


def test_an_unknown_configuration_is_named_with_the_step(flows: Flows) -> None:
    flows.workflow(step("a"))

    assert flows.problems("a:\n  config_id: lokal\n") == [
        'parameters.yaml:2: a.config_id: Configuration "lokal" not found. Did you mean "local"?'
    ]


def test_a_scheduler_that_is_not_supported_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"), schedulers="[glue, airflow]")

    assert flows.problems() == [
        'workflow.yaml:10: supported_schedulers: the configuration "local" has local; '
        "the workflow supports glue, airflow"
    ]


def test_a_reference_to_nothing_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a", when='"{{c.rows}} > 0"'))

    assert flows.problems('b:\n  parameters:\n    text: "{{x.job_id}}"\n') == [
        'workflow.yaml:15: dag[1].when: "{{c.rows}}" refers to nothing: there is no step of that name',
        'parameters.yaml:3: b.parameters.text: "{{x.job_id}}" refers to nothing: there is no step of that name',
    ]


def test_a_reference_to_a_step_that_need_not_have_run_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"), step("b"), step("c", "a"))

    assert flows.problems('c:\n  parameters:\n    text: "{{b.job_id}}"\n') == [
        'parameters.yaml:3: c.parameters.text: "c" refers to "b", which need not have run by then: '
        "add it to dependencies"
    ]


def test_a_reference_to_itself_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"))

    (problem,) = flows.problems('a:\n  parameters:\n    text: "{{a.job_id}}"\n')

    assert problem.endswith('"a" refers to itself, and has not run by then')


def test_a_reference_without_an_end_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a"))

    (problem,) = flows.problems('b:\n  parameters:\n    text: "x-{{a.rows}}-{{a.rows"\n')

    assert problem.startswith('parameters.yaml:3: b.parameters.text: "{{a.rows" has no end: a reference names a step')
    assert flows.valid('b:\n  parameters:\n    text: "{{ is a brace, twice"\n').bound["b"].parameters is not None


def test_a_reference_that_is_none_says_what_one_looks_like(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a"))

    (problem,) = flows.problems('b:\n  parameters:\n    text: "{{ a }}"\n')

    assert problem.startswith(
        'parameters.yaml:3: b.parameters.text: "{{ a }}" is not a reference: a reference names a step'
    )


def test_a_parameter_that_comes_from_a_step_is_not_checked_before_it_is_known(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a"), step("c", "b"))

    valid = flows.valid('c:\n  parameters:\n    count: "{{a.data.0.Rows}}"\n')

    assert valid.bound["c"].parameters is None
    assert valid.bound["c"].targets == {"a.data.0.Rows": Target("a", ["data", "0", "Rows"])}


def test_an_unknown_parameter_is_refused_although_its_value_comes_from_a_step(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a"))

    (problem,) = flows.problems('b:\n  parameters:\n    txet: "{{a.x}}"\n')

    assert 'There is no parameter "txet"' in problem
    (near,) = flows.problems('b:\n  parameters:\n    count: "{{a.x}}"\n    cuont: 5\n')
    assert near.endswith('There is no parameter "cuont" (in demo:noop). Did you mean "count"?')


def test_problems_of_the_workflow_and_of_the_parameters_are_in_one_report(flows: Flows) -> None:
    flows.workflow(step("a", command="nop"), step("b"), schedulers="[glue]")

    assert len(flows.problems("b:\n  config_id: none\n  parameters:\n    count: x\nz: {}\n")) == 5


class TestNested:
    def test_a_nested_workflow_becomes_steps_of_the_one_around_it(self, flows: Flows) -> None:
        flows.workflow(step("x"), step("y", "x"), command="inner")
        flows.workflow(step("a"), step("load", "a", command="inner", type="workflow"), step("z", "load"))

        dag = flows.valid('load:\n  steps:\n    y:\n      parameters:\n        text: "{{x.v}}{{a.v}}"\n').dag

        assert {each.key: tuple(each.dependencies) for each in dag.steps} == {
            "a": (),
            "load.x": ("a",),
            "load.y": ("load.x",),
            "z": ("load.y",),
        }

    def test_a_scheduler_that_a_nested_workflow_does_not_support_is_refused(self, flows: Flows) -> None:
        flows.workflow(step("x"), command="inner", schedulers="[glue, airflow]")
        flows.workflow(step("a"), step("load", "a", command="inner", type="workflow"), schedulers="[local, airflow]")

        assert flows.problems() == [
            'workflow.yaml:15: supported_schedulers: the configuration "local" has local; '
            "the workflow supports local, airflow; demo:inner in it supports glue, airflow"
        ]

    def test_a_step_outside_refers_to_one_inside(self, flows: Flows) -> None:
        flows.workflow(step("x"), command="inner")
        flows.workflow(step("load", command="inner", type="workflow"), step("z", "load"))

        valid = flows.valid('z:\n  parameters:\n    text: "{{load.x.job_id}}"\n')

        assert valid.bound["z"].targets["load.x.job_id"] == Target("load.x", ["job_id"])

    def test_what_a_step_says_of_retries_timeout_and_condition_holds_inside(self, flows: Flows) -> None:
        flows.workflow(step("x"), step("y", "x", retry="constant(1)", retry_max=9), command="inner")
        extra = {"retry": "constant(2)", "retry_max": 4, "timeout": 7, "when": "\"{{a.status}} = 'succeeded'\""}
        flows.workflow(step("a"), step("load", "a", command="inner", type="workflow", **extra))

        steps = flows.valid().dag.by_key

        assert [(steps[key].retry.most, steps[key].timeout) for key in ("load.x", "load.y")] == [(4, 7), (9, 7)]
        assert [bool(steps[key].when) for key in ("load.x", "load.y")] == [True, False]

    def test_a_workflow_that_nests_itself_is_refused_with_the_path(self, flows: Flows) -> None:
        flows.workflow(step("b", command="flow", type="workflow"), command="inner")
        flows.workflow(step("a", command="inner", type="workflow"))

        assert flows.problems() == ["workflow.yaml:9: dag[0].command: nests itself: demo:flow → demo:inner → demo:flow"]

    def test_workflows_that_nest_each_other_too_deep_are_refused(self, flows: Flows) -> None:
        for level in range(60):
            flows.workflow(step("a", command=f"flow_{level + 1}", type="workflow"), command=f"flow_{level}")
        flows.workflow(step("a"), command="flow_60").workflow(step("a", command="flow_0", type="workflow"))

        assert flows.problems() == ["workflow.yaml:9: dag[0].command: nests workflows more than 50 deep"]

    @pytest.mark.parametrize(
        ("innermost", "found"),
        [
            (step("a"), ""),
            (step("a", command="nobody_knows", type="workflow"), '"demo:nobody_knows" not found'),
            (step("a", command="flow_0", type="workflow"), "flow_40 → demo:flow_0"),
            (step("a", command="flow", type="workflow"), "flow_40 → demo:flow"),
        ],
    )
    def test_workflows_that_double_each_other_are_refused_at_once(
        self, flows: Flows, innermost: str, found: str
    ) -> None:
        for level in range(40):
            twice = [step(key, command=f"flow_{level + 1}", type="workflow") for key in "ab"]
            flows.workflow(*twice, command=f"flow_{level}")
        flows.workflow(innermost, command="flow_40").workflow(step("a", command="flow_0", type="workflow"))
        began = time.monotonic()

        problems = flows.problems()

        too_many = "workflow.yaml:5: dag: has more than 100,000 steps, those of nested workflows among them"
        assert too_many in problems
        assert [each for each in problems if each != too_many and found in each] or not found
        assert time.monotonic() - began < 30

    def test_what_nested_workflows_come_to_is_counted_before_they_are_written_out(self, flows: Flows) -> None:
        flows.workflow(step("a"), step("b"), step("c", "a", "b"), step("d", "b"), command="inner")
        nested = {"command": "inner", "type": "workflow"}
        flows.workflow(step("x", **nested), step("y", "x"), step("z", "x", "y", **nested), command="middle")
        flows.workflow(step("p"), step("q", "p", command="middle", type="workflow"), step("r", "q", **nested))

        valid = flows.valid()

        def steps_of(name: str) -> list[StepSpec]:
            steps = {each.id: each for each in WorkflowSpec.of(valid.definitions.workflow(name).definition).steps}
            return [steps[key] for key in order_keys({key: each.dependencies for key, each in steps.items()})]

        assert Nesting(steps_of).extents("demo:flow")["demo:flow"] == Extent(
            steps=len(valid.dag.steps) + 4,  # those that nest: q, q.x, q.z and r
            starts=1,
            ends=2,
            dependencies=sum(len(each.dependencies) for each in valid.dag.steps),
        )

    def test_many_ends_before_many_beginnings_are_refused_before_they_fill_the_memory(self, flows: Flows) -> None:
        flows.workflow(*[step(f"s{number}") for number in range(3000)], command="wide")
        nested = {"command": "wide", "type": "workflow"}
        flows.workflow(step("a", **nested), step("b", "a", **nested))

        assert flows.problems() == [
            "workflow.yaml:5: dag: has more than 5,000,000 dependencies, those of nested workflows among them"
        ]

    def test_an_unknown_workflow_is_named(self, flows: Flows) -> None:
        flows.workflow(step("a", command="iner", type="workflow"))

        (problem,) = flows.problems()

        assert problem.startswith('workflow.yaml:9: dag[0].command: Workflow "demo:iner" not found.')
