"""`mason run`."""

from __future__ import annotations

import click

from mason.cli.options import log_level
from mason.errors import Unsupported


@click.command(name="run")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="The port to listen on.")
@log_level
def command(host: str, port: int) -> int:
    """Runs the REST API.

    In this version the server is not there yet.
    """
    raise Unsupported("This version of Mason has no server yet; operators are run with `mason operator`.")
