from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class OrdersDescribe(OperatorDefinition):
    """Say in one sentence what a table of the shop holds."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        table_name: str = parameters.get_required("table_name")
        table, response = config.metastore.client.get_table("shop", table_name, response=resp)

        columns = ", ".join(f"{column.name} ({column.type})" for column in table.schema.columns)
        response.add_info(f"{table.name} has {len(table.schema.columns)} columns: {columns}.")
        return OperatorResponse(response, table)
