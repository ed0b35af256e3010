"""Tests operators: every test on every configuration that the operator accepts, and all of them must agree."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mason.clients.response import Response
from mason.errors import MasonError, UnsupportedConfiguration
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_spec import OperatorSpec
from mason.operators.operator_tests.agreement import disagreements
from mason.operators.operator_tests.case import Case
from mason.operators.operator_tests.case_run import CaseRunner
from mason.operators.operator_tests.finding import Library, TestedOperator, find_tests
from mason.operators.operator_tests.judgement import judge
from mason.operators.operator_tests.observation import Observation
from mason.operators.operator_tests.offers import Offer
from mason.operators.operator_tests.scratch import scratch_folder
from mason.pipeline.sql.query import CANNOT_GUARANTEE
from mason.util.words import counted


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What became of a test on one configuration; on two, whether they agree."""

    operator: str
    case: Case
    configurations: Sequence[str]
    problems: Sequence[str]
    seconds: float = 0.0
    seen: Observation | None = field(default=None, repr=False)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def place(self) -> str:
        """Where it happened: `spark`, or `local and spark`."""
        return " and ".join(self.configurations)

    def to_dict(self) -> dict[str, Any]:
        return {
            "Operator": self.operator,
            "Test": self.case.name,
            "File": str(self.case.file),
            "Configurations": list(self.configurations),
            "Passed": self.passed,
            "Seconds": round(self.seconds, 3),
            "Problems": list(self.problems),
        }


Tell = Callable[[CaseResult], None]


def run_tests(
    path: Path, offers: Sequence[Offer], required: Sequence[str], response: Response, tell: Tell
) -> OperatorResponse:
    """Run the tests of every operator at or below a path; what is wrong are the errors of the response.

    Args:
        offers: the configurations to run on; those with a reason against them are only named.
        required: those that must not be missing.
        tell: is told every verdict as soon as there is one.

    Raises:
        MasonError: there are no tests, or some of them cannot be read.
    """
    tested = find_tests(path)
    without = [str(each.operator.name) for each in tested if not each.cases]
    if without:
        response.add_warning(f"No tests: {', '.join(without)}.")
    _name_missing(offers, required, response)
    verdicts: list[CaseResult] = []
    with scratch_folder() as scratch:
        runner = CaseRunner(Library(tested), scratch)
        for each in tested:
            for verdict in _test_operator(
                each, [offer for offer in offers if not offer.reason_against], runner, response
            ):
                verdicts.append(verdict)
                tell(verdict)
                for problem in verdict.problems:
                    response.add_error(f"{verdict.case.file}: on {verdict.place}: {problem}", status=422)
                response.add_data(verdict)
    response.add_info(_summary(tested, verdicts))
    return OperatorResponse(response)


def _name_missing(offers: Sequence[Offer], required: Sequence[str], response: Response) -> None:
    for offer in offers:
        message = f"Not run on: {offer.name} ({offer.reason_against})"
        if offer.reason_against and offer.name in required:
            response.add_error(message, status=422)
        elif offer.reason_against:
            response.add_warning(message)


def _test_operator(
    tested: TestedOperator, offers: Sequence[Offer], runner: CaseRunner, response: Response
) -> Iterator[CaseResult]:
    name = str(tested.operator.name)
    accepted = [offer for offer in offers if _accepts(tested, offer, response)] if tested.cases else []
    if tested.cases and not accepted:
        response.add_error(f"{name} was run on no configuration: name one that it accepts with --config.", status=422)
    for case in tested.cases:
        verdicts: list[CaseResult] = []
        refused: list[tuple[CaseResult, str]] = []
        for offer in accepted:
            verdict = _test_case(tested, case, offer, runner)
            if reason := _find_refusal(verdict):
                refused.append((verdict, reason))
                continue
            verdicts.append(verdict)
            yield verdict
        if not verdicts:  # nobody has run it
            yield from (verdict for verdict, _ in refused)
            continue
        for verdict, reason in refused:
            response.add_warning(f"{name}: {case.name}: not run on: {verdict.place} ({reason})")
        yield from _compare_configurations(name, case, [each.seen for each in verdicts if each.seen])


def _accepts(tested: TestedOperator, offer: Offer, response: Response) -> bool:
    try:
        OperatorSpec.of(tested.operator.definition).narrow(offer.config)
    except UnsupportedConfiguration as error:
        response.add_warning(f"{tested.operator.name}: not run on: {offer.name} ({error})")
        return False
    return True


def _test_case(tested: TestedOperator, case: Case, offer: Offer, runner: CaseRunner) -> CaseResult:
    name, began = str(tested.operator.name), time.perf_counter()
    try:
        seen = runner.run(tested.operator, case, offer)
    except MasonError as error:
        return CaseResult(
            operator=name,
            case=case,
            configurations=[offer.name],
            problems=error.messages,
            seconds=time.perf_counter() - began,
        )
    return CaseResult(
        operator=name,
        case=case,
        configurations=[offer.name],
        problems=judge(case, seen),
        seconds=time.perf_counter() - began,
        seen=seen,
    )


def _find_refusal(verdict: CaseResult) -> str:
    """Return what the local engine says of a statement that it leaves to Spark; "" if it has run it."""
    errors = verdict.seen.messages("Errors") if verdict.seen and not verdict.case.expect.errors else ()
    refused = [each for each in errors if CANNOT_GUARANTEE in each]
    return refused[0].splitlines()[0] if refused and len(refused) == len(errors) else ""


def _compare_configurations(name: str, case: Case, seen: Sequence[Observation]) -> Iterator[CaseResult]:
    """Compare every configuration with the first; only those that differ are told."""
    for other in seen[1:]:
        problems = disagreements(case, seen[0], other)
        if problems:
            both = [seen[0].configuration, other.configuration]
            yield CaseResult(
                operator=name,
                case=case,
                configurations=both,
                problems=[f"they differ: {problem}" for problem in problems],
            )


def _summary(tested: Sequence[TestedOperator], verdicts: Sequence[CaseResult]) -> str:
    operators = counted(sum(1 for each in tested if each.cases), "operator")
    tests = counted(sum(len(each.cases) for each in tested), "test")
    places = sorted({place for verdict in verdicts for place in verdict.configurations})
    failed = {(verdict.operator, verdict.case.file) for verdict in verdicts if not verdict.passed}
    where = f"on {', '.join(places)}" if places else "on nothing"
    return f"{operators}, {tests} {where}: {f'{len(failed)} failed' if failed else 'all passed'}."
