from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class ScheduleList(OperatorDefinition):
    """Return every schedule."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        schedules, response = config.scheduler.client.list_schedules(response=resp)
        return OperatorResponse(response, schedules)
