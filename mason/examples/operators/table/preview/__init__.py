from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.operators.catalog_entries import settle_table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_place import TablePlace, find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.reading.preview import preview_plan, preview_table
from mason.pipeline.reading.view import TableView, view_table
from mason.util.environment import MasonEnvironment


class TablePreview(OperatorDefinition):
    """Return some rows of a table, or of the files at a path, as a table and as data."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        resp = settle_table(config, place.storage, place.storage.path(place.path), resp)
        view = _view(place, resp)
        columns, at_random = parameters.get_optional("columns") or (), parameters.get_optional("random")
        limit = parameters.get_optional("limit")
        found = preview_table(place.storage.filesystem(), view, limit, columns, at_random=at_random)
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


def _view(place: TablePlace, resp: Response) -> TableView:
    """Look at the table, and tell what is odd about it."""
    view = view_table(place.storage.filesystem(), place.path, storage=place.storage.address())
    for warning in view.warnings:
        resp.add_warning(warning)
    return view
