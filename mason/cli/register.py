"""`mason register`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mason.cli.options import log_level, resolve_given_path
from mason.cli.output import tell, tell_banner, tell_error, tell_warning
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.state.models import NewRegistration
    from mason.util.yaml_file import Problem


@click.command(name="register")
@click.argument("path")
@click.option("-f", "--force", is_flag=True, help="Make it current although another version of the name is registered.")
@log_level
def command(path: str, force: bool) -> int:
    """Registers operators and workflows.

    Every operator.yaml and workflow.yaml below PATH is checked, its code without being run, and all are registered in
    one step, or none is.
    """
    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS
    from mason.operators.registration.registry import register
    from mason.operators.use_warnings import unknown_clients
    from mason.state.home import make_home, open_state, read_state
    from mason.state.models import Kind, Outcome
    from mason.workflows.definition.registration import WORKFLOWS, unknown_steps

    env = MasonEnvironment.of()
    reading = read_definitions(resolve_given_path(path), [OPERATORS, WORKFLOWS])
    unknown = unknown_steps(reading.documents, read_state(env))
    if reading.problems:
        for problem in (*reading.problems, *unknown):
            tell_error(str(problem))
        tell_error("Nothing was registered.")
        return 1
    for name, folder in make_home(env):
        tell_banner(f"Creating {name} at {env.shorten_home(folder)}/")
    outcomes = register(env, open_state(env), reading.valid, replace=force)
    for each, outcome in zip(reading.valid, outcomes, strict=True):
        new = each.registration
        home = env.operator_home if new.name.kind is Kind.OPERATOR else env.workflow_home
        place = "/".join(part for part in (env.shorten_home(home), new.name.namespace, new.name.command) if part)
        verb = {Outcome.ADDED: "Registering", Outcome.REPLACED: "Replacing by", Outcome.UNCHANGED: "Unchanged:"}[
            outcome
        ]
        tell(f"Valid {new.name.kind} definition.  {verb} {new.source} to {place}/ ({new.short_digest})")
        for wrong in _wrong_in_api(each):
            tell_warning(f"{wrong} (the API does without it)")
    for _, document in reading.documents:
        for key, message in unknown_clients(document.value):
            tell_warning(str(document.problem(key, message)))
    for step in unknown:
        tell_warning(f"{step} Register it before the workflow is run.")
    return 0


def _wrong_in_api(new: NewRegistration) -> Sequence[Problem]:
    """Return what is wrong with the part of an operator that is for the API alone: everything else works without it."""
    from mason.api.server.specification.fragments import read_fragment
    from mason.operators.operator_spec import OperatorSpec
    from mason.state.models import Kind

    if new.registration.name.kind is not Kind.OPERATOR:
        return ()
    return read_fragment(new.registration, OperatorSpec.of(new.registration.definition), new.files)[1]
