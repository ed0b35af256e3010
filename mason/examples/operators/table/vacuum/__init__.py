from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_place import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.table_versions import Removal, plan_vacuum, vacuum
from mason.util.environment import MasonEnvironment
from mason.util.words import counted


class TableVacuum(OperatorDefinition):
    """Remove what is kept of former versions; `--plan` shows what would go. One cannot go back to them afterwards."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        removal = _removal(config, parameters, resp)
        vacuum(removal)
        resp.add_info(f"{counted(len(removal.versions), 'version')} removed, {removal.bytes:,} bytes freed.")
        return OperatorResponse(resp, removal)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        return OperatorResponse(resp, _removal(config, parameters, resp))


def _removal(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> Removal:
    place = find_table(config, parameters, resp)
    keep, days = parameters.get_optional("keep"), parameters.get_optional("older_than_days")
    return plan_vacuum(place.path, keep, days, place.storage.address())
