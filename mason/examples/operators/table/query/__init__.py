from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.query_tables import table_paths
from mason.operators.table_place import TablePlace, written_path
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.changing import changing_in
from mason.pipeline.sql.statement import parse_statement


class TableQuery(DataOperator):
    """Ask the tables of a database in SQL; the answer is shown, or becomes a table."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        text: str = parameters.get_required("query_string")
        database: str = parameters.get_required("database_name")
        storage, paths = table_paths(config, database, parse_statement(text), Response())
        output: str = parameters.get_optional("output_path") or ""
        if output and not paths:  # a query of no table writes wherever it is sent
            storage = config.storage.client_for(output)
        read = TablePlace(storage, next(iter(paths.values()), ""))
        return QueryJob(
            text,
            config.metastore.client.resolve_database(database)[1],
            paths,
            storage.address(),
            parameters.get_optional("parameters") or {},
            parameters.get_optional("limit"),
            written_path(config, parameters, "output_path", read),
            parameters.get_optional("format"),
            parameters.get_optional("foreign"),
        ).to_job()

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        return changing_in(parse_statement(parameters.get_required("query_string")))
