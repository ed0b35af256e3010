"""`mason run`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mason.cli.options import log_level
from mason.cli.output import read_log_level, tell
from mason.util.dotenv import read_once
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.api.server.settings import ServerSettings


@click.command(name="run")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="The port to listen on.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="How many processes answer.")
@click.option(
    "--jobs",
    default=4,
    show_default=True,
    envvar="MASON_JOBS",
    type=click.IntRange(1, 256),
    help="How many jobs run at the same time, in each process.",
)
@click.option(
    "--queue",
    default=1000,
    show_default=True,
    envvar="MASON_QUEUE",
    type=click.IntRange(1, 1_000_000),
    help="How many jobs may wait for their turn.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(),
    envvar="MASON_ROOTS",
    help="A folder that local paths in calls must be below; the root of each configuration by default, or data/ in "
    "MASON_HOME. Repeatable.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    envvar="MASON_HOSTS",
    help="A name by which clients may call this server, besides localhost. Can be repeated.",
)
@click.option("--certificate", metavar="FILE", default="", help="The certificate for TLS.")
@click.option("--key", metavar="FILE", default="", help="The key of the certificate.")
@click.option("--create-token", is_flag=True, help="Make a token and print it, once, if there is none yet.")
@click.option(
    "--require-token",
    is_flag=True,
    envvar="MASON_REQUIRE_TOKEN",
    help="Answer nobody without a token, on this machine either, and do not start when there is none.",
)
@click.option("--built-in", is_flag=True, help="Serve the operators of installed packages and Mason's own as well.")
@log_level
def command(
    host: str,
    port: int,
    workers: int,
    jobs: int,
    queue: int,
    roots: tuple[str, ...],
    hosts: tuple[str, ...],
    certificate: str,
    key: str,
    create_token: bool,
    require_token: bool,
    built_in: bool,
) -> int:
    """Runs the REST API.

    Operators with a swagger.yml are at the paths that it declares: those that are registered, and those of the project
    that the server is started in, in the version that is on disk then. Only this machine can call, unless --host says
    otherwise and there is a token (see mason token).
    """
    if not host:
        raise click.UsageError("--host is empty. Give 127.0.0.1, or 0.0.0.0 for every address of this machine.")
    if bool(certificate) != bool(key):
        raise click.UsageError("--certificate and --key go together.")
    from mason.api.server import required_token
    from mason.api.server.settings import ServerSettings
    from mason.pipeline.work.memory_limits import server_limits
    from mason.state.home import pin_state
    from mason.workflows.retention import retention_of

    env = MasonEnvironment.of()
    read_once(env.home, env.project)
    settings = ServerSettings(
        host=host,
        port=port,
        workers=workers,
        parallel_jobs=jobs,
        queued_jobs=queue,
        hosts=tuple(name.lower() for name in hosts),
        roots=roots,
        require_token=require_token,
        certificate=certificate,
        key=key,
        log_level=read_log_level(),
        project=env.project,
        built_in=built_in,
    )
    retention_of(MasonEnvironment.of())  # what is wrong with it is told before there is a server
    server_limits(MasonEnvironment.of())
    if not create_token:
        required_token.require_token(
            settings, MasonEnvironment.of()
        )  # before a state is made: where one is lost, none is begun
    pin_state(MasonEnvironment.of())  # without a state, nobody need be told that there is a server
    first = required_token.create_first_token(MasonEnvironment.of()) if create_token else ""
    if first:
        tell(f"Made a token, which is shown only this once: {first}", "error")
    required_token.require_token(settings, MasonEnvironment.of())
    settings = _take_project(settings)
    from mason.api.server.serve import serve  # takes half a second, which what is refused need not wait for

    serve(settings, _tell_place)
    return 0


def _take_project(settings: ServerSettings) -> ServerSettings:
    """Take the project that the server is started in, by digest, before anybody can call."""
    if not settings.project:
        return settings
    from mason.project.served import take_project

    version, project = take_project(settings.environment())
    tell(f"Serves the project {project.name} as it is now; a restart takes what has changed.", "error")
    return replace(settings, project_version=version)


def _tell_place(settings: ServerSettings) -> None:
    tell(f"Mason listens on {settings.url} (Swagger UI: {settings.url}/api/ui/). Stop it with ctrl-C.", "error")
