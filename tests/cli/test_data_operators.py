"""`table merge` and what belongs to it, through the command line, in this process."""

from __future__ import annotations

from typing import Any

import pytest

from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from tests.conftest import Mason, write

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"


@pytest.fixture
def here(mason: Mason) -> Mason:
    write(mason.folder, {"here.yaml": HERE, "in/a.csv": "a,b\n1,x\n2\n", "in/b.csv": "b,a\ny,3\n"})
    assert mason("config", "here.yaml").exit_code == 0
    return mason.register_examples()


def merge(mason: Mason, *more: str) -> tuple[int, dict[str, list[object]]]:
    result = mason("operator", "table", "merge", "-p", "input_path:in,output_path:out", *more)
    return result.exit_code, result.json


def test_a_merge_answers_with_its_job_and_its_counts(here: Mason) -> None:
    code, answer = merge(here)

    assert code == 0
    (job,) = answer["Data"]
    assert isinstance(job, dict)
    assert (job["Status"], job["RowsIn"], job["RowsOut"], job["RowsQuarantined"]) == ("succeeded", 3, 2, 1)
    found = here("operator", "job", "get", "-p", f"job_id:{job['JobID']}").json["Data"][0]
    assert (found["Status"], found["RowsOut"]) == ("succeeded", 2)
    quarantined = here("operator", "table", "quarantine", "-p", "path:out").json["Data"]
    assert [(each["File"], each["Record"], each["Raw"]) for each in quarantined] == [("a.csv", 3, "2")]


def test_a_quarantine_that_is_shown_in_part_says_so_and_what_cannot_be_exported_to_is_named(here: Mason) -> None:
    write(here.folder, {"in/c.csv": "a,b\n1,2\n3,4\n5\n6,7\n"})
    merge(here)

    def quarantine(more: str) -> Any:
        return here("operator", "table", "quarantine", "-p", f"path:out{more}")

    assert quarantine("").json["Info"] == ["2 records in quarantine."]
    assert quarantine(",limit:1").json["Info"] == ["1 of 2 records in quarantine are shown: limit says how many."]
    refused = quarantine(",action:export,file:in")
    assert refused.exit_code == 1
    assert refused.json["Errors"] == [f"{here.folder / 'in'} cannot be written: it is a folder. Choose another name."]


def test_a_plan_of_a_merge_writes_nothing(here: Mason) -> None:
    before = sorted(here.folder.rglob("*"))

    code, answer = merge(here, "--plan")

    assert code == 0 and isinstance(answer["Data"][1], dict)
    assert [column["Name"] for column in answer["Data"][1]["Columns"]] == ["a", "b"]
    assert sorted(here.folder.rglob("*")) == before


def test_a_plan_says_how_the_columns_of_the_table_that_is_there_would_change(here: Mason) -> None:
    assert merge(here, "--plan")[1]["Info"] == []
    assert merge(here)[0] == 0
    assert merge(here, "--plan")[1]["Info"] == []
    write(here.folder, {"in/a.csv": "a,c\n1.5,x\n", "in/b.csv": "a\n3\n"})

    code, answer = merge(here, "--plan")

    changes = ["c string added", "b string removed", "a int64 became decimal128(18, 1)"]
    assert code == 0 and isinstance(answer["Data"][1], dict)
    assert answer["Data"][1]["SchemaChanges"] == changes
    assert answer["Info"] == [f"The table that is there changes: {', '.join(changes)}."]


def test_a_merge_that_fails_says_why_and_its_record_too(here: Mason) -> None:
    code, answer = merge(here, "-p", "on_bad_record:fail")

    assert code == 1 and "1 of 3 records do not fit" in str(answer["Errors"])
    (job,) = here("operator", "job", "list").json["Data"]
    assert job["Status"] == "failed" and "do not fit" in job["Error"]
    (told,) = answer["Data"]
    assert isinstance(told, dict) and told["JobID"] == job["JobID"] and "Running 1 task." in str(told["Log"])
    assert not (here.folder / "out").exists()


def test_a_merged_table_is_a_table_of_the_metastore(here: Mason) -> None:
    assert here("operator", "table", "merge", "-p", "input_path:in,output_path:db/t").exit_code == 0

    table = here("operator", "table", "get", "-p", "database_name:db,table_name:t").json["Data"][0]

    assert table["Schema"]["SchemaType"] == "parquet"
    assert [column["Name"] for column in table["Schema"]["Columns"]] == ["a", "b"]


def test_a_job_whose_process_was_killed_is_lost_and_one_that_runs_is_not(here: Mason) -> None:
    store = open_state(MasonEnvironment(here.home))
    store.add_record(RecordKind.JOB, "killed", "running", {"JobType": "merge"})
    store.add_record(RecordKind.JOB, "alive", "running", {"JobType": "merge"})
    store.acquire_lease("job:alive", "alive", 600)

    found = {each["JobID"]: each for each in here("operator", "job", "list").json["Data"]}

    assert (found["killed"]["Status"], found["alive"]["Status"]) == ("lost", "running")
    assert here("operator", "job", "get", "-p", "job_id:killed").json["Data"][0]["Status"] == "lost"


def test_an_unknown_job_is_not_found(here: Mason) -> None:
    result = here("operator", "job", "get", "-p", "job_id:nope")

    assert result.exit_code == 1 and result.json["Errors"] == ['There is no job "nope".']
