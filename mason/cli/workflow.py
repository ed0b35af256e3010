"""`mason workflow`."""

from __future__ import annotations

import click

from mason.cli.options import config_id, log_level
from mason.cli.output import show, show_banner, show_table
from mason.errors import NotFound, Unsupported
from mason.util.environment import MasonEnvironment


@click.command(name="workflow")
@click.argument("namespace", required=False)
@click.argument("workflow", required=False, metavar="[COMMAND]")
@click.option("-f", "--file", "parameter_file", metavar="FILE", help="The YAML file of the steps' parameters.")
@click.option("-d", "--deploy", is_flag=True, help="Hand the workflow to the scheduler.")
@click.option("-r", "--run", "run_now", is_flag=True, help="Run the workflow now.")
@click.option("-s", "--schedule-name", metavar="NAME", help="The name of the schedule.")
@config_id
@log_level
def command(
    namespace: str | None,
    workflow: str | None,
    parameter_file: str | None,
    deploy: bool,
    run_now: bool,
    schedule_name: str | None,
    config_id: str | None,
) -> int:
    """Lists and runs workflows.

    In this version workflows can be registered and listed. Planning, running and deploying them is not there yet.
    """
    if workflow is None:
        return _list(namespace or "")
    raise Unsupported("This version of Mason registers and lists workflows, but cannot plan, run or deploy them yet.")


def _list(namespace: str) -> int:
    from mason.state.home import read_state
    from mason.state.models import Kind

    env = MasonEnvironment.of()
    registered = read_state(env).list_registrations(Kind.WORKFLOW)
    found = [each for each in registered if namespace in ("", each.name.namespace)]
    if registered and not found:
        known = sorted({each.name.namespace for each in registered})
        raise NotFound(
            f'There is no namespace "{namespace}" among the workflows.', hint=f"There are: {', '.join(known)}."
        )
    if not found:
        show('No Workflows Registered.  Register workflows by running "mason register"')
        return 0
    show_banner(f"Available {namespace or 'Workflow'} Methods: {env.shown(env.workflow_home)}/")
    show("")
    rows = [[each.name.namespace, each.name.command, str(each.definition.get("description", ""))] for each in found]
    show_table(["namespace", "command", "description"], rows)
    return 0
