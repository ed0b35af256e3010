from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.calls.records import find_job
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class JobGet(OperatorDefinition):
    """Return where a job stands."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        return OperatorResponse(resp, find_job(env, config, parameters.get_required("job_id"), resp))
