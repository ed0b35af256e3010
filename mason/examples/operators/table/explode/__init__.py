from pathlib import PurePosixPath

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_place import find_table, written_path
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.storage.format_names import name_without_format


class TableExplode(DataOperator):
    """Make flat tables of nested records: structs become columns, and every list a table of its own."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        found = name_without_format(PurePosixPath(place.path).name) or "table"
        return ExplodeJob(
            place.path,
            parameters.get_optional("table_name") or found,
            written_path(config, parameters, "output_path", place),
            place.storage.address(),
            tuple(parameters.get_optional("columns") or ()),
            parameters.get_optional("separator"),
            parameters.get_optional("limit"),
            parameters.get_optional("foreign"),
        ).to_job()
