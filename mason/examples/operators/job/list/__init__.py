from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.calls.records import list_jobs
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class JobList(OperatorDefinition):
    """Return the jobs, the newest first."""

    only_asks = True

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        status: str = parameters.get_optional("status") or ""
        offset: int = parameters.get_optional("offset")
        limit: int = parameters.get_optional("limit")
        name: str = parameters.get_optional("name") or ""
        jobs = list_jobs(env, config, resp, most=offset + limit, status=status, name=name)
        return OperatorResponse(resp, jobs[offset:])
