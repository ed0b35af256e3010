"""The code behind a workflow: loaded before anything runs, since code that is gone is no reason to stop half way."""

from __future__ import annotations

from itertools import takewhile

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.registration.loader import load_definition, load_operator, maker_of, read_source
from mason.state.models import Registration
from mason.workflows.definition.valid_workflow import ValidWorkflow
from mason.workflows.workflow_definition import WorkflowDefinition


class StepCode:
    """The classes of a workflow's operators, and of the workflows.

    Raises, when it is made:
        OperatorNotFound: the code of one is gone.
    """

    def __init__(self, workflow: ValidWorkflow) -> None:
        env, store = workflow.definitions.env, workflow.definitions.store
        registrations = {
            bound.operator.registration.digest: bound.operator.registration for bound in workflow.bound.values()
        }
        self._operators = {digest: load_operator(env, store, each) for digest, each in registrations.items()}
        self.workflows = {prefix: _load_workflow(workflow, owner) for prefix, owner in workflow.owners.items()}

    def decides(self, current: str, following: str) -> bool:
        """Say whether the way from one step to another is for a workflow's own `step` to judge."""
        definition = self.workflows[common_prefix(current, following)]
        return type(definition).step is not WorkflowDefinition.step

    def has_plan(self, registration: Registration) -> bool:
        """Say whether an operator has a plan of its own."""
        return type(self._operators[registration.digest]).plan is not OperatorDefinition.plan

    def operator(self, registration: Registration) -> OperatorDefinition:
        """Return an operator of its own for one step: steps that run at the same time share none."""
        return maker_of(self._operators[registration.digest])()


def common_prefix(first: str, second: str) -> str:
    """Return the prefix of the workflow that has the way from one step to the other in it."""
    if "." not in first or "." not in second:
        return ""
    pairs = zip(first.split(".")[:-1], second.split(".")[:-1], strict=False)
    return "".join(f"{one}." for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _load_workflow(workflow: ValidWorkflow, owner: Registration) -> WorkflowDefinition:
    store = workflow.definitions.store
    if not read_source(store, owner):
        return WorkflowDefinition()
    definition = load_definition(workflow.definitions.env, store, owner)
    assert isinstance(definition, WorkflowDefinition)
    return definition
