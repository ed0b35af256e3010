"""The list of operators or of workflows: those of the project and those registered, then what comes with Mason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mason.cli.output import show, show_banner, show_table
from mason.state.models import Kind, Origin, Registration
from mason.util.environment import MasonEnvironment

Row = Callable[[Registration], Sequence[str]]


def show_definitions(
    kind: Kind, found: Sequence[Registration], title: str, env: MasonEnvironment, columns: Sequence[str], row: Row
) -> None:
    """Print the definitions as a table. Outside of a project, what comes with Mason is listed while nothing else is."""
    own = [each for each in found if each.origin is Origin.MASON]
    others = [each for each in found if each.origin is not Origin.MASON]
    if others:
        show_banner(f"{title}: {_place(kind, others, env)}/")
        show("")
        show_table(columns, list(map(row, others)))
    else:
        words = f"{kind}s"
        show(f'No {words.title()} Registered.  Register {words} by running "mason register"')
    if own and (env.project or not others):
        show("\nCome with Mason:\n")
        show_table(columns, list(map(row, own)))


def _place(kind: Kind, found: Sequence[Registration], env: MasonEnvironment) -> str:
    if all(each.origin is Origin.PROJECT for each in found):
        return env.shorten_home(Path(env.project))
    return env.shorten_home(env.operator_home if kind is Kind.OPERATOR else env.workflow_home)
