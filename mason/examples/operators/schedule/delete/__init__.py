from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class ScheduleDelete(OperatorDefinition):
    """Delete a schedule: what it would have run is not run any more."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        schedule_name: str = parameters.get_required("schedule_name")
        _, response = config.scheduler.client.delete_schedule(schedule_name, response=resp)
        response.add_info(f'Deleted schedule "{schedule_name}".')
        return OperatorResponse(response)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        schedule_name: str = parameters.get_required("schedule_name")
        schedules, response = config.scheduler.client.list_schedules(response=resp)
        found = [each for each in schedules if each.name == schedule_name]
        word = "Would delete" if found else "There is no"
        response.add_info(f'{word} schedule "{schedule_name}".')
        return OperatorResponse(response, found)
