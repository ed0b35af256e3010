"""Athena as execution engine: it runs queries, and keeps the record of each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from mason.clients.athena.metastore import AthenaMetastoreClient
from mason.clients.athena.queries import MOST_LISTED, Queries
from mason.clients.athena.query_work import FIRST_ROWS, AthenaRows, AthenaWork, FirstRows
from mason.clients.athena.records import job_record
from mason.clients.athena.results import answers_rows, as_shown, to_table
from mason.clients.aws.service import clock_troubles
from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import verb
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.errors import MasonError, NotFound, Unsupported
from mason.pipeline.driving.handover import JOB, hand_over_once
from mason.pipeline.sql.query import collect_rows
from mason.pipeline.tables.room import DATA, room_of
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.work.record_parts import describe_columns, describe_files


class AthenaExecutionClient(ExecutionClient):
    """Runs queries on Athena. The id of a job is Athena's own, and Athena is asked what became of it."""

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._configuration = configuration

    @cached_property
    def _queries(self) -> Queries:
        return Queries(self._configuration)

    @cached_property
    def _catalog(self) -> MetastoreClient:
        return AthenaMetastoreClient(self._configuration)

    def check(self) -> list[str]:
        try:
            answer = self._queries.describe_work_group()
        except MasonError as error:
            return [str(error)]
        group = answer["WorkGroup"]
        if group.get("State", "ENABLED") != "ENABLED":
            return [f'The work group "{self._queries.work_group}" of Athena is disabled.']
        missing = [] if self._queries.output_location or _has_place(group) else [_NO_PLACE]
        return [*missing, *clock_troubles(answer)]

    def describe_place(self) -> str:
        return self._queries.describe_place()

    def job_types(self) -> Sequence[str]:
        return ["query"]

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        if job.type not in self.job_types():
            raise Unsupported(
                f"Athena runs no job of the type {job.type}.",
                hint="It runs queries; set execution_engine to spark or local for other jobs.",
            )
        work = AthenaWork.plan(job, self._catalog, response)
        return JobPlan(job, {**work.to_dict(), **self._where(), "Statement": self._statement(work)}, work)

    @verb
    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> JobRecord:
        work: AthenaWork = plan.payload
        if work.job.output:
            raise Unsupported(
                "A query that writes a table cannot be handed to Athena alone: Mason commits what it writes.",
                hint="Use run_job, which waits for it.",
            )
        asked = work.question.rows(work.limit).text
        once = hashlib.sha256(token.encode()).hexdigest() if token else ""
        query_id = hand_over_once(JOB, lambda given: self._queries.start(asked, work.job.database, once or given))
        return job_record(self._queries.get(query_id))

    @verb
    def run_job(self, plan: JobPlan, *, response: Response) -> JobRecord:
        work: AthenaWork = plan.payload
        return self._run_unload(work, response) if work.job.output else self._run_query(work, response)

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        job = self._find_record(job_id)
        if job.status is not JobStatus.SUCCEEDED or not answers_rows(job.details["Statement"]):
            return job
        try:
            rows = as_shown(*self._queries.rows(job.id, FIRST_ROWS + 1))
        except MasonError as error:  # they may have been deleted; what became of the job is known all the same
            response.add_warning(f"The rows of the job cannot be shown: {error}")
            return job
        answer = FirstRows(rows.slice(0, FIRST_ROWS), rows.num_rows > FIRST_ROWS)
        return replace(job, details={**job.details, **answer.to_dict()}, picture=answer.picture)

    @verb
    def list_jobs(self, *, response: Response) -> Sequence[JobRecord]:
        jobs = [job_record(each) for each in self._queries.newest()]
        if len(jobs) == MOST_LISTED:
            response.add_info(f"These are the newest {MOST_LISTED}; there may be older ones.")
        return jobs

    @verb
    def cancel_job(self, job_id: str, *, response: Response) -> JobRecord:
        job = self._find_record(job_id)
        if job.status.is_final:
            response.add_info(f"The job is over already: it is {job.status}.")
            return job
        self._queries.stop(job_id)
        stopped = self._find_record(job_id)
        response.add_info("Athena was asked to stop the job." if not stopped.status.is_final else "The job is over.")
        return stopped

    def _find_record(self, job_id: str) -> JobRecord:
        if not job_id.strip():
            raise NotFound(f'There is no job "{job_id}".')
        return job_record(self._queries.get(job_id))

    def _where(self) -> Mapping[str, str]:
        place = {"OutputLocation": self._queries.output_location} if self._queries.output_location else {}
        return {"WorkGroup": self._queries.work_group, **place}

    def _statement(self, work: AthenaWork) -> str:
        if work.job.output:
            return work.question.unload(f"{room_of(str(work.job.output))}/{DATA}/<job>/").text
        return work.question.rows(work.limit).text

    def _run_query(self, work: AthenaWork, response: Response) -> JobRecord:
        asked = work.question.rows(work.limit)
        query_id = hand_over_once(JOB, lambda token: self._queries.start(asked.text, work.job.database, token))
        response.add_info(f"Athena runs the job {query_id}.")
        execution = self._queries.wait(query_id)
        columns, cells = self._queries.rows(query_id, work.limit)
        rows = to_table(columns, cells, asked.names, asked.types, asked.in_spark)
        collect_rows([rows], rows.schema, work.most_bytes)
        answer = AthenaRows(rows.slice(0, work.most_rows), rows.num_rows > work.most_rows, work)
        for warning in answer.warnings:
            response.add_warning(warning)
        response.add_info(answer.summary)
        return replace(job_record(execution, answer.to_dict()), picture=answer.picture)

    def _run_unload(self, work: AthenaWork, response: Response) -> JobRecord:
        from mason.clients.athena.unload import unload

        execution, commit = unload(work, self._queries, response)
        written = {"Columns": describe_columns(decode_schema(commit.schema)), **describe_files(commit)}
        return job_record(execution, {**work.to_dict(), "Commit": commit.id, "RowsOut": commit.rows, **written})


_NO_PLACE = "Athena has no place for results: give output_location, or set one in the work group."


def _has_place(group: Mapping[str, Any]) -> bool:
    settings = group.get("Configuration", {})
    managed = settings.get("ManagedQueryResultsConfiguration", {}).get("Enabled", False)
    return bool(managed or settings.get("ResultConfiguration", {}).get("OutputLocation"))
