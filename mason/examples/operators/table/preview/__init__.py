from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.operators.catalog_entries import settle_table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_parameters import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.reading.preview import preview_plan, preview_table
from mason.pipeline.reading.view import TableView, view_table
from mason.pipeline.storage.address import open_filesystem
from mason.util.environment import MasonEnvironment


class TablePreview(OperatorDefinition):
    """Return some rows of a table, or of the files at a path, as a table and as data."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        resp = settle_table(config, place, resp)
        view = _view(place, resp)
        columns, at_random = parameters.get_optional("columns") or (), parameters.get_optional("random")
        limit = parameters.get_optional("limit")
        found = preview_table(open_filesystem(place.storage), view, limit, columns, at_random=at_random)
        for warning in found.warnings:
            resp.add_warning(warning)
        return OperatorResponse(resp, found)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        view = _view(find_table(config, parameters, resp), resp)
        limit, columns = parameters.get_optional("limit"), parameters.get_optional("columns") or ()
        resp.add_data(preview_plan(view, limit, columns))
        return OperatorResponse(resp)


def _view(place: Location, resp: Response) -> TableView:
    """Look at the table, and tell what is odd about it."""
    view = view_table(place)
    for warning in view.warnings:
        resp.add_warning(warning)
    return view
