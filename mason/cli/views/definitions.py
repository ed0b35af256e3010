"""The list of operators or of workflows: those of the project and those registered, then what comes with Mason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mason.cli.output import form_shown, show, show_banner, show_listing, show_table
from mason.state.models import Kind, Origin, Registration
from mason.util.environment import MasonEnvironment
from mason.util.view import View

Row = Callable[[Registration], Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """How operators, or workflows, are listed: as people see them, and as the seeds print them into a pipe."""

    kind: Kind
    title: str
    view: View
    columns: Sequence[str]
    """All that is told of each where not only the columns of the view are shown."""
    describe: Row
    transcript_columns: Sequence[str]
    transcript_row: Row


def show_definitions(listing: Listing, found: Sequence[Registration], env: MasonEnvironment) -> int:
    """Print the definitions as a list. Outside of a project, what comes with Mason is listed while nothing else is."""
    own = [each for each in found if each.origin is Origin.MASON]
    others = [each for each in found if each.origin is not Origin.MASON]
    shown_own = own if env.project or not others else []
    words = f"{listing.kind}s"
    none = f'No {words.title()} Registered.  Register {words} by running "mason register"'

    def print_transcript() -> None:
        if others:
            show_banner(f"{listing.title}: {_place(listing.kind, others, env)}/")
            show("")
            show_table(listing.transcript_columns, list(map(listing.transcript_row, others)))
        else:
            show(none)
        if shown_own:
            show("\nCome with Mason:\n")
            show_table(listing.transcript_columns, list(map(listing.transcript_row, shown_own)))

    if form_shown() == "table" and not others:
        show(f"{none}\n\nCome with Mason:\n" if shown_own else none)
    rows = [dict(zip(listing.columns, listing.describe(each), strict=True)) for each in (*others, *shown_own)]
    return show_listing(rows, listing.view, print_transcript)


def _place(kind: Kind, found: Sequence[Registration], env: MasonEnvironment) -> str:
    if all(each.origin is Origin.PROJECT for each in found):
        return env.shorten_home(Path(env.project))
    return env.shorten_home(env.operator_home if kind is Kind.OPERATOR else env.workflow_home)
