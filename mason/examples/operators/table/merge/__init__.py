from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.operators.table_parameters import read_delimited_options
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.reading.request import Names, OnBadRecord, OnConflict
from mason.pipeline.tables.foreign_files import Foreign


class TableMerge(DataOperator):
    """Merge the files below a path into one table, column by name, no row lost."""

    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        options = MergeOptions(
            input_format=parameters.get_optional("input_format") or "",
            parse_headers=parameters.get_optional("parse_headers"),
            delimiter=parameters.get_optional("delimiter") or "",
            csv=read_delimited_options(parameters),
            encoding=parameters.get_optional("encoding") or "",
            nulls=tuple(parameters.get_optional("nulls") or ()),
            extract_paths=parameters.get_optional("extract_paths"),
            on_conflict=OnConflict(parameters.get_optional("on_conflict")),
            on_bad_record=OnBadRecord(parameters.get_optional("on_bad_record")),
            mode=Mode(parameters.get_optional("mode")),
            names=Names(parameters.get_optional("names")),
            schema=parameters.get_optional("schema") or "",
            timezone=parameters.get_optional("timezone") or "",
            sample=parameters.get_optional("sample"),
            repartition_keys=tuple(parameters.get_optional("repartition_keys") or ()),
            incremental=parameters.get_optional("incremental"),
            most_bad_share=parameters.get_optional("most_bad_share"),
            commit_timeout=parameters.get_optional("commit_timeout"),
            explain=parameters.get_optional("explain") or "",
            foreign=Foreign(parameters.get_optional("foreign")),
        )
        return MergeJob(
            inputs=config.location(parameters.get_required("input_path")),  # each path by its own scheme
            output=config.location(parameters.get_required("output_path")),
            options=options,
        ).to_job()
