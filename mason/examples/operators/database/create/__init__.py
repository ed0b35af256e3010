from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.errors import AlreadyExists, DatabaseNotFound
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class DatabaseCreate(OperatorDefinition):
    """Create a database."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database, response = config.metastore.client.create_database(
            parameters.get_required("database_name"), response=resp
        )
        response.add_info(f'Created database "{database.name}".')
        return OperatorResponse(response, database)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        try:
            config.metastore.client.get_database(database_name, response=resp)
        except DatabaseNotFound:
            resp.add_info(f'Would create database "{database_name}".')
            return OperatorResponse(resp)
        raise AlreadyExists(f'Database "{database_name}" exists already.')
