from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.operators.local_file import side_file
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_table, find_written
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.summary.job import SummaryJob


class TableSummarize(DataOperator):
    """Say what the columns of a table hold: how many values and which, how they are spread, the most frequent ones."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        html: str = parameters.get_optional("html") or ""
        summary = find_written(config, parameters, "output_path")
        return SummaryJob(
            path=place,
            columns=tuple(parameters.get_optional("columns") or ()),
            exact=parameters.get_optional("exact"),
            histogram=parameters.get_optional("histogram"),
            output=summary,
            html=Location(side_file(config, html, [place, *filter(None, [summary])])) if html else None,
            overwrite=parameters.get_optional("overwrite"),
            foreign=parameters.get_optional("foreign"),
        ).to_job()
