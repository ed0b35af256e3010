"""`mason state copy`: from the file of one machine to the database that several share."""

from __future__ import annotations

import pytest

from mason.errors import Conflict
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.copying import copy_state
from mason.state.heartbeat import Heartbeat
from mason.state.home import make_home
from mason.state.models import Kind, Name, RecordKind, RunStep, SavedConfiguration
from mason.state.postgres import PostgresStore
from mason.state.sqlite import SqliteStore
from mason.state.tokens import Scope, create_token, find_token, list_tokens
from mason.util.environment import MasonEnvironment
from tests.conftest import EXAMPLES, Mason


@pytest.fixture
def file(env: MasonEnvironment) -> SqliteStore:
    make_home(env)
    return SqliteStore(env.state_file)


def test_everything_is_in_the_database_as_it_was_in_the_file(
    env: MasonEnvironment, file: SqliteStore, database: str
) -> None:
    register(env, file, read_definitions(EXAMPLES / "operators" / "job", [OPERATORS]).valid, replace=False)
    file.save_configurations([SavedConfiguration("aws", "id: aws", "aws.yaml", "1")])
    file.set_current_configuration("aws")
    token = create_token(file, "ci", Scope.RUN)
    job = file.add_record(RecordKind.JOB, "j1", "running", {"é": [1, None]})
    job = file.update_record(job, "succeeded", {"RowsOut": 2})
    file.save_run_steps([RunStep("r1", "step_1", 0, "succeeded", {"Response": {}})])
    there = PostgresStore(database)

    counts = copy_state(file, there)

    operators = file.list_registrations(Kind.OPERATOR)
    assert counts == {"registrations": len(operators), "configurations": 1, "records": 2}
    assert there.list_registrations(Kind.OPERATOR) == operators
    name = Name(Kind.OPERATOR, "job", "get")
    assert there.get_history(name) == file.get_history(name)
    assert {each.digest: there.get_files(each.digest) for each in operators} == {
        each.digest: file.get_files(each.digest) for each in operators
    }
    assert there.list_configurations() == file.list_configurations()
    assert there.get_current_configuration() == "aws"
    assert find_token(list_tokens(there), token)
    assert there.get_record(RecordKind.JOB, "j1") == job
    assert there.list_run_steps("r1") == file.list_run_steps("r1")
    there.update_record(job, "succeeded", {"RowsOut": 3})  # and goes on from there


def test_a_state_is_not_copied_over_another_one(file: SqliteStore, database: str) -> None:
    there = PostgresStore(database)
    file.add_record(RecordKind.JOB, "here", "succeeded", {})
    there.add_record(RecordKind.JOB, "there", "succeeded", {})

    with pytest.raises(Conflict, match="has records already. Name an empty database"):
        copy_state(file, there)

    assert there.get_record(RecordKind.JOB, "here") is None


def test_a_state_that_a_server_uses_is_not_copied(file: SqliteStore, database: str) -> None:
    server = Heartbeat(file, "server:one", "one")

    with pytest.raises(Conflict, match="A server uses this state"):
        copy_state(file, PostgresStore(database))

    server.stop()
    copy_state(file, PostgresStore(database))


def test_without_a_database_or_a_file_there_is_nothing_to_copy(mason: Mason, database: str) -> None:
    no_database = mason("state", "copy")
    no_file = mason("state", "copy", variables={"MASON_STATE": database})

    assert (no_database.exit_code, "nothing says where to copy it" in no_database.stderr) == (1, True)
    assert (no_file.exit_code, "There is no " in no_file.stderr) == (1, True)


def test_the_command_says_what_it_copied_and_no_password(mason: Mason, database: str) -> None:
    mason.home.mkdir()
    SqliteStore(mason.home / "state.db").add_record(RecordKind.JOB, "j1", "succeeded", {})

    done = mason("state", "copy", variables={"MASON_STATE": database})

    assert done.exit_code == 0, done.stderr
    assert "0 registrations, 0 configurations, 1 records." in done.stderr
    assert database not in done.stderr
    assert PostgresStore(database).get_record(RecordKind.JOB, "j1") is not None
