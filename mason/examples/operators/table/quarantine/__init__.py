from itertools import islice

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.rejects import read_quarantine
from mason.util.environment import MasonEnvironment


class TableQuarantine(OperatorDefinition):
    """Return the records that did not fit, each with its place, the reason and its text."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        path: str = parameters.get_required("path")
        storage = config.storage.client_for(path)
        rejects = read_quarantine(storage.filesystem(), storage.path(path).path)
        shown = list(islice(rejects, parameters.get_optional("limit")))
        for reject in shown:
            resp.add_data(reject)
        return OperatorResponse(resp)
