"""Runs one test on one configuration, in a place of its own, and returns what came of it."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import DatabaseNotFound, MasonError
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_tests.agreement import ids_in
from mason.operators.operator_tests.case import Case, Given, GivenFile, GivenRun, GivenTable
from mason.operators.operator_tests.finding import Library
from mason.operators.operator_tests.given_rows import write_rows
from mason.operators.operator_tests.judgement import RETURNED
from mason.operators.operator_tests.observation import (
    Observation,
    read_file,
    read_table,
    relative_response,
    returned_table,
    what_changed,
)
from mason.operators.operator_tests.offers import Offer
from mason.operators.operator_tests.scratch import Place, changed, place_of_its_own, snapshot
from mason.operators.runner import OperatorCall, prepare_operator, respond
from mason.state.home import read_state
from mason.state.models import Registration

_FRAME = re.compile(r'File "(.+)", line (\d+), in (\S+)')
_FROM_RUN = re.compile(r"\{\{\s*(\w+)\.([\w.]+)\s*\}\}")


class GivenFailed(MasonError):
    """500 · exit 1 · what a test starts from could not be made"""


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
        with place_of_its_own(self.scratch) as (place, guard), _captured_log() as log:
            began = datetime.now(UTC)
            config = offer.placed(place.work)
            results = self._make_given(case.given, config, place)
            before = place.snapshot()
            parameters = _filled(case.parameters, results)
            result = _call(operator, parameters, config, place, name=case.file.name, plan=case.plan)
            ended = datetime.now(UTC)
            after = place.snapshot()
            tables, files = what_changed(place, before, after)
            tables |= _expected_tables(case, result, place)
            files |= {path: read_file(place, path) for path in case.expect.files}
            touched = changed(code, snapshot(Path(operator.source)))
            outside = [*guard.refused, *place.strays(), *(str(Path(operator.source, each)) for each in touched)]
            response = relative_response(result, place)
            return Observation(
                configuration=offer.name,
                response=response,
                began=began,
                ended=ended,
                tables=tables,
                files=files,
                changed=changed(before, after),
                outside=outside,
                raised_at=_raised_at(log, operator.source),
                ids=ids_in([*results.values(), response]),
            )

    def _make_given(self, given: Given, config: ValidConfig, place: Place) -> Mapping[str, Mapping[str, Any]]:
        try:
            for file in given.files:
                _write(file, place.work / file.path)
            for database in given.databases:
                config.metastore.client.create_database(database, response=Response())
            for table in given.tables:
                _save(table, config)
        except (MasonError, OSError, pa.ArrowException) as error:
            raise GivenFailed(f"given: {error}") from error
        results: dict[str, Mapping[str, Any]] = {}
        for run in given.runs:
            results[run.name] = self._run_before(run, config, place, results)
        return results

    def _run_before(
        self, run: GivenRun, config: ValidConfig, place: Place, results: Mapping[str, Mapping[str, Any]]
    ) -> Mapping[str, Any]:
        operator = self.library.find(run.operator)
        result = _call(operator, _filled(run.parameters, results), config, place, name=f"given.runs.{run.name}")
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
    call = OperatorCall(operator.name.namespace, operator.name.command, base=parameters, base_name=name)

    def work(response: Response) -> OperatorResponse:
        prepared = prepare_operator(place.env, read_state(place.env), config, operator, call, response)
        return prepared.plan() if plan else prepared.run()

    result = respond(work)
    if list(result.response.errors) == ["Interrupted."]:
        raise KeyboardInterrupt
    return result


def _write(given: GivenFile, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if given.source is not None:
        shutil.copyfile(given.source, file)
    elif given.rows is not None:
        write_rows(given, file)
    else:
        file.write_bytes(given.text.encode())


def _save(given: GivenTable, config: ValidConfig) -> None:
    metastore, storage, response = config.metastore.client, config.storage.client, Response()
    try:
        metastore.get_database(given.database, response=response)
    except DatabaseNotFound:
        metastore.create_database(given.database, response=response)
    path = storage.path(given.path)
    table, _ = storage.infer_table(path, given.database, given.name, InferOptions(), response=response)
    metastore.save_table(table, response=response)


def _filled(parameters: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Fill `{{run.Key}}` from what the runs before had in their data."""
    return {name: _FROM_RUN.sub(lambda found: _looked_up(found, results), value) if isinstance(value, str) else value
            for name, value in parameters.items()}  # fmt: skip


def _looked_up(found: re.Match[str], results: Mapping[str, Mapping[str, Any]]) -> str:
    value: Any = results.get(found[1])
    for key in found[2].split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        raise GivenFailed(f"{found[0]}: no run before has that in its data")
    return str(value)


def _expected_tables(case: Case, result: OperatorResponse, place: Place) -> dict[str, Any]:
    expect = case.expect
    if expect.rows is None and expect.schema is None:
        return {}
    if expect.table:
        return {expect.table: read_table(place.work / expect.table)}
    return {RETURNED: returned_table(result)}


@contextmanager
def _captured_log() -> Iterator[list[logging.LogRecord]]:
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


def _raised_at(records: Sequence[logging.LogRecord], folder: str) -> list[str]:
    """Return the line of the operator at which it raised what it should not have."""
    frames = [frame for each in records for frame in _FRAME.findall(each.getMessage()) if frame[0].startswith(folder)]
    return [f"raised at {file}:{line}, in {function}" for file, line, function in frames[-1:]]
