from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class ScheduleTrigger(OperatorDefinition):
    """Start the work of a schedule now."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        schedule_name: str = parameters.get_required("schedule_name")
        resp.add_info(f"Triggering schedule: {schedule_name}")
        run, response = config.scheduler.client.trigger_schedule(schedule_name, response=resp)
        response.add_data({"Schedule": schedule_name, "SchedulerRun": run})
        return OperatorResponse(response)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        resp.add_info(f'Would trigger schedule "{parameters.get_required("schedule_name")}".')
        return OperatorResponse(resp)
