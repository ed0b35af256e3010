from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_table, find_written
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeOptions


class TableDedupe(DataOperator):
    """Keep one of the rows that say the same: always the same one, since the order is total."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        options = DedupeOptions(
            keys=tuple(parameters.get_optional("keys") or ()),
            order_by=tuple(parameters.get_optional("order_by") or ()),
            keep=parameters.get_optional("keep"),
        )
        return DedupeJob(
            path=place,
            output=find_written(config, parameters, "output_path") or place,
            removed=find_written(config, parameters, "removed_path"),
            options=options,
            foreign=parameters.get_optional("foreign"),
        ).to_job()
