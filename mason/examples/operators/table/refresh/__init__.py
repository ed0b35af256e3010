from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.metastore.models.table import Table
from mason.operators.catalog_entries import Inference, infer_and_save
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TableRefresh(OperatorDefinition):
    """Start the crawler that keeps a table; of one without, infer the schema anew, as before, and save it."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        known, response = _find_known_table(config, parameters, resp)
        scheduler = _find_crawler(config, known)
        if scheduler:
            _, response = scheduler.trigger_schedule(known.crawler, response=response)
            return OperatorResponse(response, known)
        saved, response = infer_and_save(config, _again(config, known), response)
        response.add_info(f'Refreshed table "{saved.name}" of database "{saved.database_name}".')
        return OperatorResponse(response, saved)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        known, response = _find_known_table(config, parameters, resp)
        if _find_crawler(config, known):
            response.add_info(f'Would start the crawler "{known.crawler}", which keeps table "{known.name}".')
            return OperatorResponse(response, known)
        table, response = _again(config, known).infer(config, response)
        response.add_info(f'Would save table "{table.name}" anew; the files are only read.')
        return OperatorResponse(response, table)


def _find_known_table(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> tuple[Table, Response]:
    database_name: str = parameters.get_required("database_name")
    table_name: str = parameters.get_required("table_name")
    return config.metastore.client.get_table(database_name, table_name, response=resp)


def _find_crawler(config: ValidConfig, known: Table) -> SchedulerClient | None:
    """Return who has the table's crawler: the scheduler of the technology that has the table."""
    name = config.metastore.name_of(config.metastore.client.resolve_database(known.database_name)[0])
    return config.scheduler.client_named(name) if known.crawler and name in config.scheduler.client_names else None


def _again(config: ValidConfig, known: Table) -> Inference:
    location = config.location_of_table(known.path)
    return Inference(location, known.database_name, known.name, known.read_options)
