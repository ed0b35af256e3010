from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.catalog_entries import settle_known
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TablePartitions(OperatorDefinition):
    """Return the partitions of a table."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        table_name: str = parameters.get_required("table_name")

        if config.metastore.client.catalog():  # it may lag behind the table
            table, resp = config.metastore.client.get_table(database_name, table_name, response=resp)
            resp = settle_known(config, table, resp)
        partitions, response = config.metastore.client.list_partitions(database_name, table_name, response=resp)
        return OperatorResponse(response, partitions)
