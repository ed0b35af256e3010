from collections.abc import Iterator, Sequence
from itertools import islice

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, InvalidParameters
from mason.operators.catalog_entries import follow_job, settle_table
from mason.operators.local_file import local_file, side_file
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.pipeline.jobs.merge.mended import encode_rejects
from mason.pipeline.jobs.merge.replay import ReplayJob
from mason.pipeline.storage.side_files import check_side_file, write_side_file
from mason.pipeline.tables.rejects import Reject, read_quarantine
from mason.util.disk_room import why_not_written
from mason.util.environment import MasonEnvironment
from mason.util.words import counted


class TableQuarantine(OperatorDefinition):
    """Show the records that did not fit, write them to a file to be mended, or merge the mended ones again."""

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        action = parameters.get_required("action")
        if action == "replay":
            job = _replay(config, parameters)
            plan, resp = config.execution.client.plan_job(job, response=resp)
            record, resp = config.execution.client.run_job(plan, response=resp)
            return OperatorResponse(follow_job(config, job, resp), record)
        return self._export(config, parameters, resp) if action == "export" else self._show(config, parameters, resp)

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        if parameters.get_required("action") != "replay":
            return super().plan(env, config, parameters, resp)
        plan, resp = config.execution.client.plan_job(_replay(config, parameters), response=resp)
        return OperatorResponse(resp, plan)

    def changed_paths(self, config: ValidConfig, parameters: ValidatedParameters) -> Sequence[str]:
        return [parameters.get_required("path")] if parameters.get_required("action") == "replay" else []

    def _show(self, config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> OperatorResponse:
        rejects = _rejects(config, parameters, resp)
        records = list(islice(rejects, parameters.get_optional("limit")))
        resp.add_info(_describe_records(len(records), more=sum(1 for _ in rejects)))
        return OperatorResponse(resp, records)

    def _export(self, config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> OperatorResponse:
        place, overwrite = config.location(parameters.get_required("path")), parameters.get_optional("overwrite")
        file = side_file(config, _file(parameters), [place])
        check_side_file(file, overwrite=overwrite)
        rejects = list(_rejects(config, parameters, resp))
        try:
            write_side_file(file, encode_rejects(rejects, file), overwrite=overwrite)
        except OSError as error:
            raise BadPath(f"{file} cannot be written: {why_not_written(error, file)}.") from error
        count = len(rejects)
        resp.add_info(f'{counted(count, "record")} exported to {file}. Mend the "Raw" of each, then replay them.')
        resp.add_data({"File": file, "Records": count})
        return OperatorResponse(resp)


def _rejects(config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> Iterator[Reject]:
    place = config.location(parameters.get_required("path"))
    settle_table(config, place, resp)
    return read_quarantine(place)


def _describe_records(count: int, more: int) -> str:
    if more:
        return f"{count:,} of {counted(count + more, 'record')} in quarantine are shown: limit says how many."
    return f"{counted(count, 'record')} in quarantine."


def _replay(config: ValidConfig, parameters: ValidatedParameters) -> Job:
    table = config.location(parameters.get_required("path"))
    mended = Location(local_file(config, _file(parameters)))
    return ReplayJob(table, mended, parameters.get_optional("foreign")).to_job()


def _file(parameters: ValidatedParameters) -> str:
    file: str = parameters.get_optional("file") or ""
    if not file:
        raise InvalidParameters([f'The parameter "file" is missing: {parameters.get_required("action")} needs it.'])
    return file
