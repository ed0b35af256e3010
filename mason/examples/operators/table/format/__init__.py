from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions


class TableFormat(DataOperator):
    """Write a table in another format, no row lost but those that a filter or a sample leaves out."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        options = FormatOptions(
            format=parameters.get_required("format"),
            columns=tuple(parameters.get_optional("columns") or ()),
            filter=parameters.get_optional("filter") or "",
            partition_columns=tuple(parameters.get_optional("partition_columns") or ()),
            file_size=parameters.get_optional("file_size") or "",
            compression=parameters.get_optional("compression") or "",
            sample_size=parameters.get_optional("sample_size"),
        )
        output = config.location(parameters.get_required("output_path"))
        return FormatJob(place, output, options, parameters.get_optional("foreign")).to_job()
