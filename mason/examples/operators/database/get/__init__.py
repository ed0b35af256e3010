from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class DatabaseGet(OperatorDefinition):
    """Return a database."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        database, response = config.metastore.client.get_database(database_name, response=resp)
        return OperatorResponse(response, database)
