"""`mason registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mason.cli.options import output_form
from mason.cli.output import show, show_listing, show_table, tell
from mason.errors import BadInput
from mason.util.environment import MasonEnvironment
from mason.util.view import View

if TYPE_CHECKING:
    from mason.state.models import Name


_LISTED = View(columns=("Current", "Digest", "RegisteredAt", "From"))


@click.group(name="registry")
def command() -> None:
    """Shows and changes which version of an operator or workflow is current."""


_workflow = click.option("-w", "--workflow", is_flag=True, help="The name is that of a workflow.")


@command.command()
@click.argument("name")
@_workflow
@output_form
def history(name: str, workflow: bool) -> int:
    """Shows every version that NAME (as in table:get) has had, the newest first."""
    from mason.errors import NotFound
    from mason.state.home import read_state

    versions = read_state(MasonEnvironment.of()).get_history(_name(name, workflow))
    if not versions:
        raise NotFound(f'"{name}" is not registered.')
    rows = [
        ["*" if each.current else ".", f"sha256:{each.digest}", each.registered_at, each.source] for each in versions
    ]

    def print_transcript() -> None:
        show_table(["", "digest", "registered at", "from"], rows)
        show("\n* = Current Version")

    return show_listing(
        [dict(zip(_LISTED.columns, [row[0].strip("."), *row[1:]], strict=True)) for row in rows],
        _LISTED,
        print_transcript,
    )


@command.command()
@click.argument("name")
@click.argument("old")
@click.argument("new", required=False)
@_workflow
def diff(name: str, old: str, new: str | None, workflow: bool) -> None:
    """Shows what changed in NAME from the digest OLD to the digest NEW (the current one by default)."""
    from difflib import unified_diff

    from mason.operators.registration.registry import find_version
    from mason.state.home import read_state

    store, parsed = read_state(MasonEnvironment.of()), _name(name, workflow)
    before = find_version(store, parsed, old)
    after = (
        find_version(store, parsed, new) if new else next(each for each in store.get_history(parsed) if each.current)
    )
    old_files, new_files = store.get_files(before.digest), store.get_files(after.digest)
    for path in sorted({*old_files, *new_files}):
        lines = [files.get(path, b"").decode("utf-8", "replace").splitlines() for files in (old_files, new_files)]
        for line in unified_diff(
            lines[0], lines[1], f"{before.short_digest}/{path}", f"{after.short_digest}/{path}", lineterm=""
        ):
            show(line)


@command.command()
@click.argument("name")
@click.argument("digest")
@_workflow
def use(name: str, digest: str, workflow: bool) -> None:
    """Makes the version DIGEST of NAME the current one."""
    from mason.operators.registration.registry import find_version, make_current
    from mason.state.home import open_state

    env = MasonEnvironment.of()
    store = open_state(env)
    version = find_version(store, _name(name, workflow), digest)
    make_current(env, store, version)
    tell(f"{version.name} is now {version.short_digest}.")


@command.command()
@click.argument("name")
@_workflow
def remove(name: str, workflow: bool) -> None:
    """Forgets NAME and all its versions."""
    from mason.operators.registration.registry import remove as forget
    from mason.state.home import open_state

    env = MasonEnvironment.of()
    forget(env, open_state(env), _name(name, workflow))
    tell(f"{name} is no longer registered.")


def _name(text: str, workflow: bool) -> Name:
    from mason.state.models import Kind, Name

    namespace, _, operator = text.rpartition(":")
    if not operator or "@" in text:
        raise BadInput(f'"{text}" is not a name; write it as table:get.')
    return Name(Kind.WORKFLOW if workflow else Kind.OPERATOR, namespace, operator)
