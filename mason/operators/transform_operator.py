"""The operator that Mason makes of an author's `transform.sql` or `SparkOperator`: a job like any other.

None of the author's code is loaded here: it runs where its rows are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import InvalidParameters
from mason.operators.operator_definition import DataOperator
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_spec import OperatorSpec
from mason.operators.table_places import TablePlace, find_read_table, find_written_table
from mason.parameters.definition import RESERVED
from mason.parameters.validated_parameters import ValidatedParameters
from mason.parameters.values import is_path, split_version
from mason.state.models import Registration
from mason.util.environment import MasonEnvironment
from mason.util.names import class_name

TRANSFORM = "transform.sql"
_FUNCTION = "mason.operators.own_transform:transform_frames"
"""What calls the author's class. It is named only: it needs pyspark, and so does nothing here."""


@dataclass(frozen=True)
class TransformOperator(DataOperator):
    """Makes one table out of others, as its author says it in SQL or over DataFrames."""

    is_stateless: ClassVar[bool] = True
    registration: Registration
    folder: Path
    """The files as they were registered, or as they are."""

    @property
    def spec(self) -> OperatorSpec:
        return OperatorSpec.of(self.registration.definition)

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        from mason.pipeline.jobs.merge.job import Mode
        from mason.pipeline.jobs.transform.job import CodeFolder, TransformJob
        from mason.pipeline.types.python_values import to_typed

        spec, registration, definition = self.spec, self.registration, self.registration.definition
        mode = str(parameters.get_optional("mode"))
        self._check_reserved(mode, parameters)
        written = spec.parameters.written
        assert written is not None
        read = {
            each.name: find_read_table(config, text, Response())
            for each in spec.parameters.read
            if (text := parameters.get_optional(each.name))
        }
        output = self._output(config, parameters)
        assert output.table.location is not None
        checks, references = self._checks(config, parameters)
        failures = parameters.get_optional("failures_path")
        statement = self.folder / TRANSFORM
        is_sql = statement.is_file()
        name = registration.name
        code = CodeFolder(
            path=str(self.folder),
            class_name=class_name(name.namespace, name.command),
            function=_FUNCTION,
            packages=tuple(definition.get("packages") or ()),
        )
        return TransformJob(
            name=str(name),
            digest=registration.digest,
            source=registration.source,
            tables={each: place.table for each, place in read.items()},
            output=output.table.location,
            statement=statement.read_text(encoding="utf-8") if is_sql else "",
            code=None if is_sql else code,
            declared=tuple(each.name for each in spec.parameters.all),
            parameters=to_typed(self._values(parameters, is_sql)),
            versions={each: place.version for each, place in read.items() if place.version},
            mode=Mode(mode),
            partition_by=tuple(parameters.get_optional("partition_by") or ()),
            checks=checks,
            references=references,
            failures=config.location(failures) if failures else None,
            allow_empty=parameters.get_optional("allow_empty"),
        ).to_job()

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        from mason.pipeline.jobs.table_output import list_schema_changes

        client = config.execution.client
        plan, response = client.plan_job(self.job(config, parameters), response=resp)
        plan = client.analyse_plan(plan, response)
        changes = list_schema_changes(plan)
        if changes:
            plan = replace(plan, details={**plan.details, "SchemaChanges": changes})
            response.add_info(f"The table that is there changes: {', '.join(changes)}.")
        return OperatorResponse(response, plan)

    def follow_up(self, config: ValidConfig, parameters: ValidatedParameters, job: Job, response: Response) -> Response:
        """Have the catalogs show the table, and save it where it was named and the metastore does not know it."""
        response = super().follow_up(config, parameters, job, response)
        written = self.spec.parameters.written
        assert written is not None and job.output is not None
        name, _ = split_version(parameters.get_required(written.name))
        database, _, table = name.partition(".")
        if is_path(name) or config.metastore.client.has_table(database, table, response=Response()):
            return response
        from mason.engines.storage.models.infer_options import InferOptions
        from mason.operators.catalog_entries import Inference, infer_and_save

        saved, response = infer_and_save(config, Inference(job.output, database, table, InferOptions()), response)
        response.add_info(f'Saved "{saved.name}" in database "{saved.database_name}".')
        return response

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        statement = self.folder / TRANSFORM
        if not statement.is_file():
            return ""
        from mason.pipeline.sql.changing import find_changing_part
        from mason.pipeline.sql.statement import read_statement

        return find_changing_part(read_statement(statement.read_text(encoding="utf-8")))

    def _output(self, config: ValidConfig, parameters: ValidatedParameters) -> TablePlace:
        written = self.spec.parameters.written
        assert written is not None
        return find_written_table(config, parameters.get_required(written.name), Response())

    def _values(self, parameters: ValidatedParameters, is_sql: bool) -> Mapping[str, Any]:
        """The values that the code gets: of the tables it gets the rows, and what is reserved is Mason's own affair."""
        own = {each.name for each in RESERVED}
        tables = {each.name for each in self.spec.parameters.all if each.access} if is_sql else set()
        return {name: value for name, value in parameters.values.items() if name not in own | tables}

    def _check_reserved(self, mode: str, parameters: ValidatedParameters) -> None:
        problems = []
        if mode == "upsert":
            problems.append("mode: upsert is not there yet: append, replace_partitions or replace the table.")
        elif parameters.get_optional("keys"):
            problems.append("keys: they are for the mode upsert, which is not there yet.")
        if mode == "replace_partitions" and not parameters.get_optional("partition_by"):
            problems.append("mode: replace_partitions needs partition_by: it says what a partition is.")
        if parameters.get_optional("failures_path") and not self._given_checks(parameters):
            problems.append("failures_path: there is no check that a row could fail.")
        if problems:
            raise InvalidParameters(problems)

    def _given_checks(self, parameters: ValidatedParameters) -> list[Any]:
        own = self.registration.definition.get("checks") or []
        return [*own, *(parameters.get_optional("checks") or [])]

    def _checks(self, config: ValidConfig, parameters: ValidatedParameters) -> tuple[Any, Mapping[str, Location]]:
        """The author's checks and the caller's, those apart that are the same, and the tables that they refer to."""
        given = self._given_checks(parameters)
        if not given:
            return (), {}
        from mason.pipeline.jobs.check.reading import read_checks

        own = read_checks(self.registration.definition.get("checks") or given)
        theirs = read_checks(parameters.get_optional("checks")) if parameters.get_optional("checks") else []
        found = [*own, *(each for each in theirs if each not in own)]
        names = [each.name for each in found]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InvalidParameters([f'checks: the operator has a check "{name}" of its own.' for name in twice])
        references = {each.references: config.location(each.references) for each in found if each.references}
        # By the whole path of a table, which is what an answer and a record show.
        whole = tuple(replace(each, references=str(references.get(each.references, ""))) for each in found)
        return whole, {str(each): each for each in references.values()}
