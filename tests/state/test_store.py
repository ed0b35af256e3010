"""Every state store keeps what it was given, whoever else is writing: in a file, and on a server."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing.pool import Pool

import pytest

from mason.errors import AlreadyExists, AlreadyRegistered, Conflict
from mason.state.home import open_state, read_state
from mason.state.models import (
    Kind,
    Name,
    NewRegistration,
    Outcome,
    RecordKind,
    Registration,
    RunStep,
    SavedConfiguration,
)
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment

GET = Name(Kind.OPERATOR, "table", "get")


def new(name: Name = GET, digest: str = "a" * 64, content: bytes = b"x") -> NewRegistration:
    return NewRegistration(Registration(name, digest, {"command": name.command}, "somewhere"), {"__init__.py": content})


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def env(request: pytest.FixtureRequest, env: MasonEnvironment) -> MasonEnvironment:
    """A home whose state is in a file, and one whose state is on a server."""
    return env if request.param == "SQLite" else replace(env, state=request.getfixturevalue("database"))


@pytest.fixture(scope="module")
def processes() -> Iterator[Pool]:
    """Other processes, which open the store of a test at the same time: it is made by one of them."""
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        yield pool


@pytest.fixture
def store(env: MasonEnvironment) -> Iterator[StateStore]:
    store = open_state(env)
    yield store
    store.close()


def test_a_registration_is_current_and_keeps_its_files(store: StateStore) -> None:
    assert store.register([new()], replace=False) == [Outcome.ADDED]

    (current,) = store.list_registrations(Kind.OPERATOR)
    assert (current.name, current.digest, current.current) == (GET, "a" * 64, True)
    assert store.get_files("a" * 64) == {"__init__.py": b"x"}


def test_the_same_registration_again_changes_nothing(store: StateStore) -> None:
    store.register([new()], replace=False)
    before = store.get_history(GET)

    assert store.register([new()], replace=True) == [Outcome.UNCHANGED]
    assert store.get_history(GET) == before


def test_other_content_is_refused_unless_it_may_replace(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered, match="table:get is registered with other content"):
        store.register([new(digest="b" * 64)], replace=False)
    assert store.register([new(digest="b" * 64)], replace=True) == [Outcome.REPLACED]
    assert [each.digest[0] for each in store.get_history(GET)] == ["b", "a"]


def test_one_refusal_refuses_the_whole_batch(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered):
        store.register([new(Name(Kind.OPERATOR, "table", "list")), new(digest="b" * 64)], replace=False)
    assert [each.name.command for each in store.list_registrations(Kind.OPERATOR)] == ["get"]


def test_an_earlier_version_can_be_made_current_again(store: StateStore) -> None:
    store.register([new()], replace=False)
    store.register([new(digest="b" * 64)], replace=True)

    store.set_current(GET, "a" * 64)

    assert [each.digest[0] for each in store.list_registrations(Kind.OPERATOR)] == ["a"]


def test_a_name_leads_to_its_current_version_and_to_no_other(store: StateStore) -> None:
    store.register([new(), new(Name(Kind.OPERATOR, "table", "list"), "c" * 64)], replace=False)
    store.register([new(digest="b" * 64)], replace=True)

    found = store.get_registration(GET)

    assert found is not None and (found.name, found.digest[0], found.current) == (GET, "b", True)
    assert store.get_registration(Name(Kind.WORKFLOW, "table", "get")) is None


def test_a_removed_name_takes_its_versions_and_files_along(store: StateStore) -> None:
    store.register([new(), new(Name(Kind.OPERATOR, "table", "list"), "c" * 64)], replace=False)

    store.remove_registration(GET)

    assert store.get_history(GET) == []
    assert store.get_files("a" * 64) == {}
    assert store.get_files("c" * 64) == {"__init__.py": b"x"}


def test_a_name_and_a_namespace_cannot_be_the_same_word(store: StateStore) -> None:
    store.register([new()], replace=False)

    with pytest.raises(AlreadyRegistered, match="have one name"):
        store.register([new(Name(Kind.OPERATOR, "", "table"), "d" * 64)], replace=True)


def test_versions_are_kept_without_becoming_current(store: StateStore) -> None:
    store.add_versions([new(digest="b" * 64, content=b"kept")])
    assert store.get_registration(GET) is None and store.list_registrations(Kind.OPERATOR) == []
    assert store.get_files("b" * 64) == {"__init__.py": b"kept"}

    store.register([new()], replace=False)
    store.add_versions([new(digest="b" * 64, content=b"kept"), new(digest="c" * 64)])

    assert [(each.digest[0], each.current) for each in store.get_history(GET)] == [
        ("c", False),
        ("a", True),
        ("b", False),
    ]
    assert store.list_digests() == {"a" * 64, "b" * 64, "c" * 64}


def test_a_configuration_that_is_deleted_is_not_current_any_more(store: StateStore) -> None:
    store.save_configurations([SavedConfiguration(each, f"id: {each}", "", "0.1.0") for each in ("1", "2")])
    store.set_current_configuration("1")

    store.delete_configuration("2")
    assert store.get_current_configuration() == "1"
    store.delete_configuration("1")
    assert store.get_current_configuration() is None and store.list_configurations() == []


def test_configurations_are_kept_as_they_were_written(store: StateStore) -> None:
    store.save_configurations([SavedConfiguration("1", "id: 1 # mine\n", "a.yaml", "0.1.0")])
    store.set_current_configuration("1")

    (saved,) = store.list_configurations()
    assert (saved.id, saved.text, saved.source) == ("1", "id: 1 # mine\n", "a.yaml")
    assert store.get_current_configuration() == "1"


def test_a_record_is_added_once_and_changed_only_by_who_saw_its_last_version(store: StateStore) -> None:
    first = store.add_record(RecordKind.JOB, "j1", "queued", {"rows": 0})
    second = store.update_record(first, "running", {"rows": 10})

    with pytest.raises(AlreadyExists):
        store.add_record(RecordKind.JOB, "j1", "queued", {})
    with pytest.raises(Conflict, match="changed by another process"):
        store.update_record(first, "failed", {})
    assert store.get_record(RecordKind.JOB, "j1") == second
    assert store.get_record(RecordKind.RUN, "j1") is None


def test_records_are_listed_newest_first_by_status_and_page(store: StateStore) -> None:
    for number in range(5):
        store.add_record(RecordKind.JOB, f"j{number}", "queued" if number % 2 else "running", {})

    assert [each.id for each in store.list_records(RecordKind.JOB)] == ["j4", "j3", "j2", "j1", "j0"]
    assert [each.id for each in store.list_records(RecordKind.JOB, status="queued")] == ["j3", "j1"]
    assert [each.id for each in store.list_records(RecordKind.JOB, limit=2, offset=2)] == ["j2", "j1"]


def test_a_lease_has_one_holder_until_it_is_released_or_expires(store: StateStore) -> None:
    first = store.acquire_lease("out", "me", 60)
    assert first is not None
    assert store.acquire_lease("out", "you", 60) is None
    assert store.renew_lease(first, 60)

    store.release_lease(first)
    second = store.acquire_lease("out", "you", 0)
    assert second is not None and second.fence > first.fence
    assert not store.is_held("out")
    third = store.acquire_lease("out", "me", 60)  # the second one expired at once
    assert third is not None and third.fence > second.fence
    assert not store.renew_lease(second, 60)
    assert store.is_held("out")


def test_the_oldest_record_of_a_status_is_found_and_records_are_counted(store: StateStore) -> None:
    for number in range(3):
        store.add_record(RecordKind.CALL, f"c{number}", "queued" if number else "running", {})

    oldest = store.oldest_record(RecordKind.CALL, "queued")
    assert oldest is not None and oldest.id == "c1"
    assert store.oldest_record(RecordKind.CALL, "failed") is None
    assert store.count_records(RecordKind.CALL) == {"queued": 2, "running": 1}
    assert store.count_records(RecordKind.CALL, "queued") == {"queued": 2}


def test_a_deleted_record_is_gone_and_only_once(store: StateStore) -> None:
    store.add_record(RecordKind.CALL, "c", "queued", {})

    assert store.delete_record(RecordKind.CALL, "c")
    assert not store.delete_record(RecordKind.CALL, "c")


def test_what_others_change_is_noticed_and_definitions_have_a_mark(env: MasonEnvironment, store: StateStore) -> None:
    changes, mark = store.get_changes(), store.get_definitions_mark()
    other = open_state(env)

    other.add_record(RecordKind.CALL, "c", "queued", {})
    assert store.get_changes() != changes and store.get_definitions_mark() == mark
    for change in (
        lambda: other.register([new()], replace=False),
        lambda: other.save_configurations([SavedConfiguration("1", "id: 1\n", "a.yaml", "0.1.0")]),
        lambda: other.set_current_configuration("1"),
        lambda: other.add_record(RecordKind.TOKEN, "ci", "active", {}),
    ):
        change()
        assert store.get_definitions_mark() != mark
        mark = store.get_definitions_mark()
    changes = store.get_changes()
    assert store.get_changes() == changes
    other.close()


def test_the_steps_of_a_run_are_kept_in_order_and_replaced(store: StateStore) -> None:
    store.save_run_steps([RunStep("r", "b", 2, "running", {"x": 1}), RunStep("r", "a", 1, "succeeded", {})])
    store.save_run_steps([RunStep("r", "b", 2, "failed", {"x": "é\0"})])

    found = [(each.step, each.status, each.document) for each in store.list_run_steps("r")]
    assert found == [("a", "succeeded", {}), ("b", "failed", {"x": "é\0"})]


def test_a_version_that_comes_back_is_the_newest(store: StateStore) -> None:
    for digest in "aba":
        store.register([new(digest=digest * 64)], replace=True)

    assert [each.digest[0] for each in store.get_history(GET)] == ["a", "b"]


def test_an_id_that_no_store_can_hold_is_not_there(store: StateStore) -> None:
    assert store.get_record(RecordKind.JOB, "a\0b") is None


def test_threads_share_a_store(store: StateStore) -> None:
    record = store.add_record(RecordKind.CALL, "c", "queued", {})

    def claim(number: int) -> bool:
        with suppress(Conflict):
            return bool(store.update_record(record, "running", {"By": number}))
        return False

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(claim, range(64))) == 1


def test_many_processes_register_at_once_and_none_is_lost(env: MasonEnvironment, processes: Pool) -> None:
    outcomes = processes.starmap(_register, [(env, number) for number in range(8)], chunksize=1)

    assert outcomes == [Outcome.ADDED] * 8
    assert len(read_state(env).list_registrations(Kind.OPERATOR)) == 8


def test_many_processes_want_a_lease_and_one_gets_it(env: MasonEnvironment, processes: Pool) -> None:
    got = processes.starmap(_acquire, [(env, f"p{number}") for number in range(16)], chunksize=1)

    assert sum(got) == 1


def _register(env: MasonEnvironment, number: int) -> Outcome:
    store = open_state(env)
    return store.register([new(Name(Kind.OPERATOR, "table", f"c{number}"), f"{number:064}")], replace=False)[0]


def _acquire(env: MasonEnvironment, owner: str) -> bool:
    return open_state(env).acquire_lease("out", owner, 60) is not None
