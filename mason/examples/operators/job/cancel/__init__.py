from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.calls.records import cancel_job, find_job
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class JobCancel(OperatorDefinition):
    """End a job that another process runs; one that is over stays what it is."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        return OperatorResponse(resp, cancel_job(env, config, parameters.get_required("job_id"), resp))

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        job = find_job(env, config, parameters.get_required("job_id"), resp)
        resp.add_info(f"Would ask for the end of this job, which is {job.status}.")
        return OperatorResponse(resp, job)
