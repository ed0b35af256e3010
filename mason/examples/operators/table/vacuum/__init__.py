from collections.abc import Sequence

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.location import Location
from mason.operators.catalog_entries import settle_table
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_parameters import find_table
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.tables.versions import Removal, plan_vacuum, vacuum
from mason.util.environment import MasonEnvironment
from mason.util.words import counted


class TableVacuum(OperatorDefinition):
    """Remove what is kept of former versions; `--plan` shows what would go. One cannot go back to them afterwards."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        place = find_table(config, parameters, resp)
        resp = settle_table(config, place, resp)
        removal = _removal(place, parameters)
        for left in vacuum(removal):
            resp.add_warning(f"What Mason did not write is left of a former version, and stays in {left}.")
        resp.add_info(f"{counted(len(removal.versions), 'version')} removed, {removal.bytes:,} bytes freed.")
        _tell_what_stays(removal, parameters, resp)
        return OperatorResponse(resp, removal)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        removal = _removal(find_table(config, parameters, resp), parameters)
        _tell_what_stays(removal, parameters, resp)
        return OperatorResponse(resp, removal)

    def changed_paths(self, config: ValidConfig, parameters: ValidatedParameters) -> Sequence[str]:
        return [find_table(config, parameters, Response()).url]


def _tell_what_stays(removal: Removal, parameters: ValidatedParameters, resp: Response) -> None:
    if removal.staying:
        keep, days = parameters.get_optional("keep"), parameters.get_optional("older_than_days")
        resp.add_info(
            f"{_stay(len(removal.staying))} ({', '.join(map(str, removal.staying))}): "
            f"the newest (keep: {keep}), and those replaced less than {days:g} days ago."
        )
    if removal.in_use:
        which = "its files are" if removal.in_use == 1 else "their files are"
        resp.add_info(f"{_stay(removal.in_use)}, since {which} in use: another version or a catalog needs them.")


def _stay(versions: int) -> str:
    return f"{counted(versions, 'former version')} {'stays' if versions == 1 else 'stay'}"


def _removal(place: Location, parameters: ValidatedParameters) -> Removal:
    keep, days = parameters.get_optional("keep"), parameters.get_optional("older_than_days")
    return plan_vacuum(place, keep, days)
