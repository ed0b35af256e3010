from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class DatabaseDelete(OperatorDefinition):
    """Delete a database that has no tables."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        _, response = config.metastore.client.delete_database(database_name, response=resp)
        response.add_info(f'Deleted database "{database_name}".')
        return OperatorResponse(response)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        config.metastore.client.require_empty_database(database_name, response=resp)
        resp.add_info(f'Would delete database "{database_name}".')
        return OperatorResponse(resp)
