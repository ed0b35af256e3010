from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.infer_options import InferOptions
from mason.operators.catalog_entries import Inference, infer_and_save
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.table_parameters import InferredTable, read_delimited_options
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class TableInfer(OperatorDefinition):
    """Infer the schema of files and save it as a table."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        saved, response = infer_and_save(config, _read_request(config, parameters), resp)
        response.add_info(f'Saved table "{saved.name}" in database "{saved.database_name}".')
        return OperatorResponse(response, InferredTable.of(saved))

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        table, response = _read_request(config, parameters).infer(config, resp)
        place = f'table "{table.name}" in database "{table.database_name}"'
        response.add_info(f"Would save {place}; the files are only read.")
        return OperatorResponse(response, InferredTable.of(table))


def _read_request(config: ValidConfig, parameters: ValidatedParameters) -> Inference:
    storage_path: str = parameters.get_required("storage_path")
    options = InferOptions(
        input_format=parameters.get_optional("input_format") or "",
        read_headers=parameters.get_optional("read_headers"),
        delimiter=parameters.get_optional("delimiter") or "",
        csv=read_delimited_options(parameters),
        encoding=parameters.get_optional("encoding") or "",
        nulls=tuple(parameters.get_optional("nulls") or ()),
        read_all=parameters.get_optional("read_all"),
    )
    table_name: str = parameters.get_optional("table_name") or ""
    database_name: str = parameters.get_required("database_name")
    # Before the files are read: a database that is not there would be noticed only afterwards.
    config.metastore.client.get_database(database_name, response=Response())
    return Inference(config.location(storage_path), database_name, table_name, options)
