"""One client of several: what a configuration means that names more than one metastore, or more than one engine.

Such a client has the verbs of its role and hands each call to the client whose affair it is. The rule is stated here
once, so that an operator need not know how many clients there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import Role
from mason.clients.response import Response
from mason.engines.execution.models.job import Job, JobPlan, JobRecord
from mason.engines.metastore.models.database import Database
from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.table import Table, TableSummary
from mason.errors import BadInput, DatabaseNotFound, NotFound, Unsupported

C = TypeVar("C", bound=Role)


class _Clients(Generic[C]):
    """The clients by name, each built when it is first asked."""

    def __init__(self, names: Sequence[str], build: Callable[[str], C], configured: Sequence[str]) -> None:
        self.names = names
        self.build = build
        self.configured = configured
        """All that the configuration names; `names` are those that the operator accepts."""

    def each(self) -> Mapping[str, C]:
        return {name: self.build(name) for name in self.names}


class SeveralMetastores(MetastoreClient):
    """Several metastores: `shop` is the database of the first one that has it, `glue.shop` that of the one named.

    What a call returns names a database as the caller did, so that it leads to the same one again.
    """

    def __init__(
        self, names: Sequence[str], build: Callable[[str], MetastoreClient], configured: Sequence[str]
    ) -> None:
        self._clients = _Clients(names, build, configured)

    def check(self) -> list[str]:
        return [trouble for each in self._clients.each().values() for trouble in each.check()]

    def metastores(self) -> Sequence[MetastoreClient]:
        return list(self._clients.each().values())

    def resolve_database(self, database: str) -> tuple[MetastoreClient, str]:
        named = self._find_by_prefix(database)
        if named:
            return named
        known: list[str] = []
        for client in self._clients.each().values():
            try:
                client.get_database(database, response=Response())
                return client, database
            except DatabaseNotFound:
                known += [each.name for each in client.list_databases(response=Response())[0]]
        raise DatabaseNotFound(database, known)

    def list_databases(self, *, response: Response) -> tuple[Sequence[Database], Response]:
        found: list[Database] = []
        for name, client in self._clients.each().items():
            databases, response = client.list_databases(response=response)
            found += [replace(each, client=name) for each in databases]
        return found, response

    def get_database(self, database: str, *, response: Response) -> tuple[Database, Response]:
        client, name = self.resolve_database(database)
        found, response = client.get_database(name, response=response)
        return replace(found, client=self._name_of(client)), response

    def create_database(self, database: str, *, response: Response) -> tuple[Database, Response]:
        client, name = self._find_by_prefix(database) or (self._clients.build(self._clients.names[0]), database)
        made, response = client.create_database(name, response=response)
        return replace(made, client=self._name_of(client)), response

    def delete_database(self, database: str, *, response: Response) -> tuple[None, Response]:
        client, name = self.resolve_database(database)
        return client.delete_database(name, response=response)

    def list_tables(self, database: str, *, response: Response) -> tuple[Sequence[TableSummary], Response]:
        client, name = self.resolve_database(database)
        tables, response = client.list_tables(name, response=response)
        return [replace(each, database_name=database) for each in tables], response

    def get_table(self, database: str, table: str, *, response: Response) -> tuple[Table, Response]:
        client, name = self.resolve_database(database)
        found, response = client.get_table(name, table, response=response)
        return replace(found, database_name=database), response

    def save_table(self, table: Table, *, response: Response) -> tuple[Table, Response]:
        client, name = self.resolve_database(table.database_name)
        saved, response = client.save_table(replace(table, database_name=name), response=response)
        return replace(saved, database_name=table.database_name), response

    def delete_table(self, database: str, table: str, *, response: Response) -> tuple[None, Response]:
        client, name = self.resolve_database(database)
        return client.delete_table(name, table, response=response)

    def list_partitions(self, database: str, table: str, *, response: Response) -> tuple[Sequence[Partition], Response]:
        client, name = self.resolve_database(database)
        return client.list_partitions(name, table, response=response)

    def catalog(self) -> str:
        return next((catalog for each in self.metastores() if (catalog := each.catalog())), "")

    def _find_by_prefix(self, database: str) -> tuple[MetastoreClient, str] | None:
        """Return the client whose name stands before the first dot, and what comes after it."""
        prefix, dot, name = database.partition(".")
        if not dot or prefix not in self._clients.configured:
            return None
        if prefix not in self._clients.names:
            accepted = ", ".join(self._clients.names)
            raise BadInput(f'The database "{database}" is in a metastore that is not accepted here: {accepted} is.')
        return self._clients.build(prefix), name

    def _name_of(self, client: MetastoreClient) -> str:
        return next(name for name, each in self._clients.each().items() if each is client)


class SeveralEngines(ExecutionClient):
    """Several engines: a job goes to the first one that has jobs of its type."""

    def __init__(
        self, names: Sequence[str], build: Callable[[str], ExecutionClient], configured: Sequence[str]
    ) -> None:
        self._clients = _Clients(names, build, configured)

    def check(self) -> list[str]:
        return [trouble for each in self._clients.each().values() for trouble in each.check()]

    def engine_for(self, job_type: str) -> ExecutionClient:
        """Return the engine that a job of a type goes to.

        Raises:
            Unsupported: none of them has such jobs.
        """
        for name in self._clients.names:  # those that come later are not built for nothing
            client = self._clients.build(name)
            if job_type in client.job_types():
                return client
        raise Unsupported(
            f'None of {", ".join(self._clients.names)} has jobs of the type "{job_type}".',
            hint=f"Types: {', '.join(self.job_types())}.",
        )

    def job_types(self) -> Sequence[str]:
        return sorted({job_type for each in self._clients.each().values() for job_type in each.job_types()})

    def reach(self, storage: str) -> str:
        return next((reached for each in self._clients.each().values() if (reached := each.reach(storage))), "")

    def expect_job(self, job: Job) -> None:
        with suppress(Unsupported):  # planning the job says so
            self.engine_for(job.type).expect_job(job)

    def plan_job(self, job: Job, *, response: Response) -> tuple[JobPlan, Response]:
        return self.engine_for(job.type).plan_job(job, response=response)

    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> tuple[JobRecord, Response]:
        return self.engine_for(plan.job.type).submit_job(plan, token=token, response=response)

    def run_job(self, plan: JobPlan, *, response: Response) -> tuple[JobRecord, Response]:
        return self.engine_for(plan.job.type).run_job(plan, response=response)

    def get_job(self, job_id: str, *, response: Response) -> tuple[JobRecord, Response]:
        return self._keeper(job_id).get_job(job_id, response=response)

    def list_jobs(self, *, response: Response) -> tuple[Sequence[JobRecord], Response]:
        found: dict[str, JobRecord] = {}
        for client in self._clients.each().values():
            jobs, response = client.list_jobs(response=response)
            found = {**{each.id: each for each in jobs}, **found}  # engines of Mason's pipeline share their records
        return sorted(found.values(), key=lambda each: str(each.details.get("StartedAt", "")), reverse=True), response

    def cancel_job(self, job_id: str, *, response: Response) -> tuple[JobRecord, Response]:
        return self._keeper(job_id).cancel_job(job_id, response=response)

    def _keeper(self, job_id: str) -> ExecutionClient:
        """Return the engine that knows a job: the first one, so that it says the job is not found, where none does."""
        clients = list(self._clients.each().values())
        for client in clients:
            try:
                client.get_job(job_id, response=Response())
            except NotFound:
                continue
            return client
        return clients[0]
