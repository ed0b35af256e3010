"""Runs one test on one configuration, in a place of its own, and returns what came of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_tests.agreement import ids_in
from mason.operators.operator_tests.case import Case, Given, GivenRun
from mason.operators.operator_tests.finding import Library
from mason.operators.operator_tests.given import GivenFailed, fill_parameters, make_given
from mason.operators.operator_tests.judgement import RETURNED
from mason.operators.operator_tests.observation import (
    Observation,
    read_file,
    read_returned_table,
    read_table,
    relative_response,
    what_changed,
)
from mason.operators.operator_tests.offers import Offer
from mason.operators.operator_tests.scratch import (
    Place,
    find_changes,
    find_written,
    place_of_its_own,
    snapshot,
)
from mason.operators.runner import OperatorCall, prepare_operator, respond
from mason.state.home import read_state
from mason.state.models import Registration

_FRAME = re.compile(r'File "(.+)", line (\d+), in (\S+)')


@dataclass(frozen=True)
class CaseRunner:
    """Runs the tests of operators below a folder that is removed in the end."""

    library: Library
    scratch: Path

    def run(self, operator: Registration, case: Case, offer: Offer) -> Observation:
        """Run a test.

        Raises:
            GivenFailed: what it starts from could not be made.
        """
        code = snapshot(Path(operator.source))
        with place_of_its_own(self.scratch) as (place, guard), _capture_log() as log:
            began = datetime.now(UTC)
            config = offer.placed(place.work, place.env)
            results = self._prepare(case.given, config, place)
            before = place.snapshot()
            parameters = fill_parameters(case.parameters, results)
            result = _call(operator, parameters, config, place, name=case.file.name, plan=case.plan)
            ended = datetime.now(UTC)
            after = place.snapshot()
            tables, files = what_changed(place, before, after)
            tables |= _read_tables_to_compare(case, result, place)
            files |= {path: read_file(place, path) for path in case.expect.files}
            touched = [str(Path(operator.source, each)) for each in find_changes(code, snapshot(Path(operator.source)))]
            response = relative_response(result, place)
            return Observation(
                configuration=offer.name,
                response=response,
                began=began,
                ended=ended,
                tables=tables,
                files=files,
                changed=find_written(before, after),
                outside=[*guard.refused, *guard.left_behind, *place.strays(), *touched],
                raised_at=_find_raising_line(log, operator.source),
                ids=ids_in([*results.values(), response]),
            )

    def _prepare(self, given: Given, config: ValidConfig, place: Place) -> Mapping[str, Mapping[str, Any]]:
        make_given(given, config, place.work)
        results: dict[str, Mapping[str, Any]] = {}
        for run in given.runs:
            results[run.name] = self._run_before(run, config, place, results)
        return results

    def _run_before(
        self, run: GivenRun, config: ValidConfig, place: Place, results: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        operator = self.library.find(run.operator)
        result = _call(operator, fill_parameters(run.parameters, results), config, place, name=f"given.runs.{run.name}")
        if result.response.errors:
            raise GivenFailed(f"given.runs.{run.name}: {' '.join(result.response.errors)}")
        data = [each for each in result.to_dict()["Data"] if isinstance(each, Mapping)]
        return data[0] if data else {}


def _call(
    operator: Registration,
    parameters: Mapping[str, Any],
    config: ValidConfig,
    place: Place,
    *,
    name: str,
    plan: bool = False,
) -> OperatorResponse:
    call = OperatorCall(
        namespace=operator.name.namespace, command=operator.name.command, base=parameters, base_name=name
    )

    def work(response: Response) -> OperatorResponse:
        prepared = prepare_operator(place.env, read_state(place.env), config, operator, call, response)
        return prepared.plan() if plan else prepared.run()

    result = respond(work)
    if list(result.response.errors) == ["Interrupted."]:
        raise KeyboardInterrupt
    return result


def _read_tables_to_compare(case: Case, result: OperatorResponse, place: Place) -> dict[str, Any]:
    expect = case.expect
    if expect.rows is None and expect.schema is None:
        return {}
    if expect.table:
        return {expect.table: read_table(place.work / expect.table)}
    return {RETURNED: read_returned_table(result)}


@contextmanager
def _capture_log() -> Iterator[list[logging.LogRecord]]:
    """Keep what is logged meanwhile to oneself: a test that expects an error is not to alarm anybody."""
    records: list[logging.LogRecord] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    logger = logging.getLogger("mason")
    handlers, propagate = logger.handlers[:], logger.propagate
    logger.handlers[:], logger.propagate = [Keeper()], False
    try:
        yield records
    finally:
        logger.handlers[:], logger.propagate = handlers, propagate


def _find_raising_line(records: Sequence[logging.LogRecord], folder: str) -> list[str]:
    """Return the line of the operator at which it raised what it should not have."""
    frames = [frame for each in records for frame in _FRAME.findall(each.getMessage()) if frame[0].startswith(folder)]
    return [f"raised at {file}:{line}, in {function}" for file, line, function in frames[-1:]]
