from collections.abc import Sequence
from uuid import uuid4

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.operators.catalog_entries import follow_commit
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_parameters import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.foreign_files import describe_going_back
from mason.pipeline.tables.versions import find_version, list_versions, roll_back
from mason.util.environment import MasonEnvironment


class TableRollback(OperatorDefinition):
    """Go back to an earlier version. That is a new version, so that one can go forward again."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        foreign = _foreign(place, parameters, resp)
        roll_back(place, parameters.get_required("to"), uuid4().hex[:16], foreign)
        current = list_versions(place)[0]
        resp.add_info(f"Version {current.commit.number} is what {parameters.get_required('to')} was: {place}")
        return OperatorResponse(follow_commit(config, place, resp), current)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        _foreign(place, parameters, resp)
        return OperatorResponse(resp, find_version(place, parameters.get_required("to")))

    def changed_paths(self, config: ValidConfig, parameters: ValidatedParameters) -> Sequence[str]:
        return [find_table(config, parameters, Response()).url]


def _foreign(place: Location, parameters: ValidatedParameters, resp: Response) -> str:
    """Return what becomes of files of others; say what they have done to the table, or raise."""
    foreign: str = parameters.get_optional("foreign")
    for warning in describe_going_back(open_table(place, foreign), str(place)):
        resp.add_warning(warning)
    return foreign
