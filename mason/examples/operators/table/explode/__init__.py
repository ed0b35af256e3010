from pathlib import PurePosixPath

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_table, find_written
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.storage.format_names import name_without_format


class TableExplode(DataOperator):
    """Make flat tables of nested records: structs become columns, and every list a table of its own."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        found = name_without_format(PurePosixPath(place.path).name) or "table"
        return ExplodeJob(
            path=place,
            name=parameters.get_optional("table_name") or found,
            output=find_written(config, parameters, "output_path"),
            columns=tuple(parameters.get_optional("columns") or ()),
            separator=parameters.get_optional("separator"),
            limit=parameters.get_optional("limit"),
            foreign=parameters.get_optional("foreign"),
        ).to_job()
