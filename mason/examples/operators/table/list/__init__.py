from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TableList(OperatorDefinition):
    """Return what the tables of a database are called and where they are."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        tables, response = config.metastore.client.list_tables(parameters.get_required("database_name"), response=resp)
        return OperatorResponse(response, tables)
