from collections.abc import Mapping
from dataclasses import replace

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_table, find_written
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
        references = {each.references: config.location(each.references) for each in checks if each.references}
        return CheckJob(
            path=place,
            # By the whole path of a table, which is what an answer and a record show.
            checks=[replace(each, references=_whole(references, each)) for each in checks],
            references={str(found): found for found in references.values()},
            failures=find_written(config, parameters, "failures_path"),
            samples=parameters.get_optional("samples"),
            as_of=as_of.isoformat() if as_of else "",
            foreign=parameters.get_optional("foreign"),
        ).to_job()

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        asks_for_ages = any(each.max_age for each in read_checks(parameters.get_required("checks")))
        return "the time" if asks_for_ages and not parameters.get_optional("as_of") else ""


def _whole(references: Mapping[str, Location], check: Check) -> str:
    return str(references[check.references]) if check.references else ""
