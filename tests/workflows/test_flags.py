"""The flags of `mason workflow`: what is asked for is done, or refused."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mason.cli.workflow import command

FLOW = ["demo", "flow"]


def refused(*words: str) -> str:
    """Return why a call is refused, which must be a usage error."""
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 2, result.output
    return result.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--from", "a"], "--from goes with --resume RUN."),
        (["--only", "a"], "--only goes with --resume RUN."),
        (["--from-plan", "p"], "--from-plan goes with --run."),
        (["--schedule", "@daily"], "--schedule goes with --deploy."),
        (["-s", "name"], "--schedule-name goes with --deploy."),
        (["-r", "--save", "p"], "--save and --run do not go together."),
        (["-d", "--resume", "x"], "--resume and --deploy do not go together."),
        (["-r", "--draw", "text"], "--draw and --run do not go together."),
        (["-r", "--runs"], "--runs and --run do not go together."),
        (["--show", "x", "--resume", "x"], "--show and --resume do not go together."),
        (["-d", "--scheduler"], "--scheduler and --deploy do not go together."),
        (["--resume", "x", "--from", "a", "--only", "b"], "--from and --only do not go together."),
        (["--parallel", "2"], "--parallel goes with --run or --resume."),
        (["-d", "--parallel", "2"], "--parallel goes with --run or --resume."),
        (["--runs", "-f", "p.yaml"], "--file and --runs do not go together."),
        (["--show", "x", "-c", "local"], "--config and --show do not go together."),
        (["--scheduler"], "--scheduler runs what is due of every workflow: name none."),
        (["--parallel", "0"], "Invalid value for '--parallel': 0 is not in the range 1<=x<=1000."),
        (["--parallel", "100000"], "Invalid value for '--parallel': 100000 is not in the range 1<=x<=1000."),
    ],
)
def test_flags_that_do_not_go_together_are_a_usage_error(flags: list[str], said: str) -> None:
    assert refused(*FLOW, *flags) == f"Error: {said}"


@pytest.mark.parametrize(
    ("words", "flag"),
    [(["demo", "-r"], "--run"), (["-d"], "--deploy"), (["demo", "--save", "p"], "--save"), (["-f", "p"], "--file")],
)
def test_what_is_done_with_a_workflow_needs_one(words: list[str], flag: str) -> None:
    assert refused(*words) == f"Error: {flag} needs a workflow: mason workflow NAMESPACE COMMAND {flag} …"


def test_a_listing_is_no_json() -> None:
    assert refused("--json") == refused("demo", "--json") == "Error: --json goes with --runs or --show."


@pytest.mark.parametrize("flag", ["--file", "--show", "--resume", "--save", "--from-plan", "--schedule", "--only"])
def test_a_flag_with_nothing_behind_it_is_not_as_good_as_none(flag: str) -> None:
    assert refused(*FLOW, "-r", flag, "") == f"Error: {flag} is given with nothing behind it."
