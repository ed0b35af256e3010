from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_place import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.preview import preview_table
from mason.pipeline.table_view import view_table
from mason.util.environment import MasonEnvironment


class TablePreview(OperatorDefinition):
    """Return some rows of a table, or of the files at a path, as a table and as data."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        filesystem = place.storage.filesystem()
        view = view_table(filesystem, place.path, storage=place.storage.address())
        for warning in view.warnings:
            resp.add_warning(warning)
        columns, at_random = parameters.get_optional("columns") or (), parameters.get_optional("random")
        limit = parameters.get_optional("limit")
        return OperatorResponse(resp, preview_table(filesystem, view, limit, columns, at_random=at_random))
