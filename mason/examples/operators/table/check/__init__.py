from dataclasses import replace

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.errors import OtherStorage
from mason.operators.operator_definition import DataOperator
from mason.operators.table_place import TablePlace, find_table, written_path
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.check.reading import read_checks


class TableCheck(DataOperator):
    """Hold the rows of a table against checks: one pass over the data, however many they are."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        checks = read_checks(parameters.get_required("checks"))
        place = find_table(config, parameters, Response())
        as_of = parameters.get_optional("as_of")
        return CheckJob(
            place.path,
            [_located(config, place, each) for each in checks],
            place.storage.address(),
            written_path(config, parameters, "failures_path", place),
            parameters.get_optional("samples"),
            as_of.isoformat() if as_of else "",
            parameters.get_optional("foreign"),
        ).to_job()

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        asks_for_ages = any(each.max_age for each in read_checks(parameters.get_required("checks")))
        return "the time" if asks_for_ages and not parameters.get_optional("as_of") else ""


def _located(config: ValidConfig, place: TablePlace, check: Check) -> Check:
    """Return the check with the whole path of the table that it refers to."""
    if not check.references:
        return check
    storage = config.storage.client_for(check.references)
    if storage is not place.storage:
        raise OtherStorage(f"{check.name}: {check.references} is not in the storage that {place.path} is in.")
    return replace(check, references=storage.path(check.references).path)
