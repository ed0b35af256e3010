"""`mason spark`."""

from __future__ import annotations

import click

from mason.cli.options import output_form
from mason.cli.output import choose_form, form_shown, is_form_chosen, show, show_listing, show_table, tell
from mason.util.view import View

_LISTED = View(columns=("Process", "Port", "Key", "State", "Up", "Idle", "Sessions"))


@click.group(name="spark")
def command() -> None:
    """Shows and stops the Spark server that Mason keeps warm between commands."""


@command.command()
@click.option("--json", "as_json", is_flag=True, help="The same as -o json.")
@output_form
def status(as_json: bool) -> int:
    """Shows the warm servers of this user."""
    from dataclasses import asdict

    from mason.clients.spark.server.status import server_statuses

    if as_json:
        choose_form("json")
    servers = server_statuses()
    rows = [
        [
            str(server.pid),
            str(server.port),
            server.key,
            server.state,
            _span(server.uptime),
            _span(server.idle),
            f"{server.sessions} ({server.sessions_in_use} in use)",
        ]
        for server in servers
    ]

    def print_transcript() -> None:
        if rows:
            show_table(_LISTED.columns, rows)
        else:
            show("none")

    people = form_shown() == "table"
    shown = [dict(zip(_LISTED.columns, row, strict=True)) for row in rows] if people else [*map(asdict, servers)]
    code = show_listing(shown, _LISTED if people else View(), print_transcript, "none")
    if not servers and not (is_form_chosen() and form_shown() == "json"):
        _say_why_there_is_none()
    return code


@command.command()
def stop() -> None:
    """Stops the warm servers of this user; a job that runs on one fails."""
    from mason.clients.spark.server.status import stop_servers

    stopped = stop_servers()
    for pid in stopped:
        show(f"Stopped the Spark server (process {pid}).")
    if not stopped:
        show("none")


def _say_why_there_is_none() -> None:
    from mason.clients.spark.runners.local import why_none_is_kept

    if reason := why_none_is_kept():
        tell(
            f"None is kept between commands here: {reason}. A configuration may ask for one: runner: {{warm: always}}."
        )


def _span(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {whole % 60:02}s"
