"""`mason test`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mason.cli.options import log_level, output_form, resolve_given_path
from mason.cli.output import (
    colour_text,
    form_shown,
    show_envelope,
    start_logging,
    stdout_kept_clean,
    tell,
    tell_banner,
)
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    from mason.operators.operator_tests.offers import Offer
    from mason.operators.operator_tests.testing import CaseResult


@click.command(name="test")
@click.argument("path")
@click.option(
    "--config", "configs", multiple=True, metavar="FILE", help="A configuration to run on as well; can be repeated."
)
@click.option("--on", multiple=True, metavar="NAME", help="Run on this configuration only; can be repeated.")
@click.option(
    "--require", multiple=True, metavar="NAME", help="Fail if this configuration cannot be had; can be repeated."
)
@output_form
@log_level
def command(path: str, configs: tuple[str, ...], on: tuple[str, ...], require: tuple[str, ...]) -> int:
    """Runs the tests of operators on every configuration that this machine offers.

    PATH is the folder of an operator, or one above it. Each tests/*.yaml of an operator runs on the built-in
    configurations, local and spark, as far as the operator accepts them and Java is there, and must give the same on
    all. Nothing outside a temporary folder is touched.
    """
    from mason.errors import Interrupted
    from mason.operators.operator_tests.offers import list_offers
    from mason.operators.operator_tests.testing import run_tests
    from mason.operators.runner import respond

    start_logging()
    with stdout_kept_clean():
        offers = _choose_offers(
            list_offers(MasonEnvironment.of(), [resolve_given_path(file) for file in configs]), on, require
        )
        result = respond(lambda response: run_tests(resolve_given_path(path), offers, require, response, _tell))
    if form_shown() == "json":
        tell_banner("Test Response")
    wrong = show_envelope(result.to_dict())
    if wrong:
        return wrong
    if result.response.status == Interrupted.status:
        return Interrupted.exit_code
    return 1 if result.response.errors else 0


def _choose_offers(offers: list[Offer], on: tuple[str, ...], require: tuple[str, ...]) -> list[Offer]:
    from mason.operators.operator_tests.offers import only

    known = [offer.name for offer in offers]
    for name in (*on, *require):
        if name not in known:
            raise click.UsageError(f'There is no configuration "{name}". There are: {", ".join(known)}.')
    return only(offers, (*on, *require)) if on else offers


def _tell(verdict: CaseResult) -> None:
    word = colour_text("ok  ", "green", sys.stderr) if verdict.passed else colour_text("FAIL", "red", sys.stderr)
    took = f"  {verdict.seconds:.2f} s" if verdict.seconds else ""
    tell(f" {verdict.operator}  {verdict.case.name}  ({verdict.place}){took}", mark=word)
