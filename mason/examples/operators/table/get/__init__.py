from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.catalog_entries import get_known_table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TableGet(OperatorDefinition):
    """Return a table with its schema."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        table_name: str = parameters.get_required("table_name")

        return OperatorResponse(resp, get_known_table(config, database_name, table_name, resp))
