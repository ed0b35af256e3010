from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.catalog_entries import settle_table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_parameters import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.tables.versions import Versions, list_versions
from mason.util.environment import MasonEnvironment


class TableHistory(OperatorDefinition):
    """Return the versions of a table: which job made each, its rows, and how its schema changed."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        resp = settle_table(config, place, resp)
        versions = list_versions(place)
        return OperatorResponse(resp, Versions(versions[: parameters.get_optional("limit")]))

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        known = len(list_versions(place))
        resp.add_data({"Path": str(place), "Versions": min(known, parameters.get_optional("limit"))})
        return OperatorResponse(resp)
