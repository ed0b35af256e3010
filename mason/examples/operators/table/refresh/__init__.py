from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.metastore.models.table import Table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TableRefresh(OperatorDefinition):
    """Infer the schema of a table anew, as it was inferred before, and save it."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        table, response = _infer_again(config, parameters, resp)
        saved, response = config.metastore.client.save_table(table, response=response)
        response.add_info(f'Refreshed table "{saved.name}" of database "{saved.database_name}".')
        return OperatorResponse(response, saved)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        table, response = _infer_again(config, parameters, resp)
        response.add_info(f'Would save table "{table.name}" anew; the files are only read.')
        return OperatorResponse(response, table)


def _infer_again(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> tuple[Table, Response]:
    database_name: str = parameters.get_required("database_name")
    table_name: str = parameters.get_required("table_name")
    known, response = config.metastore.client.get_table(database_name, table_name, response=resp)
    storage = config.storage.client_for(known.path)
    return storage.infer_table(
        storage.path(known.path), database_name, known.name, known.read_options, response=response
    )
