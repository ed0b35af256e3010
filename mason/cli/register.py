"""`mason register`."""

from __future__ import annotations

import click

from mason.cli.options import given_path, log_level
from mason.cli.output import tell, tell_banner, tell_error
from mason.util.environment import MasonEnvironment


@click.command(name="register")
@click.argument("path")
@click.option("-f", "--force", is_flag=True, help="Make it current although another version of the name is registered.")
@log_level
def command(path: str, force: bool) -> int:
    """Registers operators and workflows.

    Every operator.yaml and workflow.yaml below PATH is checked, its code without being run, and all are registered in
    one step, or none is.
    """
    from mason.operators.definition_folder import read_definitions
    from mason.operators.definition_kind import OPERATORS
    from mason.operators.registry import register
    from mason.state.home import make_home, open_state
    from mason.state.models import Kind, Outcome
    from mason.workflows.definition_kind import WORKFLOWS

    env = MasonEnvironment.of()
    reading = read_definitions(given_path(path), [OPERATORS, WORKFLOWS])
    for problem in reading.problems:
        tell_error(problem)
    if reading.problems:
        tell_error("Nothing was registered.")
        return 1
    for name, folder in make_home(env):
        tell_banner(f"Creating {name} at {env.shown(folder)}/")
    outcomes = register(env, open_state(env), reading.valid, replace=force)
    for each, outcome in zip(reading.valid, outcomes, strict=True):
        new = each.registration
        home = env.operator_home if new.name.kind is Kind.OPERATOR else env.workflow_home
        place = "/".join(part for part in (env.shown(home), new.name.namespace, new.name.command) if part)
        verb = {Outcome.ADDED: "Registering", Outcome.REPLACED: "Replacing by", Outcome.UNCHANGED: "Unchanged:"}[
            outcome
        ]
        tell(f"Valid {new.name.kind} definition.  {verb} {new.source} to {place}/ ({new.short_digest})")
    return 0
