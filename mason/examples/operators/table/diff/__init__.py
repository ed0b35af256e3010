from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.errors import InvalidParameters
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_other_table, find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.diff.job import DiffJob, DiffOptions

_WITH_WHAT = 'With what? Give "other_path" or "other_table_name", or "version" and "other_version" of the table.'


class TableDiff(DataOperator):
    """Hold two tables, or two versions of one, against each other."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        place = find_table(config, parameters, Response())
        other = find_other_table(config, parameters, Response())
        options = DiffOptions(
            version=parameters.get_optional("version") or "",
            other_version=parameters.get_optional("other_version") or "",
            keys=tuple(parameters.get_optional("keys") or ()),
            limit=parameters.get_optional("limit"),
        )
        if not other and options.version == options.other_version:
            raise InvalidParameters([_WITH_WHAT])
        return DiffJob(place, other or place, options).to_job()
