"""`mason config`."""

from __future__ import annotations

import os

import click

from mason.cli import completion
from mason.cli.options import log_level, output_form, resolve_given_path
from mason.cli.output import show, show_banner, show_listing, show_table, tell, tell_banner, tell_error, tell_warning
from mason.util.dotenv import env_files, read_env_files
from mason.util.environment import MasonEnvironment
from mason.util.view import View

_LISTED = View(columns=("ConfigID", "Current", "Engine", "Client", "Configuration"))


class WithRoles(click.Command):
    """A command whose help names the roles that there are, and who can fill them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from mason.clients.discovery import clients_for
        from mason.clients.engines.roles import roles

        with formatter.section("Roles, and the clients for them"):
            formatter.write_dl(
                [(role.configuration_key, ", ".join(clients_for(name))) for name, role in roles().items()]
            )


@click.command(name="config", cls=WithRoles)
@click.argument("path", required=False, metavar="[PATH | delete]")
@click.argument("config_id", required=False, metavar="[ID]", shell_complete=completion.config_ids)
@click.option(
    "-s",
    "--set-current",
    metavar="ID",
    help="Make a saved configuration the current one.",
    shell_complete=completion.config_ids,
)
@output_form
@log_level
def command(path: str | None, config_id: str | None, set_current: str | None) -> int:
    """Configures clients and engines.

    Without PATH the configurations of the project and those saved are listed. With a file or a folder its
    configurations are checked and saved. `mason config delete ID` deletes a saved one.
    """
    env = MasonEnvironment.of()
    if config_id is not None:
        if path != "delete":
            raise click.UsageError(f"Unexpected argument: {config_id}. To delete one: mason config delete ID")
        tell(_delete(env, config_id))
        return 0
    failed = _save(env, path) if path else False
    if set_current:
        from mason.service.service import Service

        tell(Service(env).choose_configuration(set_current))
    code = _show(env)
    return 1 if failed else code


def _delete(env: MasonEnvironment, config_id: str) -> str:
    from mason.configurations.saved import delete_configuration

    delete_configuration(env, config_id)
    return f"Deleted the configuration {config_id}."


def _save(env: MasonEnvironment, path: str) -> bool:
    from mason.configurations.saved import read_configurations, save_configurations
    from mason.operators.registration.registry import list_registered
    from mason.operators.use_warnings import warnings_of_saving
    from mason.state.home import make_home, read_state

    reading = read_configurations(resolve_given_path(path))
    for problem in reading.problems:
        tell_error(problem)
    if reading.valid:
        for name, folder in make_home(env):
            tell_banner(f"Creating {name} at {env.shorten_home(folder)}/")
        current = save_configurations(env, reading.valid)
        saved_in = env.shorten_home(env.config_home)
        for file, configuration in reading.valid:
            tell(f"Valid Configuration. Saving config {configuration.id} at {file} to {saved_in}/")
        registered = list_registered(read_state(env))
        for _, configuration in reading.valid:
            for warning in warnings_of_saving(configuration, registered):
                tell_warning(str(warning))
        if current:
            tell(f"Setting current config to {current}")
    return bool(reading.problems)


def _show(env: MasonEnvironment) -> int:
    from mason.configurations.saved import list_configurations

    configurations, current = list_configurations(env)
    variables = {**read_env_files(env_files(env.home, env.project)), **os.environ}
    rows: list[list[str]] = []
    shown: list[dict[str, object]] = []
    for configuration in configurations:
        label = f"{'*' if configuration.id == current else '.'}  {configuration.id}"
        lines = list(configuration.describe_roles(variables)) or [("", "", {})]
        for number, (role, client, values) in enumerate(lines):
            rows.append([label if number == 0 else "", role, client, str(dict(values))])
            current_word = "*" if configuration.id == current else ""
            cells = (configuration.id, current_word, role, client, dict(values))
            shown.append(dict(zip(_LISTED.columns, cells, strict=True)))

    def print_transcript() -> None:
        show_banner("Configurations")
        show_table(["Config ID", "Engine", "Client", "Configuration"], rows)
        show("\n* = Current Configuration")

    return show_listing(shown, _LISTED, print_transcript)
