from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import find_tables, find_written
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.query.job import QueryJob
from mason.pipeline.sql.changing import find_changing_part
from mason.pipeline.sql.statement import parse_statement


class TableQuery(DataOperator):
    """Ask the tables of a database in SQL; the answer is shown, or becomes a table."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        text: str = parameters.get_required("query_string")
        statement = parse_statement(text)
        database = parameters.get_optional("database_name") or statement.database
        return QueryJob(
            statement=text,
            database=config.metastore.client.resolve_database(database)[1] if database else "",
            tables=find_tables(config, database, statement, Response()),
            parameters=parameters.get_optional("parameters") or {},
            limit=parameters.get_optional("limit"),
            output=find_written(config, parameters, "output_path"),
            format=parameters.get_optional("format"),
            foreign=parameters.get_optional("foreign"),
        ).to_job()

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        return find_changing_part(parse_statement(parameters.get_required("query_string")))
