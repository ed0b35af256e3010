"""`workflow.yaml`: what is refused when it is registered, with file and line."""

from __future__ import annotations

import time

import pytest

from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.state.sqlite import SqliteStore
from mason.workflows.definition.graph import step_problems
from mason.workflows.definition.registration import WORKFLOWS, unknown_steps
from mason.workflows.definition.validation import validate_workflow
from mason.workflows.definition.workflow_spec import StepSpec
from mason.workflows.picture import draw
from tests.conftest import write
from tests.workflows.conftest import Flows, step


def test_a_diamond_is_not_a_cycle(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a"), step("c", "a"), step("d", "b", "c"))

    assert flows.registration_problems() == []


def test_a_cycle_is_named_as_a_path(flows: Flows) -> None:
    flows.workflow(step("a", "c"), step("b", "a"), step("c", "b"))

    assert flows.registration_problems() == ["10: dag[0].dependencies: depends on itself: a → c → b → a"]


def test_a_step_that_depends_on_itself_is_a_cycle(flows: Flows) -> None:
    flows.workflow(step("a", "a"))

    assert flows.registration_problems() == ["10: dag[0].dependencies: depends on itself: a → a"]


def test_two_cycles_are_both_named(flows: Flows) -> None:
    flows.workflow(step("a", "b"), step("b", "a"), step("c", "d"), step("d", "c"))

    problems = flows.registration_problems()

    assert [problem.rpartition(": ")[2] for problem in problems] == ["a → b → a", "c → d → c"]


def test_a_cycle_behind_another_is_named_as_well(flows: Flows) -> None:
    steps = [
        step("a", "b"),
        step("b", "a"),
        step("between", "a"),
        step("d", "between", "e"),
        step("e", "d"),
        step("f", "a", "f"),
    ]
    flows.workflow(*steps)

    problems = flows.registration_problems()

    assert [problem.rpartition(": ")[2] for problem in problems if "itself:" in problem] == [
        "a → b → a",
        "d → e → d",
        "f → f",
    ]
    assert '"between" can never be reached' in " ".join(problems)


def test_a_step_behind_a_cycle_can_never_be_reached(flows: Flows) -> None:
    flows.workflow(step("a", "b"), step("b", "a"), step("late", "b"))

    assert (
        '16: dag[2]: "late" can never be reached: a step before it depends on itself' in flows.registration_problems()
    )


def test_an_unknown_dependency_is_named_with_the_nearest_and_what_waits_for_it(flows: Flows) -> None:
    flows.workflow(step("first"), step("second", "frist"), step("third", "second"))

    assert flows.registration_problems() == [
        '14: dag[1].dependencies[0]: there is no step "frist". Did you mean "first"?',
        '15: dag[2]: "third" can never be reached: a step before it waits for one that is not there',
    ]


def test_an_id_given_twice_is_refused_with_both_places(flows: Flows) -> None:
    flows.workflow(step("a"), step("a"))

    assert flows.registration_problems() == ['10: dag[1].id: "a" is the id of the step at dag[0] as well']


def test_an_id_that_could_not_be_referred_to_is_refused(flows: Flows) -> None:
    flows.workflow(step("a.b"), step("schedule"))

    assert [problem.partition(": the")[0].partition(": letters")[0] for problem in flows.registration_problems()] == [
        '6: dag[0].id: "a.b" cannot be an id',
        '10: dag[1].id: "schedule" cannot be an id',
    ]


def test_a_retry_that_is_none_says_what_one_looks_like(flows: Flows) -> None:
    flows.workflow(step("a", retry="often"))

    assert flows.registration_problems() == [
        '10: dag[0].retry: "often" must be "exponential(SECONDS)" or "constant(SECONDS)", as in "exponential(5)"'
    ]


def test_a_condition_that_does_more_than_compare_is_refused(flows: Flows) -> None:
    flows.workflow(step("a"), step("b", "a", when='"__import__(1) = 1"'))

    (problem,) = flows.registration_problems()

    assert problem.startswith('15: dag[1].when: "__IMPORT__(1)" does more than compare')


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("{{a.rows}} >", '"{{a.rows}} >" cannot be read near ">"; a condition compares'),
        ("{{a.rows}} > 1 && {{a.x}} = 2", '"{{a.rows}} > 1 && {{a.x}} = 2" cannot be read near "&&"; '),
        ("{{a.rows}} is 12", '"{{a.rows}} IS 12": behind "is" stands null, true or false; '),
        ("{{a.rows}} = ref_0", '"ref_0" is neither a value nor what a step gave; '),
        ("ref_7 = 1", '"ref_7" is neither a value nor what a step gave; '),
        ("xref_7 = lower(''ref_5'')", '"xref_7" is neither a value nor what a step gave; '),
        ("{{a.rows}} = lower(''ref_5'')", "\"LOWER('ref_5')\" does more than compare; "),
        ("{{}} = 1", '"{{}}" is not a reference: '),
        ('{{a.name}} = "z"', '"z" is in double quotes, and a text is in single ones; '),
        ("(" * 900 + "1 = 1" + ")" * 900, f'"{"(" * 200}…" cannot be read, since there is too much in it; '),
    ],
)
def test_a_condition_that_cannot_be_read_says_where(flows: Flows, when: str, said: str) -> None:
    flows.workflow(step("a"), step("b", "a", when=f"'{when}'"))

    (problem,) = flows.registration_problems()

    assert problem.startswith(f"15: dag[1].when: {said}")


def test_a_timeout_beyond_a_year_is_refused(flows: Flows) -> None:
    flows.workflow(step("a", timeout=1e11))

    (problem,) = flows.registration_problems()

    assert problem.endswith("dag[0].timeout: 100000000000.0 is greater than the maximum of 31536000")


def test_a_step_method_that_takes_something_else_is_refused(flows: Flows) -> None:
    code = (
        "from mason.workflows.workflow_definition import WorkflowDefinition\n\n\nclass DemoFlow(WorkflowDefinition):\n"
        "    def step(self, current):\n        return current\n"
    )
    flows.workflow(step("a"), code=code)

    (problem,) = flows.registration_problems()

    assert problem.endswith("__init__.py:4: DemoFlow: its method step must take (self, current, next)")


def test_every_problem_of_a_workflow_is_in_one_report(flows: Flows) -> None:
    flows.workflow(step("a", "c"), step("a", retry="x"), step("c", "a", "nowhere"))

    assert len(flows.registration_problems()) == 4


def test_what_does_not_fit_the_schema_hides_no_other_problem(flows: Flows) -> None:
    flows.workflow(
        step("a", "b", colour="red"),
        step("b", "a", retry="often", retry_max=-1),
        step("c", "nowhere", when='"c.x ="', timeout="soon"),
        step("d", "c", type="job"),
        "  - just text",
        schedulers="[]",
        code="class Other:\n    pass\n",
    )

    assert [problem.partition("; ")[0] for problem in flows.registration_problems()] == [
        "10: dag[0].dependencies: depends on itself: a → b → a",
        "11: dag[0].colour: unknown key. Known keys: id, type, namespace, command, dependencies, retry, retry_max, "
        "timeout, when.",
        '17: dag[1].retry: "often" must be "exponential(SECONDS)" or "constant(SECONDS)", as in "exponential(5)"',
        "18: dag[1].retry_max: -1 is less than the minimum of 0",
        '23: dag[2].dependencies[0]: there is no step "nowhere".',
        '24: dag[2].when: "c.x =" cannot be read near "="',
        "25: dag[2].timeout: must be a number, not text",
        '26: dag[3]: "d" can never be reached: a step before it waits for one that is not there',
        "27: dag[3].type: 'job' is not one of operator, workflow.",
        "31: dag[4]: must be a mapping, not text",
        "32: supported_schedulers: [] should be non-empty",
        f"{flows.folder}/defs/workflows/flow/__init__.py: DemoFlow: there is no such class",
    ]


@pytest.mark.parametrize("dag", ["5", "{a: 1}", "[[], null, 7, {id: 5}, {id: a, dependencies: [1]}]", ""])
def test_a_dag_of_any_kind_is_refused_by_the_schema_alone(flows: Flows, dag: str) -> None:
    text = f"type: workflow\nnamespace: demo\ncommand: flow\nschedule: [1]\ndag: {dag}\n"
    write(flows.folder / "defs" / "workflows" / "flow", {"workflow.yaml": text})

    assert flows.registration_problems()


def test_a_step_whose_operator_nobody_knows_is_told_when_its_workflow_is_registered(flows: Flows) -> None:
    flows.workflow(step("x"), command="inner")
    flows.workflow(
        step("a", command="nop"), step("b", command="nop"), step("c"), step("d", command="xyzzy"),
        step("e", command="inner", type="workflow"), step("f", command="qqq", type="workflow"),
    )  # fmt: skip
    store = SqliteStore(None)
    found = read_definitions(flows.folder / "defs", [OPERATORS, WORKFLOWS])

    assert [str(each).rpartition("/")[2] for each in unknown_steps(found.documents, store)] == [
        'workflow.yaml:9: dag[0].command: operator "demo:nop" is not registered. Did you mean "demo:noop"?',
        'workflow.yaml:21: dag[3].command: operator "demo:xyzzy" is not registered.',
        'workflow.yaml:29: dag[5].command: workflow "demo:qqq" is not registered.',
    ]
    store.register(found.valid, replace=False)
    assert len(unknown_steps([each for each in found.documents if "flow" in each[1].name], store)) == 3


def test_a_cycle_behind_20_000_steps_is_found_in_a_moment() -> None:
    steps = [StepSpec(f"s{n}", "operator", "demo", "noop", [f"s{n - 1}"] if n else []) for n in range(20_000)]
    steps.append(StepSpec("last", "operator", "demo", "noop", ["s19999", "last"]))
    began = time.process_time()

    problems = list(step_problems(list(enumerate(steps))))

    assert time.process_time() - began < 5  # a tenth of a second on an idle core; the square of it would be a minute
    assert [message for _, message in problems] == ["depends on itself: last → last"]


def test_a_workflow_of_10_000_steps_is_written_out_and_no_bomb(flows: Flows) -> None:
    flows.workflow(*[step(f"s{number}", *([f"s{number - 1}"] if number else [])) for number in range(10_000)])

    assert flows.registration_problems() == []
    valid = flows.valid()
    began = time.process_time()
    again = validate_workflow(valid.definitions, valid.registration, valid.file)
    picture = draw(again.dag)
    assert time.process_time() - began < 5  # about half a second on an idle core; the square of it would be minutes
    assert len(again.dag.steps) == len(picture) == 10_000
